/// How a user token is obtained (dossier 10.2, W14).
///
/// IFTTT can put the token into the redirect's query, where it stays in the browser's history. An app with a server takes
/// ``partnerServer(_:)``, and uses no token from a redirect.
public enum TokenDelivery: Sendable {
    /// From the redirect, through the browser's history: for apps without a server.
    case redirect
    /// From the redirect, otherwise from the partner's server. The server is asked while there is no token, or when it
    /// was rejected. The closure is called each time, and returns nil without a token.
    case redirectOrPartnerServer(@Sendable () async throws -> UserToken?)
    /// Only from the partner's server, which exchanges it with its service key. Nil without a token. A token in a
    /// redirect is ignored.
    case partnerServer(@Sendable () async throws -> UserToken?)

    /// Whether a redirect's token counts.
    package var isFromRedirect: Bool {
        switch self {
        case .redirect, .redirectOrPartnerServer: true
        case .partnerServer: false
        }
    }

    /// The partner server's token.
    package func partnerToken() async throws -> UserToken? {
        switch self {
        case .redirect: nil
        case .redirectOrPartnerServer(let token), .partnerServer(let token): try await token()
        }
    }
}
