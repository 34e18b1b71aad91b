#if Sandbox
import Crypto
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The metadata, keys and ID tokens of an imitated service with OpenID Connect.
struct OpenIDDocuments: Sendable {
    private let service: ImitatedService
    private let issuer: AddressTemplate
    /// The issuers of the tenants that share the service's address; nil where there is one issuer.
    private let tenants: AddressTemplate?
    private let key = P256.Signing.PrivateKey()

    private static let keyID = "sandbox"
    /// The tenant of every user, where the service has tenants.
    private static let tenant = "6f9d1c1e-2b7a-4a55-9f0e-0b6f3f2a7c11"

    /// Nil for a service without OpenID Connect.
    init?(_ service: ImitatedService) {
        guard service.isOpenID, let issuer = AddressTemplate(service.text("issuer")) else { return nil }
        self.service = service
        self.issuer = issuer
        tenants = AddressTemplate(service.text("issuer_template"))
    }

    /// OpenID Connect Discovery 3.
    ///
    /// - Parameter values: what the places of the addresses stand for.
    func metadata(at origin: String, _ values: [String: String]) -> Answer {
        func address(_ template: AddressTemplate) -> JSON {
            .string(origin + TextTemplate(template.path).filled(with: values))
        }
        // A place for the tenant stays as it is.
        let named = tenants.map { JSON.string(origin + $0.path) }
        var members: JSON = [
            "issuer": named ?? address(issuer),
            "authorization_endpoint": address(service.authorize), "token_endpoint": address(service.token),
            "jwks_uri": address(issuer.appending("/sandbox-keys")), "response_types_supported": ["code"],
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": JSON(authenticationMethods),
        ]
        let others = [
            ("userinfo_endpoint", "userinfo_url"), ("revocation_endpoint", "revocation_url"),
            ("device_authorization_endpoint", "device_authorization_url"),
        ]
        for (name, member) in others {
            if let template = AddressTemplate(service.text(member)) {
                members = members.adding(name, address(template))
            }
        }
        return .json(members)
    }

    /// What the service takes of all its clients: the sandbox's client may have no secret where others have one.
    private var authenticationMethods: [String] {
        let open = service.flag("public_clients") ? ["none"] : []
        return switch service.text("client_authentication") {
        case "basic": open + ["client_secret_basic"]
        case "post": open + ["client_secret_post"]
        default: open + ["client_secret_basic", "client_secret_post"]
        }
    }

    /// The key set. Its first key has an unknown type, which clients have to skip (RFC 7517 section 5).
    func keys(at origin: String) -> Answer {
        let point = key.publicKey.rawRepresentation
        var entry: JSON = [
            "kty": "EC", "crv": "P-256", "kid": .string(Self.keyID), "use": "sig", "alg": "ES256",
            "x": .string(URLSafeBase64.encoded(point.prefix(32))),
            "y": .string(URLSafeBase64.encoded(point.suffix(32))),
        ]
        if let tenants { entry = entry.adding("issuer", .string(origin + tenants.path)) }
        return .json(["keys": [["kty": "SANDBOX-UNKNOWN", "kid": "sandbox-unknown", "use": "sig"], entry]])
    }

    /// The ID token of an answer (OpenID Connect Core 2 and 12.2); nil for a grant without a user, and where `openid` was not asked for.
    func idToken(for tokens: IssuedTokens, at origin: String, _ values: [String: String]) -> String? {
        guard tokens.scope.contains("openid"), let user = tokens.grant.user else { return nil }
        var values = values
        if let tenants { values = values.merging(Self.places(of: tenants)) { $1 } }
        let path = TextTemplate((tenants ?? issuer).path).filled(with: values)
        let issuedAt = Int(tokens.issuedAt)
        var claims: JSON = [
            "iss": .string(origin + path), "sub": .string(user.subject), "aud": .string(tokens.grant.clientID),
            "iat": .number(issuedAt), "exp": .number(issuedAt + 600), "name": .string(user.displayName),
            "auth_time": .number(Int(tokens.grant.authenticatedAt)),
        ]
        if !tokens.isRefresh { claims = claims.adding("nonce", tokens.grant.nonce.map(JSON.string)) }
        if tenants != nil { claims = claims.adding(service.text("tenant_claim") ?? "tid", .string(Self.tenant)) }
        let header: JSON = ["alg": "ES256", "kid": .string(Self.keyID), "typ": "JWT"]
        let input = [header, claims].map { URLSafeBase64.encoded($0.text.utf8) }.joined(separator: ".")
        guard let signature = try? key.signature(for: Data(input.utf8)) else { return nil }
        return "\(input).\(URLSafeBase64.encoded(signature.rawRepresentation))"
    }

    /// Every place of a template, with the tenant for its value.
    private static func places(of template: AddressTemplate) -> [String: String] {
        var values: [String: String] = [:]
        var rest = template.path[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            values[String(rest[rest.index(after: open)..<close])] = tenant
            rest = rest[rest.index(after: close)...]
        }
        return values
    }
}
#endif
