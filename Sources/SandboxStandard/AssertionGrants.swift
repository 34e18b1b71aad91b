#if Sandbox
import Crypto
import SandboxCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Exchanges signed assertions for tokens (RFC 7523 sections 2.1 and 3).
///
/// Takes assertions of the client with a key and of the service account about themselves or a user, and identity
/// assertions of this server's own.
/// A class, because the assertions that were used are kept: each counts once.
final class AssertionGrants: Sendable {
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The longest that an assertion may count, in seconds.
    private static let maximumLifetime = 3600
    private static let leeway = 10.0

    private let server: AuthorizationServer
    private let signer: IDTokenSigner
    private let used = Mutex<Set<String>>([])

    init(server: AuthorizationServer, signer: IDTokenSigner) {
        self.server = server
        self.signer = signer
    }

    /// The client that an assertion in a form is signed by; nil for any other.
    func speaker(of form: FormParameters) -> SandboxClient? {
        SignedText(form["assertion"] ?? "").flatMap(speaker).flatMap(server.client)
    }

    /// The identifier of the client that has signed an assertion; nil for any other.
    private func speaker(of token: SignedText) -> String? {
        isByClient(token) ? AssertingClients.keyed : ServiceAccounts.hasSigned(token) ? ServiceAccounts.email : nil
    }

    func redeem(_ form: FormParameters, by client: SandboxClient) throws(OAuthFailure) -> IssuedTokens {
        guard let text = form["assertion"], let token = SignedText(text) else {
            throw .invalidRequest("assertion is missing, or no signed text.")
        }
        let type = token.header["typ"]?.scalarText
        let isOwn = type == TokenExchanges.identityAssertion && signer.claims(of: text) != nil
        guard isOwn || client.grantTypes.contains(Self.grantType) else { throw .unauthorizedClient }
        guard isOwn || (type ?? "JWT" == "JWT" && speaker(of: token) == client.id) else {
            throw .invalidGrant("The assertion is signed by a key that this client does not have.")
        }
        try checkClaims(of: token, isOwn ? server.issuer : client.id)
        let subject = token.claims["sub"]?.scalarText ?? client.id
        let user = server.dialect.users.first { $0.subject == subject || $0.name == subject }
        guard user != nil || subject == client.id else { throw .invalidGrant("There is no user of this name.") }
        let asked = form["scope"] ?? token.claims["scope"]?.scalarText
        let grant = SandboxGrant(
            clientID: client.id, user: user, scope: try server.dialect.scopes.read(asked),
            authenticatedAt: server.clock.now)
        return server.issueTokens(for: grant, by: client)
    }

    private func isByClient(_ token: SignedText) -> Bool {
        guard token.header["alg"]?.scalarText == "ES256", token.header["crit"] == nil,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
        else { return false }
        return AssertingClients.key.publicKey.isValidSignature(signature, for: Data(token.signed.utf8))
    }

    private func checkClaims(of token: SignedText, _ issuer: String) throws(OAuthFailure) {
        let now = server.clock.now
        guard token.claims["iss"]?.scalarText == issuer else { throw .invalidGrant("iss is another one.") }
        guard [server.issuer, server.origin + "/token"].contains(token.claims["aud"]?.scalarText ?? "") else {
            throw .invalidGrant("aud has to be the issuer or the token endpoint.")
        }
        guard let expiry = token.claims["exp"]?.integer, let issuedAt = token.claims["iat"]?.integer, issuedAt >= 0,
            issuedAt < expiry, expiry - issuedAt <= Self.maximumLifetime, Double(expiry) > now - Self.leeway,
            Double(issuedAt) < now + Self.leeway
        else { throw .invalidGrant("The assertion is expired, of the future, or counts too long.") }
        guard let identifier = token.claims["jti"]?.scalarText, !identifier.isEmpty,
            used.withLock({ $0.insert(identifier).inserted })
        else { throw .invalidGrant("jti is missing, or the assertion was used before.") }
    }
}
#endif
