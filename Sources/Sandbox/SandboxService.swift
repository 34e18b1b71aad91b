/// One of the four stand-ins: where it listens and who is registered there.
public struct SandboxService: Sendable {
    /// The stand-ins by name, as the command line and fault rules write them.
    public enum Name: String, Sendable, CaseIterable {
        /// Sequencing.com with its OAuth quirks (Sequencing dossier, sections 1 and 9).
        case sequencing = "sequencing"
        /// The Recurse Center (Recurse Center dossier, sections 2, 4 and 6).
        case recurseCenter = "recurse-center"
        /// A server that keeps to the standards: RFC 6749, 6750, 7009, 7636, 7662, 8414, 9207, OpenID Connect Core.
        case standard = "standard"
        /// IFTTT Connect with a partner service (IFTTT Connect dossier, section 11).
        case ifttt = "ifttt"
    }

    /// Which stand-in this is.
    public let name: Name
    /// Scheme, host and port without a slash at the end; for `standard` it is the issuer too.
    public let origin: String
    /// The registered clients, the most ordinary one first.
    public let clients: [SandboxClient]
    /// The people who can sign in, the default one first.
    public let users: [SandboxUser]
    /// A token of the first user that never expires; only the Recurse Center has one (its dossier, section 2.2).
    public let personalAccessToken: String?
    /// What apps and partners need to know at IFTTT; nil everywhere else.
    public let connect: SandboxConnect?
}

/// A client that is registered with a stand-in.
public struct SandboxClient: Sendable {
    /// Whether the client can keep a secret (RFC 6749 section 2.1).
    public enum Kind: String, Sendable {
        /// It cannot, has none, and must use PKCE with S256.
        case `public`
        /// It has a secret and must show it at the token endpoint.
        case confidential
    }

    /// The client identifier, to be encoded as the request needs it.
    public let id: String
    /// The client secret; nil for public clients. It is a fixture and protects nothing.
    public let secret: String?
    /// Public or confidential.
    public let kind: Kind
    /// The registered redirect URIs. One on `http://127.0.0.1` or `http://[::1]` without a port fits any port
    /// (RFC 8252 section 7.3); all others are compared exactly.
    public let redirectURIs: [String]
    /// The values of `grant_type` that the client may use.
    public let grantTypes: [String]
    /// What the client is there for, in a sentence.
    public let note: String
}

/// A person who can sign in at a stand-in.
public struct SandboxUser: Sendable {
    /// The e-mail address to sign in with.
    public let name: String
    /// The password to sign in with. It is a fixture and protects nothing.
    public let password: String
    /// The identifier that the service gives the user: `uid`, person id or `sub`.
    public let subject: String
    /// The name to show.
    public let displayName: String
    /// The two-factor code that the sign-in page demands besides the password; nil for most.
    public let oneTimeCode: String?
    /// What is special about the user, in a few words.
    public let note: String
}

extension SandboxService {
    var json: JSON {
        var json: JSON = ["origin": .string(origin)]
        if name == .standard { json = json.adding("issuer", .string(origin)) }
        json = json.adding("clients", .array(clients.map(\.json))).adding("users", .array(users.map(\.json)))
        return json.adding("personal_access_token", personalAccessToken.map(JSON.string))
            .adding("connect", connect?.json)
    }
}

extension SandboxClient {
    var json: JSON {
        [
            "id": .string(id), "secret": JSON(secret), "kind": .string(kind.rawValue),
            "redirect_uris": JSON(redirectURIs), "grant_types": JSON(grantTypes), "note": .string(note),
        ]
    }
}

extension SandboxUser {
    var json: JSON {
        [
            "name": .string(name), "password": .string(password), "subject": .string(subject),
            "display_name": .string(displayName), "one_time_code": JSON(oneTimeCode),
            "note": .string(note),
        ]
    }
}
