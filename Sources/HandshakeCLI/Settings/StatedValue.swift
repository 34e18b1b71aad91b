#if CommandLine
import OAuth

/// A value and the place where the user wrote it.
struct StatedValue {
    let value: String
    /// What errors call the place: `--auth`, `HANDSHAKE_AUTH`, or the setting and its file.
    let name: String

    /// The error of a value that is not what the place takes.
    func wrong(_ expected: String, because problem: String? = nil) -> CommandError {
        CommandError(
            status: .usage, code: "invalid_configuration",
            message: "\(name) takes \(expected), not “\(quoted(value, limit: 80))”"
                + (problem.map { ": \($0)." } ?? "."))
    }

    /// The value as an address. Plain `http:` is allowed on this machine, where the user wrote it.
    ///
    /// - Throws: ``CommandError``; `OAuthError/refused(_:)` for plain `http:` elsewhere.
    func endpoint() throws -> EndpointURL {
        try reported { try EndpointURL(value, security: ServiceChoice.security(for: value), member: name) }
    }

    /// The value as an issuer, by the same rules.
    func issuer() throws -> Issuer {
        _ = try endpoint()
        return try reported { try Issuer(value, security: ServiceChoice.security(for: value)) }
    }

    private func reported<Value>(_ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch OAuthError.configuration(_, let problem) {
            let isObvious = problem.hasPrefix("expected ")
            throw wrong("an https address, such as https://id.example.com", because: isObvious ? nil : problem)
        }
    }
}
#endif
