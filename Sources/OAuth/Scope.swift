/// The form of scopes (RFC 6749, section 3.3).
enum Scope {
    /// Lets only scope tokens through: printable ASCII without space, quotation mark and backslash.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` quoting the first that is none.
    static func check(_ scopes: [String]) throws(OAuthError) {
        for scope in scopes where !isToken(scope) {
            throw .configuration(
                member: "scope",
                problem:
                    "“\(quoted(scope, limit: 80))” is not a scope: use printable ASCII of at most 4096 bytes, without space, quotation mark and backslash"
            )
        }
    }

    /// Whether a text is a scope token.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 4096
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
    }
}
