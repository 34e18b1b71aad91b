#if CommandLine
import ArgumentParser
import Handshake
import OAuth

struct Inspect: BoundedCommand {
    enum Introspection: String, ExpressibleByArgument, CaseIterable {
        case plain, signed
    }

    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show an account's grant without its secrets, and the verified ID-token claims.",
        discussion: """
            With --introspect the server is asked whether the access token is active (RFC 7662); the client needs a secret, a key or \
            a certificate. Nothing else is sent, and the token is not refreshed.
            """)

    @Argument(help: "The account's name; handshake accounts lists them.")
    var account: String

    @Option(
        help: ArgumentHelp(
            "Ask the server about the access token too; signed: the answer must be signed for this client (RFC 9701).",
            valueName: "form"))
    var introspect: Introspection?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let known = try await common.existingAccount(account)
        var members = describe(known)
        if let introspect {
            let told = try await known.use { try await $0.introspection(signed: introspect == .signed) }
            members.append(("introspection", Self.members(of: told)))
        }
        if common.json {
            Output.result(JSONText.object(members).text)
        } else {
            for line in Table.lines(Self.rows(members, of: known)) { Output.result(line) }
        }
    }

    private func describe(_ known: KnownAccount) -> [(String, JSONText)] {
        let status = known.account.status
        let server = known.client.service.authorizationServer
        var members = Accounts.members(of: status, name: account)
        members += [
            ("token_type", .optional(Self.tokenType(status))), ("issued_at", .seconds(status.issuedAt)),
            ("resources", .array(known.client.resources.map { .string($0.string) })),
            ("generation", .integer(Int64(status.generation))),
            ("confidential_client", .bool(known.client.isConfidential)),
            ("endpoints", .string(Self.origin(of: server, known: status.server))),
            ("transport", .string(server.security.rawValue)),
            ("deviations", .array(known.client.service.deviations.names.map { .string($0) })),
            ("authorization_details", status.authorizationDetails.map(Self.details) ?? .null),
            (
                "id_token",
                status.identity.map { claims in
                    .object(claims.claims.sorted { $0.key < $1.key }.map { ($0.key, JSONText($0.value)) })
                } ?? .null
            ),
        ]
        if let assertion = known.client.assertion { members.append(("assertion", Self.members(of: assertion))) }
        return members
    }

    /// What the assertions of the client claim (RFC 7523, section 3), and the name of the key that signs them.
    private static func members(of assertion: Client.SignedAssertion) -> JSONText {
        let claims = assertion.claims
        let audience =
            switch claims.audience {
            case .issuer: "issuer"
            case .tokenEndpoint: "token_endpoint"
            case .named(let name): name
            }
        let texts = [("iss", claims.issuer), ("sub", claims.subject), ("aud", audience), ("kid", assertion.key.keyID)]
        return .object(texts.compactMap { name, text in text.map { (name, .string($0)) } })
    }

    /// What the server says about the token, by the names of RFC 7662, section 2.2, as far as it states them.
    private static func members(of told: TokenIntrospection) -> JSONText {
        let texts: [(String, String?)] = [
            ("scope", told.scopes.joined(separator: " ")), ("client_id", told.clientID), ("username", told.username),
            ("sub", told.subject), ("aud", told.audience.joined(separator: " ")), ("token_type", told.tokenType),
        ]
        var members: [(String, JSONText)] = [("active", .bool(told.isActive))]
        for case (let name, let text?) in texts where !text.isEmpty { members.append((name, .string(text))) }
        if let expiresAt = told.expiresAt { members.append(("exp", .seconds(expiresAt))) }
        if let confirmation = told.confirmation {
            let thumbprints = [("jkt", confirmation.keyThumbprint), ("x5t#S256", confirmation.certificateThumbprint)]
            members.append(("cnf", .object(thumbprints.compactMap { name, text in text.map { (name, .string($0)) } })))
        }
        return .object(members)
    }

    /// The type of the access token. Nil for an account without one that could be used.
    private static func tokenType(_ status: AccountStatus) -> String? {
        switch status.state {
        case .signedIn, .refreshUncertain: status.isBound ? "DPoP" : "Bearer"
        case .ended, .signingOut: nil
        }
    }

    /// What the service granted in detail (RFC 9396).
    private static func details(_ details: [AuthorizationDetail]) -> JSONText {
        JSONText(.array(details.map { .object($0.members) }))
    }

    /// Whether the server's endpoints were discovered or given by hand.
    private static func origin(of server: Service.AuthorizationServer, known: AuthorizationServerMetadata?) -> String {
        switch server {
        case .discovered: (known?.source ?? .discovered).rawValue
        case .described(let metadata): metadata.source.rawValue
        }
    }

    /// The members for people: words and dates instead of codes and seconds.
    private static func rows(_ members: [(String, JSONText)], of known: KnownAccount) -> [[String]] {
        members.flatMap { name, value -> [[String]] in
            let label = name.replacing("_", with: " ")
            return switch (name, value) {
            case (_, .null): []
            case ("state", _): [[label, known.account.status.state.text]]
            case ("transport", _): [[label, known.client.service.authorizationServer.security.text]]
            case (_, .string(let text)): [[label, text]]
            case (_, .array(let elements)) where elements.isEmpty: []
            case (_, .array(let elements)): [[label, elements.map(\.plain).joined(separator: " ")]]
            case (_, .object(let inner)): inner.map { ["\(label) \($0.0)", date($0.0, $0.1) ?? $0.1.plain] }
            case (_, .bool(let isTrue)): [[label, isTrue ? "yes" : "no"]]
            default: [[label, name.hasSuffix("_at") ? Moment.text(Double(value.text)) : value.text]]
            }
        }
    }

    /// A claim that is a time (OpenID Connect Core, section 2).
    private static func date(_ claim: String, _ value: JSONText) -> String? {
        ["exp", "iat", "auth_time", "nbf"].contains(claim) ? Double(value.text).map { Moment.text($0) } : nil
    }
}

extension TransportSecurity {
    /// The rule for people.
    fileprivate var text: String {
        switch self {
        case .httpsOnly: "https only"
        case .allowingInsecureLoopback: "https, or http on this machine"
        }
    }
}

extension JSONText {
    /// The value for people: strings without quotes.
    var plain: String {
        if case .string(let text) = self { text } else { text }
    }
}
#endif
