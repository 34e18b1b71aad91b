/// Where a user token comes from (dossier 10.2, W14).
public enum TokenDelivery: Sendable {
    /// From the redirect: through the browser's history, for apps without a server.
    case redirect
    /// From the redirect; while there is none from there, or when that one was refused, from the partner's server. It is asked
    /// each time, and nil when it has none.
    case redirectOrPartnerServer(@Sendable () async throws -> UserToken?)
    /// From the partner's server alone, which has exchanged it with its service key; nil when it has none. A token in a
    /// redirect is dropped unread.
    case partnerServer(@Sendable () async throws -> UserToken?)

    /// Whether a redirect's token counts.
    package var isFromRedirect: Bool {
        switch self {
        case .redirect, .redirectOrPartnerServer: true
        case .partnerServer: false
        }
    }

    /// What the partner's server has.
    package func partnerToken() async throws -> UserToken? {
        switch self {
        case .redirect: nil
        case .redirectOrPartnerServer(let token), .partnerServer(let token): try await token()
        }
    }
}
