public import Handshake
public import IFTTTConnect
public import Logging
import OAuth
public import Observation

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A user's Connect Button, without its drawing.
///
/// It holds the state, takes what the user does, and acts on it. ``ConnectButton`` and UIKit's `ConnectButtonView` draw it; a view of your own may draw ``state`` with
/// ``ConnectButtonFace`` and report what the user does to ``send(_:)``. While a view shows it, ``run()`` has to run.
///
/// An attempt survives the end of the process: until its redirect has come, it rests encrypted in the vault of the accounts.
@MainActor @Observable
public final class ConnectButtonModel {
    /// What the button shows. While a disconnection can be undone, it has the time that is left at the moment of the call.
    public var state: ConnectButtonState {
        guard let undoEnd, let undo = shown.undo else { return shown }
        var state = shown
        state.undo = ConnectButtonUndo(remaining: undoEnd - time.now(), total: undo.total)
        return state
    }
    /// The connection as IFTTT last described it; nil until it has been loaded.
    public private(set) var connection: Connection?

    /// The user's suggested address, until the user has typed one.
    public let email: String
    /// The locale of the texts and of IFTTT's pages.
    public let locale: ConnectButtonLocale

    /// Receives the connection that the user has turned on.
    ///
    /// It may still have to be configured.
    @ObservationIgnored public var onConnect: @MainActor (Connection) -> Void = { _ in }
    /// Receives the connection that the user has turned off.
    @ObservationIgnored public var onDisconnect: @MainActor (Connection) -> Void = { _ in }
    /// Receives each failure. The button shows it, too.
    @ObservationIgnored public var onFailure: @MainActor (ConnectButtonFailure) -> Void = { _ in }
    /// Configures a connection that has been turned on and is not configured yet.
    ///
    /// Call ``configurationSaved()`` afterwards. When it is nil, the views open ``setUpPage``.
    @ObservationIgnored public var onSetUp: (@MainActor (Connection) -> Void)?

    /// The activation of a process that has no attempt to go on with.
    private let initial: ConnectActivation
    private let stored: StoredActivation
    private let makeController: @Sendable (ConnectActivation) -> ConnectController
    private let isOffline: @Sendable () -> Bool
    private let time: TimeSource
    /// The state as of the last change.
    private var shown: ConnectButtonState
    /// When a disconnection can no longer be undone, in seconds since 1970; nil while there is none.
    @ObservationIgnored private var undoEnd: Double?
    @ObservationIgnored private var controller: ConnectController?
    /// URLs that arrived before the controller was there.
    @ObservationIgnored private var earlyURLs: [String] = []
    @ObservationIgnored private var activation: ConnectActivation?
    private let turns = RunTurns()

    /// Creates the model of a connection's button. Nothing is asked before ``run()``.
    ///
    /// - Parameters:
    ///   - connection: the connection's identifier.
    ///   - accounts: has one client of `Service/ifttt`, whose redirect URI is the callback that is registered at IFTTT. The user
    ///     token is stored in its vault.
    ///   - name: the app's name for the account, for an app with several users.
    ///   - email: the user's address, suggested where one is asked for.
    ///   - locale: the locale of the texts and of IFTTT's pages.
    ///   - environment: the app and the device.
    ///   - prefetched: the connection, if the app has it; the button then shows it immediately, without loading.
    ///   - analytics: counts what consenting users do, and sends it while the app runs its `Analytics/run()`; nil counts nothing.
    ///   - log: receives each state, outcome, refusal and problem; never a secret, an address or a URL. By default a logger of
    ///     the connection's own, with the label `handshake.connect.CONNECTION`.
    ///   - configure: changes the rest of the activation's configuration.
    /// - Throws: `ConnectError/input(member:problem:)` for an invalid identifier, for another connection's description, and for
    ///   accounts without one client of IFTTT with a redirect URI.
    public init(
        _ connection: String, accounts: Handshake, as name: String = AccountID.defaultName, email: String = "",
        locale: ConnectButtonLocale = .user, environment: ConnectEnvironment, prefetched: Connection? = nil,
        analytics: Analytics? = nil, log: Logger? = nil,
        configure: (inout ConnectActivation.Configuration) -> Void = { _ in }
    ) throws(ConnectError) {
        let client = try Self.client(of: accounts)
        var configuration = ConnectActivation.Configuration(
            try ConnectionID(connection), callback: try CallbackURL(client.callback), suggestedEmail: email,
            locale: locale.tag)
        configuration.addresses = ActivationAddresses(client.hosts)
        configure(&configuration)
        self.email = email
        self.locale = locale
        if let prefetched {
            initial = try ConnectActivation(configuration, prefetched: prefetched)
        } else {
            initial = ConnectActivation(configuration)
        }
        // What is prefetched is shown immediately; the controller begins with the same.
        var first = initial
        if prefetched != nil { _ = first.handle(.appeared) }
        shown = ConnectButtonState(first)
        self.connection = prefetched
        stored = StoredActivation(of: configuration.connection, user: name, vault: accounts.vault)
        let (tokens, hosts) = (
            UserTokens(in: accounts, as: name, of: client.service, time: accounts.time), client.hosts
        )
        let (transport, time, random) = (accounts.transport, accounts.time, accounts.random)
        makeController = { activation in
            ConnectController(
                activation, tokens: tokens, environment: environment, analytics: analytics,
                through: ConnectController.Connections(hosts: hosts, transport: transport, time: time, random: random),
                log: log)
        }
        isOffline = NetworkPath.offline()
        self.time = time
    }

    /// The page to open when the user finishes set-up and ``onSetUp`` is nil.
    ///
    /// It is IFTTT's, which manages the connection. Nil where nothing is to be set up.
    ///
    /// The user may finish set-up on that page. A view of your own therefore calls ``refresh()`` when the app becomes
    /// active again, as ``ConnectButton`` does.
    public var setUpPage: URL? {
        onSetUp == nil && state.step == .pending ? state.manageURL : nil
    }

    private static func client(
        of accounts: Handshake
    ) throws(ConnectError) -> (callback: String, hosts: Hosts, service: String) {
        let clients = accounts.clients.filter { $0.service.name == Service.ifttt.name }
        guard let client = clients.first, clients.count == 1, case .uri(let callback) = client.redirect else {
            throw .input(
                member: "accounts",
                problem:
                    "there must be one client of \(Service.ifttt.name), with the redirect URI that is registered there")
        }
        return (callback.string, Hosts(of: client.service), client.service.name)
    }

    // MARK: What the user and the app do

    /// Handles what the user does. It has no effect before ``run()``.
    public func send(_ event: ConnectButtonEvent) {
        guard let controller, let activation else { return }
        if event == .setUp {
            if let connection { onSetUp?(connection) }
            return
        }
        let next = event.activationEvent(for: activation, at: controller.time.now()) { controller.newAttempt() }
        if let next { controller.send(next) }
        if let report = event.analyticsEvent(for: activation) { controller.report(report) }
    }

    /// Handles a URL that the app was opened with.
    ///
    /// IFTTT's app, a mail or a browser opens the app with the redirect of IFTTT's pages. Give it to every button:
    /// connections of one client share the callback, and the URL counts for the attempt that it belongs to.
    ///
    /// - Returns: whether it is a redirect to this callback; if not, the app handles it.
    @discardableResult
    public func open(_ url: URL) -> Bool {
        let text = url.absoluteString
        if let controller { return controller.open(text) }
        guard (try? initial.configuration.redirect.redirect(from: text)) != nil else { return false }
        earlyURLs = earlyURLs.suffix(3) + [text]
        return true
    }

    /// Tells the button that the app has configured the connection.
    ///
    /// It was turned on without configuration, see ``onSetUp``.
    public func configurationSaved() {
        controller?.send(.configurationSaved)
    }

    /// Fetches the connection again, for example after it was changed elsewhere.
    public func refresh() {
        controller?.send(.refresh)
    }

    /// Deletes the user's token and what was known about the user.
    ///
    /// For a user who logs out of the app. The connection stays as it is. An attempt under way ends, and its later redirect
    /// is ignored. When one part cannot be deleted, the others are deleted anyway.
    ///
    /// - Throws: `ConnectError/account(_:)` when the vault cannot be written. Call it again then.
    public func signOut() async throws {
        // First, and whatever fails after it: the device's next user must not finish this user's attempt.
        var failure: (any Error)?
        do { try await stored.remove() } catch { failure = error }
        try await prepared().signOut()
        if let failure { throw failure }
    }

    // MARK: Running

    /// Loads the connection, and handles what happens until the task is cancelled.
    ///
    /// One run is active; a second one returns immediately, but waits for a cancelled one that is still ending.
    public func run() async {
        // A second one beside it would report each outcome twice.
        await turns.perform { await runAlone() }
    }

    private func runAlone() async {
        let controller = await prepared()
        let updates = controller.updates()
        async let running: Void = controller.run()
        controller.send(.appeared)
        for url in earlyURLs { controller.open(url) }
        earlyURLs = []
        for await update in updates { await take(update) }
        await running
    }

    /// The controller, with an attempt that an earlier process has left.
    private func prepared() async -> ConnectController {
        if let controller { return controller }
        let left = await stored.activation(for: initial.configuration)
        // Another task may have been faster.
        if let controller { return controller }
        let made = makeController(left ?? initial)
        controller = made
        activation = made.activation
        return made
    }

    private func take(_ update: ConnectController.Update) async {
        switch update {
        case .activation(let now):
            let before = activation
            activation = now
            connection = now.connection
            let failure = shown.failure
            noteUndo(now.state)
            // The page opens with the step, so what IFTTT does is seen there and not told here.
            shown = ConnectButtonState(now, isOffline: isOffline(), isPageOpen: true)
            if let new = shown.failure, new != failure || now.refusals != before?.refusals { onFailure(new) }
            await stored.keep(now)
        case .outcome(.connected(let connection, _, _), _): onConnect(connection)
        case .outcome(.disconnected(let connection), _): onDisconnect(connection)
        case .outcome, .refused, .problem: break
        }
    }

    /// Keeps the end of the time to undo: a view that appears later shows what is left of it.
    private func noteUndo(_ now: ConnectActivation.State) {
        guard case .undoableDisconnection(let seconds) = now else {
            undoEnd = nil
            return
        }
        if undoEnd == nil { undoEnd = time.now() + seconds }
    }
}
