#if CommandLine
import OAuth

/// A value and the place where the user wrote it.
struct StatedValue {
    let value: String
    /// What errors call the place: `--auth`, `HANDSHAKE_AUTH`, or the setting and its file.
    let name: String

    /// The error of a value that is not what the place takes.
    ///
    /// - Parameter isSecret: whether the value may be a secret, which is not quoted.
    func wrong(_ expected: String, because problem: String? = nil, isSecret: Bool = false) -> CommandError {
        CommandError(
            status: .usage, code: "invalid_configuration",
            message: "\(name) takes \(expected)" + (isSecret ? "" : ", not “\(quoted(value, limit: 80))”")
                + (problem.map { ": \($0)." } ?? "."))
    }

    /// The value as an address. Plain `http:` is allowed on this machine, where the user wrote it.
    ///
    /// - Throws: ``CommandError``; `OAuthError/refused(_:)` for plain `http:` elsewhere.
    func endpoint() throws -> EndpointURL {
        try reported { try EndpointURL(value, security: ServiceChoice.security(for: value), member: name) }
    }

    /// The value as an origin, an address without path and query, by the same rules.
    func base() throws -> EndpointURL {
        let address = try endpoint()
        guard address.requestTarget == "/" else {
            throw wrong("an origin, such as https://id.example.com", because: "the service's own paths are used there")
        }
        return address
    }

    /// The value as an issuer, by the same rules.
    func issuer() throws -> Issuer {
        _ = try endpoint()
        if let mark = value.firstRange(of: "/.well-known/") {
            let tenant = value[mark.upperBound...].drop { $0 != "/" }
            throw wrong(
                "the server's issuer",
                because: "that is the address of its metadata; write \(value[..<mark.lowerBound])\(tenant)")
        }
        return try reported { try Issuer(value, security: ServiceChoice.security(for: value)) }
    }

    /// The value as the identifier of an API: an address by the same rules, or another absolute URI.
    func resource() throws -> ResourceIndicator {
        do {
            return try ResourceIndicator(value, security: ServiceChoice.security(for: value))
        } catch OAuthError.configuration(_, let problem) {
            throw wrong("an absolute URI, such as https://api.example.com/ or urn:example:api", because: problem)
        }
    }

    /// Whether the value is the identifier of an API that is no address, such as `urn:example:api`.
    var isNameOfResource: Bool { !lacksScheme && (try? resource()).map { $0.url == nil } ?? false }

    /// The value as yes or no.
    func truth() throws(CommandError) -> Bool {
        guard let truth = Bool(value) else { throw wrong("true or false") }
        return truth
    }

    /// The value as a JSON list of what to authorize, or the file that has it.
    func authorizationDetails() async throws -> [AuthorizationDetail] {
        var text = value
        if value.hasPrefix("@") {
            let path = String(value.dropFirst())
            text = String(decoding: try await GivenFile.read(path, limit: 1 << 16), as: UTF8.self)
        }
        do {
            return try AuthorizationDetail.list(parsing: text)
        } catch OAuthError.configuration(_, let problem) {
            throw wrong("a JSON list of objects with a type", because: problem)
        }
    }

    /// Whether the value is a host, perhaps with more behind it, without the scheme before it.
    private var lacksScheme: Bool {
        !value.contains("://") && value.contains { ".:".contains($0) }
            && (try? EndpointURL("https://" + value)) != nil
    }

    private func reported<Value>(_ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch OAuthError.configuration(_, let problem) {
            let isObvious = problem.hasPrefix("expected ")
            let advice = lacksScheme ? "write it with https://, or with http:// for this machine" : nil
            throw wrong(
                "an https address, such as https://id.example.com",
                because: advice ?? (isObvious ? nil : problem))
        }
    }
}
#endif
