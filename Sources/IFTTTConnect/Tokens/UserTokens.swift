public import Handshake
import OAuth

/// Stores a user token, encrypted in a vault (dossier 6.11 and 13, F106). It is the grant of an account of
/// `Service/ifttt`.
///
/// To sign out, call ``forget()``, which deletes the token.
public struct UserTokens: Sendable {
    private let handshake: Handshake
    private let service: String
    private let name: String
    private let now: @Sendable () -> Double

    /// Opens the store of one user's token.
    ///
    /// - Parameters:
    ///   - handshake: has a client of `Service/ifttt`, whose identifier is the partner's service.
    ///   - name: the app's name for the account.
    ///   - service: the service's name in `handshake`.
    ///   - time: the clock.
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

    /// The account with the token as its grant; nil when there is none.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public func account() async throws -> Account? {
        do {
            return try await handshake.account(name, of: service)
        } catch {
            throw ConnectError.placing(error)
        }
    }

    /// Stores a token; replaces the previous one. It is durable when this returns.
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

    /// Deletes the token, even if its record is damaged. The service has no way to revoke it.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    public func forget() async throws {
        do {
            try await handshake.forget(name, of: service)
        } catch {
            throw ConnectError.placing(error)
        }
    }

    /// Deletes a rejected token unless another one has replaced it. The comparison runs under the vault's lock, so it holds
    /// across processes.
    ///
    /// - Parameter token: the token to delete.
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
