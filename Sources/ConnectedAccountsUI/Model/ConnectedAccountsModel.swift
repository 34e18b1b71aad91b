public import Handshake
public import Observation

/// A user's accounts and what is under way for each.
///
/// They are in the app's own vault, or on its server.
///
/// SwiftUI's `ConnectedAccounts` draws it; an app may draw it in its own way.
@MainActor @Observable
public final class ConnectedAccountsModel {
    /// Every service, in the order of the clients.
    ///
    /// Empty before ``load()``, and without a session at the server.
    public private(set) var accounts: [ConnectedAccount] = []
    /// What runs for an account, by the service's name.
    public private(set) var running: [String: Operation] = [:]
    /// What happened last to an account, by the service's name.
    public private(set) var outcomes: [String: Outcome] = [:]
    /// The service whose account the user is asked about, before it is disconnected.
    public private(set) var asked: String?
    /// Why the accounts could not be read the last time.
    public private(set) var failure: ConnectedAccountsError?
    /// The services whose disconnection takes longer than usual.
    public private(set) var slow: Set<String> = []
    /// Whether the first list takes longer than usual.
    public private(set) var isLoadSlow = false

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
        /// The app's server asks for a pause. Nothing has changed.
        case tooMany
    }

    private let source: any AccountSource
    /// The accounts with what the server needs to tell their users apart.
    @ObservationIgnored private var listed: [String: ListedAccount] = [:]
    @ObservationIgnored private var tasks: [String: Task<Void, Never>] = [:]
    /// What waits are measured on.
    @ObservationIgnored var clock = TimeSource.system.clock
    /// After this a wait is called long.
    private static let slowAfter = Duration.seconds(5)
    /// Counts the loads: only the newest one is shown, however long an older one takes.
    @ObservationIgnored private var loads = 0

    /// Creates a model of the accounts in the app's own vault. Nothing is read before ``load()``.
    ///
    /// - Parameters:
    ///   - handshake: the clients and the vault.
    ///   - name: the app's name for the accounts.
    ///   - lastUse: when the app last used an account, in seconds since 1970; nil when it does not know.
    public init(
        _ handshake: Handshake, name: String = AccountID.defaultName,
        lastUse: @escaping @Sendable (AccountID) async -> Double? = { _ in nil }
    ) {
        source = VaultAccounts(handshake: handshake, name: name, lastUse: lastUse)
    }

    /// Creates a model of the accounts on the app's server. Nothing is read before ``load()``.
    public init(_ server: AccountsServer) {
        source = server
    }

    /// Reads the accounts, then asks services whose they are.
    public func load() async {
        await read()
        await learnNames()
    }

    /// What a read came to.
    private enum Reading {
        case shown
        /// A newer one has begun, whose answer counts.
        case overtaken
        case failed
    }

    /// Reads the accounts. No service is asked.
    @discardableResult
    private func read() async -> Reading {
        loads += 1
        let number = loads
        let earlier = failure
        var alarm: Task<Void, Never>?
        isLoadSlow = false
        if accounts.isEmpty {
            // The user who tries again sees that it is tried.
            failure = nil
            alarm = whenSlow { if number == self.loads { self.isLoadSlow = true } }
        }
        defer {
            alarm?.cancel()
            if number == loads { isLoadSlow = false }
        }
        let found: [ListedAccount]
        do {
            found = try await source.accounts()
        } catch {
            guard number == loads else { return .overtaken }
            guard !(error is CancellationError) else {
                failure = earlier
                return .failed
            }
            let reason = error as? ConnectedAccountsError ?? .unavailable
            failure = reason
            // Whose accounts they are is not known any more.
            if reason == .loggedOut { show([]) }
            return .failed
        }
        guard number == loads else { return .overtaken }
        failure = nil
        show(found)
        return .shown
    }

    /// Calls a closure when a wait has become long, unless the task is cancelled before.
    private func whenSlow(_ note: @escaping @MainActor () -> Void) -> Task<Void, Never> {
        Task { [clock] in
            guard (try? await clock.sleep(for: Self.slowAfter)) != nil, !Task.isCancelled else { return }
            note()
        }
    }

    private func show(_ found: [ListedAccount]) {
        let (before, known) = (
            listed, Dictionary(accounts.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        )
        listed = Dictionary(found.map { ($0.account.id, $0) }, uniquingKeysWith: { first, _ in first })
        for (service, old) in before where listed[service].map({ !$0.isOfUser(of: old) }) ?? true {
            // It was said to another user.
            outcomes[service] = nil
            if asked == service { asked = nil }
        }
        for item in found { endOutcome(of: item.account, before: known[item.account.id]) }
        accounts = found.map { item in
            let (account, old) = (item.account, known[item.account.id])
            let isSame =
                old?.state == account.state && old?.lastUse == account.lastUse
                && before[account.id].map { item.isOfUser(of: $0) } ?? false
            return isSame && account.userName == nil ? account.named(old?.userName) : account
        }
        if !canDisconnect(asked) { asked = nil }
    }

    /// Clears the message of the account's previous state. “It may still finish” stays while the disconnection is under way,
    /// and becomes “disconnected” when it is done.
    private func endOutcome(of account: ConnectedAccount, before: ConnectedAccount?) {
        guard let before, before.state != account.state else { return }
        switch outcomes[account.service] {
        case .mayFinish where account.state == .signingOut: break
        case .mayFinish where account.state == .absent, .disconnectFailed where account.state == .absent:
            outcomes[account.service] = .disconnected
        case .mayFinish, .cancelled, .connectFailed: outcomes[account.service] = nil
        default: break
        }
    }

    private func learnNames() async {
        for account in accounts where account.state.isConnected && account.userName == nil && account.isNameAvailable {
            guard let before = listed[account.service], let learned = await source.named(account) else { continue }
            // The user may have disconnected it meanwhile, and another one may have logged in.
            guard let index = accounts.firstIndex(of: account),
                listed[account.service].map({ before.isOfUser(of: $0) }) ?? false, learned.isOfUser(of: before)
            else { continue }
            endOutcome(of: learned.account, before: account)
            accounts[index] = learned.account
            if !canDisconnect(asked) { asked = nil }
        }
    }

    // MARK: What the user does

    /// Connects an account, or connects it again, through a browser.
    public func connect(_ service: String, through browser: some Browser) {
        run(.connecting, for: service) { [source] in await source.connect(service, through: browser) }
    }

    /// Asks the user whether to disconnect an account. One question is open at a time.
    ///
    /// It stays open whatever else becomes known about the account, until it is answered by ``keep()`` or ``disconnect(_:)``,
    /// or there is nothing left to disconnect.
    public func askToDisconnect(_ service: String) {
        guard running[service] == nil, canDisconnect(service) else { return }
        asked = service
    }

    /// Closes the question. The account stays connected.
    public func keep() {
        asked = nil
    }

    /// Forgets an account, and revokes its tokens where the service can.
    public func disconnect(_ service: String) {
        if asked == service { asked = nil }
        run(.disconnecting, for: service) { [source, shown = listed[service]] in
            var account = shown
            if account == nil {
                account = try? await source.accounts().first { $0.account.service == service }
            }
            guard let account else { return .disconnectFailed }
            return await source.disconnect(account)
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

    private func canDisconnect(_ service: String?) -> Bool {
        accounts.contains { $0.id == service && $0.state.actions.contains(.disconnect) }
    }

    /// Runs one operation of a service at a time.
    private func run(
        _ operation: Operation, for service: String, _ body: @escaping @Sendable () async -> Outcome?
    ) {
        guard running[service] == nil else { return }
        running[service] = operation
        outcomes[service] = nil
        let before = listed[service]
        // A user who signs in at the service may take as long as that needs.
        let alarm = operation == .disconnecting ? whenSlow { self.slow = self.slow.union([service]) } : nil
        tasks[service] = Task {
            let outcome = await body()
            // A task of its own: the one of the operation may have been cancelled.
            let reading = await Task { await read() }.value
            alarm?.cancel()
            slow.remove(service)
            running[service] = nil
            let now = listed[service]
            switch reading {
            case .shown: outcomes[service] = Self.outcome(outcome, of: operation, in: now?.account.state)
            case .overtaken: outcomes[service] = outcome
            // Whether it is connected, only the list says.
            case .failed: outcomes[service] = outcome == .connected ? nil : outcome
            }
            // It is not said to the user who has logged in meanwhile.
            if let before, !(now.map { $0.isOfUser(of: before) } ?? false) { outcomes[service] = nil }
            await learnNames()
        }
    }

    /// What an operation came to, by what the list says now.
    private static func outcome(
        _ outcome: Outcome?, of operation: Operation, in state: ConnectedAccount.State?
    ) -> Outcome? {
        switch (operation, outcome) {
        // What finished just when the user stopped waiting is reported as it is.
        case (.connecting, .cancelled) where state?.isConnected ?? false: .connected
        // The answer was lost, or came from elsewhere: the list knows better.
        case (.connecting, .connectFailed) where state?.isConnected ?? false: .connected
        case (.connecting, .connected) where !(state?.isConnected ?? false): .connectFailed
        case (.disconnecting, .mayFinish) where state == .absent: .disconnected
        case (.disconnecting, .disconnectFailed) where state == .absent: .disconnected
        default: outcome
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
        case .tooMany: .tooMany
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
