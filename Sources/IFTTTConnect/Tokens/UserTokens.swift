public import Handshake
import OAuth

/// Where an app's user token rests: in a vault, encrypted, as the grant of an account of `Service/ifttt` (dossier 6.11 and
/// 13, F106).
///
/// Signing out is ``forget()``: nothing of the token is left.
public struct UserTokens: Sendable {
    private let handshake: Handshake
    private let service: String
    private let name: String
    private let now: @Sendable () -> Double

    /// Opens the place of one user's token.
    ///
    /// - Parameters:
    ///   - handshake: the front door with a client of `Service/ifttt`; the client's identifier is the partner's service.
    ///   - name: the app's name for the account.
    ///   - service: the service's name in `handshake`.
    ///   - time: what time it is.
    public init(
        in handshake: Handshake, as name: String = AccountID.defaultName, of service: String = Service.ifttt.name,
        time: TimeSource = .system
    ) {
        self.handshake = handshake
        self.service = service
        self.name = name
        now = time.now
    }

    /// The token; nil when there is none.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public func token() async throws -> UserToken? {
        do {
            return UserToken(try await account()?.accessToken() ?? Secret(""))
        } catch HandshakeError.signInRequired {
            return nil
        } catch {
            throw ConnectError.placing(error)
        }
    }

    /// The account whose grant the token is; nil when there is none.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public func account() async throws -> Account? {
        do {
            return try await handshake.account(name, of: service)
        } catch {
            throw ConnectError.placing(error)
        }
    }

    /// Stores a token in place of the one before. It is durable when this returns.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    public func store(_ token: UserToken) async throws {
        do {
            let grant = Grant(
                accessToken: token.secret, expiresAt: nil, issuedAt: now(), refreshToken: nil, scopes: [])
            _ = try await handshake.adopt(grant, as: name, of: service)
        } catch {
            throw ConnectError.placing(error)
        }
    }

    /// Removes the token, also when its record is damaged. The service has no way to void it.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    public func forget() async throws {
        do {
            try await handshake.forget(name, of: service)
        } catch {
            throw ConnectError.placing(error)
        }
    }

    /// Removes one token, and leaves any other that has taken its place: for a token that the service has refused, whose
    /// refusal may come late. That it is the stored one is decided under the vault's lock, so against every process.
    ///
    /// - Parameter token: the token that is to go.
    /// - Returns: whether it was the stored one.
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    @discardableResult
    public func forget(ifStill token: UserToken) async throws -> Bool {
        do {
            return try await account()?.forget(ifStill: token.secret) ?? false
        } catch {
            throw ConnectError.placing(error)
        }
    }
}
