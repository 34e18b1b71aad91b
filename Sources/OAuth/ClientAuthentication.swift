import HTTPTypes

/// How a client authenticates at the token endpoint (RFC 6749, section 2.3). A request has exactly one method.
public enum ClientAuthentication: Sendable {
    /// A public client, which sends its identifier alone (RFC 6749, section 3.2.1).
    case none

    /// HTTP Basic with identifier and secret (RFC 6749, section 2.3.1).
    case basic(secret: Secret, encoding: CredentialEncoding = .formEncoded)

    /// Identifier and secret in the form (RFC 6749, section 2.3.1). For servers that do not take Basic.
    case post(secret: Secret)

    /// An assertion that is signed for each request (RFC 7521, section 4.2).
    case assertion(ClientAssertion)

    /// The certificate of the connection (RFC 8705, section 2). The request itself has the identifier alone.
    ///
    /// `isSelfSigned` says whether the server knows the certificate itself, or else the authority that issued it.
    case certificate(isSelfSigned: Bool)

    /// How identifier and secret are encoded before they are joined. The result is then encoded in Base64.
    public enum CredentialEncoding: String, Sendable, Hashable, Codable {
        /// Each is form-encoded first, as RFC 6749, section 2.3.1 requires.
        case formEncoded = "form_encoded"
        /// Neither is encoded. It is a deviation of some servers, such as Sequencing.com (`sequencing.md` 1.5).
        case raw
    }

    /// What a request with this authentication sends and no error may show: the secret, and the credentials of Basic.
    func secrets(clientID: String) -> [Secret] {
        switch self {
        case .none, .certificate: []
        case .basic(let secret, let encoding): [secret, Self.credentials(clientID, secret, encoding)]
        case .post(let secret): [secret]
        case .assertion(let assertion): assertion.secrets
        }
    }

    /// The method's registered name (RFC 7591, section 2).
    public var method: String {
        switch self {
        case .none: "none"
        case .basic: "client_secret_basic"
        case .post: "client_secret_post"
        case .assertion(let assertion): assertion.method
        case .certificate(let isSelfSigned): isSelfSigned ? "self_signed_tls_client_auth" : "tls_client_auth"
        }
    }

    /// The safest method that a server's metadata allows for a client with this secret.
    ///
    /// Basic keeps the secret out of the content, which is logged more often. A server that names no method accepts
    /// Basic (RFC 8414, section 2).
    public static func safest(
        secret: Secret?, supported methods: [String]?
    ) throws(OAuthError) -> ClientAuthentication {
        guard let secret else { return .none }
        guard let methods, !methods.contains("client_secret_basic") else { return .basic(secret: secret) }
        guard methods.contains("client_secret_post") else {
            throw .configuration(
                member: "client_secret",
                problem:
                    "the server accepts only \(quoted(methods.joined(separator: ", "), limit: 200)) at its token endpoint"
            )
        }
        return .post(secret: secret)
    }

    /// Adds the authentication to a request.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for an empty identifier, an empty secret, or an
    ///   identifier with a colon in raw Basic, where a colon ends the identifier (RFC 7617, section 2).
    func apply(
        clientID: String, for call: AuthenticatedCall, to parameters: inout Parameters, _ headers: inout HTTPFields
    ) throws(OAuthError) {
        try Self.check(clientID: clientID)
        if case .basic(let secret, _) = self, secret.isEmpty { throw Self.emptySecret }
        if case .post(let secret) = self, secret.isEmpty { throw Self.emptySecret }
        if case .assertion(let assertion) = self, assertion.secrets.contains(where: \.isEmpty) {
            throw Self.emptySecret
        }
        switch self {
        case .none, .certificate:
            try parameters.add("client_id", clientID)
        case .basic(let secret, let encoding):
            guard encoding == .formEncoded || !clientID.utf8.contains(0x3A) else {
                throw .configuration(member: "client_id", problem: "a colon cannot stand in raw Basic credentials")
            }
            headers[.authorization] = "Basic " + Self.credentials(clientID, secret, encoding).reveal()
        case .post(let secret):
            try parameters.add("client_id", clientID)
            try parameters.add("client_secret", secret.reveal())
        case .assertion(let assertion):
            try assertion.add(clientID: clientID, for: call, to: &parameters)
        }
    }

    /// Parameters with this authentication, posted to the endpoint of the call as a form, or as JSON.
    func message(
        _ parameters: Parameters, headers: HTTPFields = HTTPFields(), sendsJSON: Bool = false, clientID: String,
        for call: AuthenticatedCall
    ) throws(OAuthError) -> RequestMessage {
        var (parameters, headers) = (parameters, headers)
        try apply(clientID: clientID, for: call, to: &parameters, &headers)
        return sendsJSON
            ? RequestMessage(json: parameters, to: call.endpoint, headers: headers)
            : RequestMessage(form: parameters, to: call.endpoint, headers: headers)
    }

    /// Identifier and secret as HTTP Basic joins and encodes them (RFC 7617, section 2).
    private static func credentials(_ clientID: String, _ secret: Secret, _ encoding: CredentialEncoding) -> Secret {
        let encode = encoding == .formEncoded ? PercentEncoding.form : { $0 }
        return Secret(Base64.encode(Array((encode(clientID) + ":" + encode(secret.reveal())).utf8)))
    }

    /// An empty parameter would be left out (RFC 6749, section 3.1), and the request would name no client.
    static func check(clientID: String) throws(OAuthError) {
        guard !clientID.isEmpty else { throw .configuration(member: "client_id", problem: "the identifier is empty") }
    }

    private static let emptySecret = OAuthError.configuration(
        member: "client_secret", problem: "the secret is empty; use the method none for a client without a secret")
}

/// The plain Base64 alphabet with padding (RFC 4648, section 4), which HTTP Basic uses.
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }
}
