#if CommandLine
import Handshake
import OAuth

/// A comparison as a sentence: `services check`.
struct ServiceSentence {
    let comparison: ServiceComparison

    /// The sentence; nil for what is as it is known.
    var text: String? {
        if let account = comparison.account { return text(of: account) }
        let known = comparison.described ?? "none"
        let name = "\(subject) (\(comparison.member))"
        return switch (comparison.outcome, comparison.published) {
        case (.same, _): nil
        case (.drifted, nil): "\(name) drifted: this version knows \(known), and the server no longer publishes any."
        case (.drifted, let published?):
            "\(name) drifted: this version knows \(known), and the server publishes \(published)."
        case (.unpublished, nil):
            "\(name) cannot be compared: this version knows \(known), and the server publishes none."
        case (.unpublished, let published?):
            "\(name) cannot be compared: this version knows \(known), and the server lists \(published)."
        case (.undescribed, let published):
            "\(name) is not described in this version: the server publishes \(published ?? "none")."
        }
    }

    /// The sentence about what has changed since an account's sign-in.
    private func text(of account: String) -> String {
        let signIn = "“\(quoted(account, limit: 200))” signed in"
        guard let published = comparison.published else {
            return "The server no longer announces “\(comparison.member)”, as it did when \(signIn)."
        }
        guard let known = comparison.described else {
            return "The server has a new \(comparison.member) at \(published), which it did not have when \(signIn)."
        }
        return "The server has moved its \(comparison.member) from \(known) to \(published) since \(signIn)."
    }

    /// The member in the field's words.
    private var subject: String {
        switch comparison.member {
        case "issuer": "The issuer"
        case "authorize_url": "The authorization endpoint"
        case "token_url": "The token endpoint"
        case "revocation_url": "The revocation endpoint"
        case "userinfo_url": "The userinfo endpoint"
        case "device_authorization_url": "The device authorization endpoint"
        case "pushed_authorization_url": "The endpoint for pushed authorization requests"
        case "registration_url": "The registration endpoint"
        case "introspection_url": "The introspection endpoint"
        case "end_session_url": "The endpoint that ends sessions"
        case "jwks_url": "The address of the keys"
        case "backchannel_authentication_url": "The endpoint for authentication on another device"
        case "pkce": "The method of PKCE"
        case "response_types": "The response type"
        case "grant_types": "The list of grant types"
        case "client_authentication": "The way in which clients authenticate"
        case "public_clients": "The method of clients without a secret"
        case "scopes": "The list of scopes"
        case "dpop_signing_algorithms": "The list of algorithms for DPoP proofs"
        case "requires_pushed_authorization": "The demand for pushed authorization requests"
        case "requires_dpop": "The demand for tokens that are bound to a key"
        default: "The member"
        }
    }
}
#endif
