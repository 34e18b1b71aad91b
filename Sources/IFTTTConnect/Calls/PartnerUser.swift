/// The partner's own identifier of a user, in what is sent with the service key.
enum PartnerUser {
    /// The identifier, when it can be one: nothing would ask for nobody's data in everybody's name.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` for nothing, and for more than 1024 bytes.
    static func checked(_ user: String) throws(ConnectError) -> String {
        guard (1...1024).contains(user.utf8.count) else {
            throw .input(member: "user", problem: "the partner's identifier of the user is needed")
        }
        return user
    }
}
