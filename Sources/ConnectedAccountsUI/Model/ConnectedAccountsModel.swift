public import Handshake
import OAuth
public import Observation

/// A user's accounts in an app's own vault, and what is under way for each.
///
/// SwiftUI's ``ConnectedAccounts`` draws it; an app may draw it in its own way.
@MainActor @Observable
public final class ConnectedAccountsModel {
    /// Every service of the clients, in their order; empty before ``load()``.
    public private(set) var accounts: [ConnectedAccount] = []
    /// What runs for an account, by the service's name.
    public private(set) var running: [String: Operation] = [:]
    /// What happened last to an account, by the service's name.
    public private(set) var outcomes: [String: Outcome] = [:]
    /// Whether the vault could not be read.
    public private(set) var isUnavailable = false

    /// What the user waits for.
    public enum Operation: Sendable, Hashable {
        case connecting
        case disconnecting
    }

    /// How an operation ended.
    public enum Outcome: Sendable, Hashable {
        case connected
        case disconnected
        /// Disconnected here. The service revokes no tokens, and lists the app until the user removes it there.
        case notRevocable
        /// The user did not go through with it.
        case cancelled
        case connectFailed
        /// The service has not confirmed it. Disconnecting again continues.
        case disconnectFailed
        /// The user stopped waiting for a disconnection, which may still finish.
        case mayFinish
    }

    private let handshake: Handshake
    private let name: String
    private let lastUse: @Sendable (AccountID) async -> Double?
    @ObservationIgnored private var tasks: [String: Task<Void, Never>] = [:]
    /// Counts the loads: only the newest one is shown, however long an older one takes.
    @ObservationIgnored private var loads = 0

    /// Creates a model. Nothing is read before ``load()``.
    ///
    /// - Parameters:
    ///   - handshake: the clients and the vault.
    ///   - name: the app's name for the accounts.
    ///   - lastUse: when the app last used an account, in seconds since 1970; nil when it does not know.
    public init(
        _ handshake: Handshake, name: String = AccountID.defaultName,
        lastUse: @escaping @Sendable (AccountID) async -> Double? = { _ in nil }
    ) {
        self.handshake = handshake
        self.name = name
        self.lastUse = lastUse
    }

    /// Reads the accounts from the vault, then asks services whose they are.
    public func load() async {
        await read()
        await learnNames()
    }

    /// Reads the accounts from the vault.
    private func read() async {
        loads += 1
        let number = loads
        var loaded: [ConnectedAccount] = []
        do {
            for service in services { loaded.append(try await stored(service)) }
        } catch {
            if number == loads { isUnavailable = true }
            return
        }
        guard number == loads else { return }
        isUnavailable = false
        let known = Dictionary(accounts.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        accounts = loaded.map { account in
            let before = known[account.id]
            let isSame = before?.state == account.state && before?.lastUse == account.lastUse
            return isSame && account.userName == nil ? account.named(before?.userName) : account
        }
    }

    private func learnNames() async {
        for account in accounts where account.state.isConnected && account.userName == nil && account.isNameAvailable {
            await learnName(of: account)
        }
    }

    /// Connects an account, or connects it again, through a browser.
    public func connect(_ service: String, through browser: some Browser) {
        run(.connecting, for: service) { [handshake, name] in
            do {
                _ = try await handshake.signIn(as: name, to: service, through: browser)
                return .connected
            } catch HandshakeError.signInAbandoned, is CancellationError {
                return .cancelled
            } catch {
                return .connectFailed
            }
        }
    }

    /// Forgets an account, and revokes its tokens where the service can.
    public func disconnect(_ service: String) {
        run(.disconnecting, for: service) { [handshake, name] in
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

    /// Stops what runs for an account.
    public func cancel(_ service: String) {
        tasks[service]?.cancel()
    }

    /// Waits until nothing runs for an account.
    public func finish(_ service: String) async {
        await tasks[service]?.value
    }

    private var services: [Service] {
        var seen: Set<String> = []
        return handshake.clients.map(\.service).filter { seen.insert($0.name).inserted }
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

    private func learnName(of account: ConnectedAccount) async {
        var learned = account
        do {
            let identity = try await handshake.account(name, of: account.service)?.identity()
            learned = account.named(identity?.name ?? identity?.subject)
        } catch HandshakeError.signInRequired {
            learned = account.ended
        } catch {
            // The account stands as it did; only its name is not known.
            return
        }
        // The user may have disconnected it meanwhile.
        guard let index = accounts.firstIndex(of: account) else { return }
        accounts[index] = learned
    }

    /// Runs one operation of a service at a time.
    private func run(
        _ operation: Operation, for service: String, _ body: @escaping @Sendable () async -> Outcome
    ) {
        guard running[service] == nil else { return }
        running[service] = operation
        outcomes[service] = nil
        tasks[service] = Task {
            let outcome = await body()
            // A task of its own: the one of the operation may have been cancelled.
            await Task { await read() }.value
            running[service] = nil
            // What finished just when the user stopped waiting is told as it is.
            let isConnected = accounts.first { $0.id == service }?.state.isConnected ?? false
            outcomes[service] = operation == .connecting && outcome == .cancelled && isConnected ? .connected : outcome
            await learnNames()
        }
    }
}

extension ConnectedAccountsModel.Outcome {
    /// The text that says it to the user.
    var words: ConnectedAccountsWords {
        switch self {
        case .connected: .nowConnected
        case .disconnected: .nowDisconnected
        case .notRevocable: .notRevocable
        case .cancelled: .cancelled
        case .connectFailed: .connectFailed
        case .disconnectFailed: .disconnectFailed
        case .mayFinish: .mayFinish
        }
    }
}

extension ConnectedAccountsModel.Operation {
    /// The text that says it to the user.
    var words: ConnectedAccountsWords {
        switch self {
        case .connecting: .opening
        case .disconnecting: .disconnecting
        }
    }
}
