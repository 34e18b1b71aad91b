#if Sandbox
import Crypto
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a client says of itself when it registers (RFC 7591 section 2).
struct ClientMetadata: Sendable {
    let name: String?
    let redirects: [String]
    let grantTypes: [String]
    let method: String
    let applicationType: String
    let scopes: [String]?
    let keys: JSON?
    let frontchannelLogout: SandboxClient.FrontchannelLogout?

    private static let methods = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]
    private static let known = [
        "authorization_code", "refresh_token", "client_credentials", DeviceGrants.grantType,
    ]

    /// Reads the body of a request. What it leaves out has the defaults of RFC 7591 section 2 and of OpenID registration.
    init(_ request: IncomingRequest) throws(OAuthFailure) {
        guard request.mediaType == "application/json", let members = JSON(parsing: request.body),
            case .object = members
        else { throw Self.invalid("The body has to be a JSON object.") }
        name = try Self.text("client_name", in: members)
        redirects = try Self.texts("redirect_uris", in: members) ?? []
        grantTypes = try Self.texts("grant_types", in: members) ?? ["authorization_code"]
        method = try Self.text("token_endpoint_auth_method", in: members) ?? "client_secret_basic"
        applicationType = try Self.text("application_type", in: members) ?? "web"
        scopes = try Self.text("scope", in: members)?.split(separator: " ").map(String.init)
        keys = members["jwks"]
        frontchannelLogout = try Self.frontchannelLogout(in: members, redirects)
        guard Self.methods.contains(method) else { throw Self.invalid("token_endpoint_auth_method is unknown.") }
        guard grantTypes.allSatisfy(Self.known.contains) else { throw Self.invalid("A grant type is unknown.") }
        guard (try Self.texts("response_types", in: members) ?? ["code"]) == ["code"] else {
            throw Self.invalid("The only response type is code.")
        }
        guard method != "private_key_jwt" || keys?["keys"]?.elements?.isEmpty == false else {
            throw Self.invalid("private_key_jwt needs jwks.")
        }
        try checkRedirects()
    }

    /// OpenID Connect Dynamic Client Registration section 2, RFC 8252 sections 7.1 and 7.3.
    private func checkRedirects() throws(OAuthFailure) {
        guard !redirects.isEmpty || !grantTypes.contains("authorization_code") else {
            throw Self.invalidRedirect("redirect_uris is missing.")
        }
        for uri in redirects {
            let isLoopback = uri.hasPrefix("http://127.0.0.1") || uri.hasPrefix("http://[::1]")
            let scheme = uri.prefix { $0 != ":" }
            switch applicationType {
            case "native" where isLoopback || scheme == "https" || scheme.contains("."): continue
            case "web" where scheme == "https": continue
            default: throw Self.invalidRedirect("\(applicationType) clients cannot have \(uri).")
            }
        }
    }

    func client(id: String, secret: String?) -> SandboxClient {
        SandboxClient(
            id: id, secret: secret, kind: method == "none" ? .public : .confidential, redirectURIs: redirects,
            grantTypes: grantTypes, scopes: scopes, keys: method == "private_key_jwt" ? keys : nil,
            frontchannelLogout: frontchannelLogout, note: name ?? "a client that registered itself")
    }

    var json: JSON {
        let members: JSON = [
            "redirect_uris": JSON(redirects), "grant_types": JSON(grantTypes), "response_types": ["code"],
            "token_endpoint_auth_method": .string(method), "application_type": .string(applicationType),
        ]
        return members.adding("client_name", name.map(JSON.string))
            .adding("scope", scopes.map { .string($0.joined(separator: " ")) }).adding("jwks", keys)
            .adding("frontchannel_logout_uri", frontchannelLogout.map { .string($0.uri) })
            .adding("frontchannel_logout_session_required", frontchannelLogout.map { .bool($0.needsSession) })
    }

    /// OpenID Connect Front-Channel Logout section 2: scheme, host and port are those of a redirect URI.
    private static func frontchannelLogout(
        in members: JSON, _ redirects: [String]
    ) throws(OAuthFailure) -> SandboxClient.FrontchannelLogout? {
        var needsSession = false
        switch members["frontchannel_logout_session_required"] {
        case nil: break
        case .bool(let isNeeded)?: needsSession = isNeeded
        default: throw invalid("frontchannel_logout_session_required has to be true or false.")
        }
        guard let uri = try text("frontchannel_logout_uri", in: members) else { return nil }
        guard let origin = FrontchannelFrames.origin(of: uri), !uri.contains("#"),
            redirects.contains(where: { FrontchannelFrames.origin(of: $0) == origin })
        else { throw invalid("frontchannel_logout_uri needs scheme, host and port of a redirect URI.") }
        return SandboxClient.FrontchannelLogout(uri: uri, needsSession: needsSession)
    }

    private static func text(_ name: String, in members: JSON) throws(OAuthFailure) -> String? {
        guard let value = members[name] else { return nil }
        guard case .string(let text) = value else { throw invalid("\(name) has to be text.") }
        return text
    }

    private static func texts(_ name: String, in members: JSON) throws(OAuthFailure) -> [String]? {
        guard let value = members[name] else { return nil }
        let texts = value.elements?.compactMap { element -> String? in
            guard case .string(let text) = element else { return nil }
            return text
        }
        guard let texts, texts.count == value.elements?.count else {
            throw invalid("\(name) has to be a list of texts.")
        }
        return texts
    }

    private static func invalid(_ detail: String) -> OAuthFailure {
        OAuthFailure(code: "invalid_client_metadata", detail: detail)
    }

    private static func invalidRedirect(_ detail: String) -> OAuthFailure {
        OAuthFailure(code: "invalid_redirect_uri", detail: detail)
    }
}

/// The keys that a client has registered.
enum RegisteredKey {
    /// Whether one of the client's keys has signed a text by ES256, and by its name where the text names one.
    static func verifies(_ token: SignedText, of client: SandboxClient) -> Bool {
        guard token.header["alg"]?.scalarText == "ES256",
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
        else { return false }
        let name = token.header["kid"]?.scalarText
        return (client.keys?["keys"]?.elements ?? []).contains { key in
            guard name == nil || key["kid"]?.scalarText == name, key["kty"] == "EC", key["crv"] == "P-256",
                let x = coordinate("x", of: key), let y = coordinate("y", of: key),
                let publicKey = try? P256.Signing.PublicKey(rawRepresentation: x + y)
            else { return false }
            return publicKey.isValidSignature(signature, for: Data(token.signed.utf8))
        }
    }

    private static func coordinate(_ name: String, of key: JSON) -> Data? {
        guard case .string(let text)? = key[name], text.utf8.count <= 128 else { return nil }
        return SignedText.decoded(text[...])
    }
}
#endif
