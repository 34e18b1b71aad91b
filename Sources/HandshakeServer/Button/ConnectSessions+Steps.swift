#if Server
import ConnectButton
import Crypto
import Handshake
import IFTTTConnect
import OAuth

extension ConnectSessions {
    /// One user and one connection.
    struct Place: Sendable {
        let user: ConnectButtonUser
        let offer: ConnectButtonOffer

        var key: VaultKey { Self.key(of: user, offer.connection) }

        static func key(of user: ConnectButtonUser, _ connection: ConnectionID) -> VaultKey {
            VaultKey(.activation, [connection.rawValue, digest(of: user)])
        }

        static func digest(of user: ConnectButtonUser) -> String {
            Base64URL.encode(SHA256.hash(data: Array(user.id.utf8)))
        }
    }

    /// The result of an event.
    struct Step: Sendable {
        var session: ConnectSession
        /// The effects to perform, in order.
        var effects: [ConnectActivation.Effect]
        /// The URL to open for the user.
        var open: String?
        /// Why a redirect was rejected.
        var refusal: RedirectRefusal?
    }

    /// A change of a session, applied atomically under the vault's lock.
    struct Turn: Sendable {
        /// The locale of the page.
        var locale: ConnectButtonLocale?
        /// The token of the expected session; nil for any, creating one where there is none.
        var session: String?
        /// Whether the page may receive the URL to open.
        var opens: @Sendable (ConnectSession) -> Bool = { _ in false }
        /// The token that was sent with the request which this answers.
        var askedWith: UserToken?
        /// Applies the event. If it throws, nothing changes.
        let change: @Sendable (inout ConnectSession) throws -> [ConnectActivation.Effect]
    }
}
#endif
