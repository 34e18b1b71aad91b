/// The partner's own identifier of a user, in requests with the service key.
enum PartnerUser {
    /// Validates the identifier: an empty one would select no user.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` when it is empty or longer than 1024 bytes.
    static func checked(_ user: String) throws(ConnectError) -> String {
        guard (1...1024).contains(user.utf8.count) else {
            throw .input(
                member: "user", problem: "the partner's identifier of the user is missing or longer than 1024 bytes")
        }
        return user
    }
}
