#if Sandbox
import Crypto
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Signed requests that clients send (RFC 9101), and signed responses that they get (JARM).
///
/// A browser may come twice with one request, before and after its user has signed in, so `jti` is not kept.
struct SignedAuthorizations: SignedMessages {
    private let signer: IDTokenSigner

    let detailTypes = ["payment_initiation", "account_information"]

    private static let leeway = 10.0
    /// How long a request object may count, and how old it may be, in seconds (FAPI 2.0 Message Signing section 5.3.1).
    private static let maximumLifetime = 3600

    init(signer: IDTokenSigner) {
        self.signer = signer
    }

    func sign(_ claims: JSON) -> String? {
        signer.sign(claims, as: .response)
    }

    func parameters(
        ofRequestObject text: String, of client: SandboxClient, at server: AuthorizationServer
    ) throws(OAuthFailure) -> FormParameters {
        guard let object = SignedText(text) else { throw Self.invalid("It is no signed text of three parts.") }
        try checkSignature(of: object, by: client)
        try checkClaims(of: object.claims, of: client, at: server)
        return FormParameters(try Self.pairs(of: object.claims))
    }

    private func checkSignature(of object: SignedText, by client: SandboxClient) throws(OAuthFailure) {
        guard client.privateKey != nil else { throw Self.invalid("The client has no key.") }
        guard object.header["typ"]?.scalarText == "oauth-authz-req+jwt", object.header["crit"] == nil else {
            throw Self.invalid("typ has to be oauth-authz-req+jwt.")
        }
        let name = object.header["kid"]?.scalarText
        let signature = try? P256.Signing.ECDSASignature(rawRepresentation: object.signature)
        guard object.header["alg"]?.scalarText == "ES256", name == nil || name == AssertingClients.keyID,
            let signature,
            AssertingClients.key.publicKey.isValidSignature(signature, for: Data(object.signed.utf8))
        else { throw Self.invalid("It is not signed by the client.") }
    }

    /// RFC 9101 sections 4, 6.2 and 10.8.
    private func checkClaims(
        of claims: JSON, of client: SandboxClient, at server: AuthorizationServer
    ) throws(OAuthFailure) {
        // A request of the backchannel has no client_id (CIBA Core section 7.1.1).
        let isBackchannel = claims["response_type"] == nil
        guard case .string(client.id)? = claims["iss"],
            claims["client_id"] == .string(client.id) || (isBackchannel && claims["client_id"] == nil)
        else { throw Self.invalid("iss and client_id have to be the client.") }
        guard case .string(server.issuer)? = claims["aud"] else {
            throw Self.invalid("aud has to be the issuer, as one string.")
        }
        for name in ["request", "request_uri", "sub", "client_secret", "client_assertion"] where claims[name] != nil {
            throw Self.invalid("\(name) must not be inside.")
        }
        let now = server.clock.now
        guard let expiry = claims["exp"]?.integer, let start = claims["nbf"]?.integer, start >= 0, start < expiry,
            Double(expiry) > now - Self.leeway, Double(start) < now + Self.leeway,
            Double(start) > now - Double(Self.maximumLifetime), expiry - start <= Self.maximumLifetime
        else { throw Self.invalid("It is expired, of the future, or counts too long.") }
        guard let identifier = claims["jti"]?.scalarText, identifier.utf8.count >= 16 else {
            throw Self.invalid("jti is missing or too short.")
        }
    }

    /// The claims that are parameters, each with the type that it has to have (RFC 9101 section 4).
    private static func pairs(of claims: JSON) throws(OAuthFailure) -> [(name: String, value: String)] {
        guard case .object(let members) = claims else { throw invalid("It holds no claims.") }
        let own: Set = ["iss", "aud", "exp", "nbf", "iat", "jti"]
        var pairs: [(name: String, value: String)] = []
        for member in members where !own.contains(member.name) {
            switch (member.name, member.value) {
            case ("max_age", .number(let seconds)), ("requested_expiry", .number(let seconds)):
                pairs.append((member.name, String(seconds)))
            case ("claims", .object), ("authorization_details", .array):
                pairs.append((member.name, member.value.text))
            case ("resource", .array(let values)):
                for value in values { pairs.append((member.name, value.scalarText ?? "")) }
            case ("max_age", _), ("claims", _), ("authorization_details", _):
                throw invalid("\(member.name) is of the wrong type.")
            case (_, .string(let text)): pairs.append((member.name, text))
            default: throw invalid("\(member.name) is of the wrong type.")
            }
        }
        return pairs
    }

    private static func invalid(_ detail: String) -> OAuthFailure {
        OAuthFailure(code: "invalid_request_object", detail: detail)
    }
}

extension SandboxGrant {
    /// What was granted of the details asked for (RFC 9396 section 7): enriched by an identifier, and without the action
    /// `delete`, which no user grants here.
    var grantedDetails: JSON? {
        guard let elements = authorizationDetails?.elements else { return nil }
        return .array(
            elements.enumerated().map { index, detail in
                guard case .object(let members) = detail else { return detail }
                let kept = members.map { member in
                    guard member.name == "actions", let actions = member.value.elements else { return member }
                    return JSON.Member(name: member.name, value: .array(actions.filter { $0 != "delete" }))
                }
                return JSON.object(kept).adding("sandbox_id", .string("detail-\(index + 1)"))
            })
    }
}
#endif
