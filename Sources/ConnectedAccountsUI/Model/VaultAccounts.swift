import Handshake
import OAuth

/// The accounts in an app's own vault.
struct VaultAccounts: AccountSource {
    let handshake: Handshake
    /// The app's name for the accounts.
    let name: String
    let lastUse: @Sendable (AccountID) async -> Double?

    func accounts() async throws -> [ListedAccount] {
        var listed: [ListedAccount] = []
        do {
            for service in handshake.services { listed.append(ListedAccount(account: try await stored(service))) }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ConnectedAccountsError.unavailable
        }
        return listed
    }

    private func stored(_ service: Service) async throws -> ConnectedAccount {
        do {
            let account = try await handshake.account(name, of: service.name)
            let used: Double? = if let account { await lastUse(account.id) } else { nil }
            return ConnectedAccount(service, status: account?.status, lastUse: used)
        } catch HandshakeError.vault(.damaged) {
            return ConnectedAccount(damaged: service)
        }
    }

    func named(_ account: ConnectedAccount) async -> ListedAccount? {
        do {
            let identity = try await handshake.account(name, of: account.service)?.identity()
            return ListedAccount(account: account.named(identity?.name ?? identity?.subject))
        } catch HandshakeError.signInRequired {
            return ListedAccount(account: account.ended)
        } catch {
            // The account stands as it did; only its name is not known.
            return nil
        }
    }

    func connect(_ service: String, through browser: some Browser) async -> ConnectedAccountsModel.Outcome? {
        do {
            _ = try await handshake.signIn(as: name, to: service, through: browser)
            return .connected
        } catch HandshakeError.signInAbandoned, is CancellationError {
            return .cancelled
        } catch {
            return .connectFailed
        }
    }

    func disconnect(_ listed: ListedAccount) async -> ConnectedAccountsModel.Outcome? {
        let service = listed.account.service
        do {
            guard let report = try await handshake.account(name, of: service)?.signOut() else {
                return .disconnected
            }
            guard report.isForgotten else { return .disconnectFailed }
            return report.notRevocable.isEmpty ? .disconnected : .notRevocable
        } catch is CancellationError {
            return .mayFinish
        } catch HandshakeError.vault(.damaged) {
            // Its tokens cannot be read, so they cannot be revoked.
            let isForgotten: Void? = try? await handshake.forget(name, of: service)
            return isForgotten == nil ? .disconnectFailed : .notRevocable
        } catch {
            return .disconnectFailed
        }
    }
}
