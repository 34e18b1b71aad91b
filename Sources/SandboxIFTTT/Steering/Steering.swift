#if Sandbox
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the IFTTT stand-in is steered, in process and by HTTP alike (IFTTT Connect dossier, section 11.6).
struct Steering: Sendable {
    let store: Store

    /// - Returns: the entries of a log, oldest first, one JSON object each.
    func entries(_ log: SandboxConnectLog) -> [JSON] {
        let now = store.now
        let origin = store.origin
        return store.read { state in
            switch log {
            case .analytics: state.logs.events
            case .webhooks: state.logs.webhooks.map(\.json)
            case .receivedWebhooks: state.logs.received
            case .runs: state.logs.runs
            case .notifications: state.logs.notifications
            case .locationEvents: state.logs.crossings
            case .mails: state.web.mails.map { $0.json(origin: origin, at: now) }
            }
        }
    }

    /// Revokes one user token, or all of them.
    func revokeUserToken(_ token: String?) -> Bool {
        store.change { state in
            let tokens = token.map { [$0] } ?? Array(state.userTokens.keys)
            for token in tokens { state.userTokens[token]?.isRevoked = true }
            return tokens.allSatisfy { state.userTokens[$0] != nil }
        }
    }

    func setPublished(_ isPublished: Bool, serviceID: String) -> Bool {
        store.change { state in
            state.partners[serviceID]?.isPublished = isPublished
            return state.partners[serviceID] != nil
        }
    }

    /// A code of the partner for its user, by id or address.
    func oauthCode(for name: String) -> String? {
        let dialect = store.partnerServer.dialect
        guard let user = dialect.user(subject: name) ?? dialect.user(name) else { return nil }
        let code = store.change { $0.identifiers.word("oac") }
        store.partnerServer.issueCode(code, for: user)
        return code
    }

    /// Sends the webhooks of all partners elsewhere; nil for the partner inside.
    ///
    /// - Returns: whether the address is plain HTTP on loopback by its number, which alone is taken.
    func setWebhookPrefix(_ prefix: String?) -> Bool {
        if let prefix, !Self.isLoopback(prefix) { return false }
        store.change { state in
            for id in state.partners.keys { state.partners[id]?.webhookPrefix = prefix }
        }
        return true
    }

    /// Registers a redirect URL with all partners.
    func register(redirectURL: String) -> Bool {
        guard ReturnURL.isWellFormed(redirectURL), !redirectURL.contains("?"), !redirectURL.contains("#") else {
            return false
        }
        store.change { state in
            for id in state.partners.keys where state.partners[id]?.redirectURLs.contains(redirectURL) == false {
                state.partners[id]?.redirectURLs.append(redirectURL)
            }
        }
        return true
    }

    private static func isLoopback(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), url.scheme == "http", url.user == nil, url.password == nil,
            url.query == nil, url.fragment == nil, !text.hasSuffix("/")
        else { return false }
        return ["127.0.0.1", "[::1]", "::1"].contains(url.host)
    }
}
#endif
