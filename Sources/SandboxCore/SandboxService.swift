#if Sandbox
/// A stand-in: its origin, clients and users.
public struct SandboxService: Sendable {
    /// The stand-ins by name, as the command line and fault rules write them.
    public struct Name: RawRepresentable, Sendable, Hashable {
        /// The name in lower case, with hyphens.
        public let rawValue: String

        /// Names a service; a sandbox has the ones of its ``Sandbox/services``.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// Which stand-in this is.
    public let name: Name
    /// Scheme, host and port without a slash at the end. For `standard` it is the issuer too.
    public let origin: String
    /// The registered clients, the most ordinary one first.
    public let clients: [SandboxClient]
    /// The users who can sign in, the default one first.
    public let users: [SandboxUser]
}

/// A client that is registered with a stand-in.
public struct SandboxClient: Sendable {
    /// Whether the client can keep a secret (RFC 6749 section 2.1).
    public enum Kind: String, Sendable {
        /// It cannot, has no secret, and must use PKCE with S256.
        case `public`
        /// It has a secret and must send it to the token endpoint.
        case confidential
    }

    /// Whether requests need a proof of a key (RFC 9449 section 5.2). The tokens of a request with one are bound to its key.
    package enum ProofRule: String, Sendable {
        /// A proof may come along.
        case optional
        /// It has to.
        case required
        /// It has to, with the server's nonce. The nonce stays until it is rotated.
        case withNonce = "with_nonce"
        /// It has to, with a nonce that each answer changes.
        case withChangingNonces = "with_changing_nonces"
        /// It has to, with a nonce that every third answer changes.
        case withCountedNonces = "with_counted_nonces"
        /// It has to, with a nonce that ends after a minute.
        case withExpiringNonces = "with_expiring_nonces"

        /// Whether a nonce has to be in the proof.
        package var demandsNonce: Bool { self != .optional && self != .required }

        /// The number of proofs that a nonce is for; nil for any number.
        package var usesOfNonce: Int? {
            switch self {
            case .withChangingNonces: 1
            case .withCountedNonces: 3
            default: nil
            }
        }

        /// The seconds for which a nonce counts; nil for one that stays.
        package var nonceLifetime: Double? { self == .withExpiringNonces ? 60 : nil }
    }

    /// Which certificate is a client's (RFC 8705 section 2).
    package enum CertificateRule: Sendable {
        /// Any that the sandbox's authority has issued to this name: `tls_client_auth`.
        case issued(to: String)
        /// The one with this thumbprint: `self_signed_tls_client_auth`.
        case registered(String)
    }

    /// Where a browser ends its session at the client, in a frame (OpenID Connect Front-Channel Logout section 2).
    package struct FrontchannelLogout: Sendable {
        package let uri: String
        /// Whether the address gets `iss` and `sid`.
        package let needsSession: Bool

        package init(uri: String, needsSession: Bool) {
            self.uri = uri
            self.needsSession = needsSession
        }
    }

    /// The client identifier, to be encoded as the request needs it.
    public let id: String
    /// The client secret; nil for public clients. It is a fixture and protects nothing.
    public let secret: String?
    /// The client's private key as a JWK. For clients that sign instead of showing a secret; nil for others. It is new
    /// in every process and protects nothing.
    public let privateKey: String?
    /// The client's certificate and its key, as PEM. For clients that authenticate by it (RFC 8705); nil for others. It is
    /// new in every process and protects nothing.
    public let certificate: String?
    /// Whether the client has to push its authorization requests (RFC 9126 section 6).
    public let pushesOnly: Bool
    /// What the client has to prove with its requests (RFC 9449).
    package let proofs: ProofRule
    package let certificateRule: CertificateRule?
    /// Whether the client has to sign its authorization requests (RFC 9101).
    public let signsRequests: Bool
    /// Whether user information comes to the client as a signed text.
    public let getsSignedUserInfo: Bool
    /// Public or confidential.
    public let kind: Kind
    /// The registered redirect URIs. One on `http://127.0.0.1` or `http://[::1]` without a port fits any port
    /// (RFC 8252 section 7.3); all others are compared exactly.
    public let redirectURIs: [String]
    /// The values of `grant_type` that the client may use.
    public let grantTypes: [String]
    /// The scopes that the client may ask for; nil for all.
    package let scopes: [String]?
    /// The keys whose signatures are the client's, as it has registered them (RFC 7591 section 2).
    package let keys: JSON?
    /// Nil for a client without one.
    package let frontchannelLogout: FrontchannelLogout?
    /// The purpose of the client, in a sentence.
    public let note: String

    package init(
        id: String, secret: String?, privateKey: String? = nil, certificate: String? = nil,
        certificateRule: CertificateRule? = nil, kind: Kind, pushesOnly: Bool = false,
        proofs: ProofRule = .optional, signsRequests: Bool = false, getsSignedUserInfo: Bool = false,
        redirectURIs: [String], grantTypes: [String], scopes: [String]? = nil, keys: JSON? = nil,
        frontchannelLogout: FrontchannelLogout? = nil, note: String
    ) {
        self.frontchannelLogout = frontchannelLogout
        self.certificate = certificate
        self.certificateRule = certificateRule
        self.scopes = scopes
        self.keys = keys
        self.signsRequests = signsRequests
        self.getsSignedUserInfo = getsSignedUserInfo
        self.privateKey = privateKey
        self.pushesOnly = pushesOnly
        self.proofs = proofs
        self.id = id
        self.secret = secret
        self.kind = kind
        self.redirectURIs = redirectURIs
        self.grantTypes = grantTypes
        self.note = note
    }
}

/// A user who can sign in at a stand-in.
public struct SandboxUser: Sendable {
    /// The email address to sign in with.
    public let name: String
    /// The password to sign in with. It is a fixture and protects nothing.
    public let password: String
    /// The identifier that the service gives the user: `uid`, person id or `sub`.
    public let subject: String
    /// The display name.
    public let displayName: String
    /// The two-factor code that the sign-in page requires besides the password. Nil for most.
    public let oneTimeCode: String?
    /// What distinguishes the user, in a few words.
    public let note: String

    package init(
        name: String, password: String, subject: String, displayName: String, oneTimeCode: String?, note: String
    ) {
        self.name = name
        self.password = password
        self.subject = subject
        self.displayName = displayName
        self.oneTimeCode = oneTimeCode
        self.note = note
    }

    /// The two users of a server without peculiarities.
    package static func plain(passwords ada: String, _ zoe: String) -> [SandboxUser] {
        [
            SandboxUser(
                name: "ada@example.test", password: ada, subject: "248289761001", displayName: "Ada Example",
                oneTimeCode: nil, note: "an ordinary user"),
            SandboxUser(
                name: "zoe@example.test", password: zoe, subject: "248289761002", displayName: "Zoë Ångström",
                oneTimeCode: nil, note: "a name beyond ASCII"),
        ]
    }
}

extension SandboxClient {
    var json: JSON {
        [
            "id": .string(id), "secret": JSON(secret), "private_key": JSON(privateKey),
            "certificate": JSON(certificate), "kind": .string(kind.rawValue),
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
#endif
