#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
public import Handshake
public import IFTTTConnect
public import Logging
public import SwiftUI

/// The Connect Button of a connection.
///
/// ```swift
/// ConnectButton("aB3dE5fG", accounts: handshake) { [server, user] in try await server.userToken(of: user.id) }
///     .connectEmail(user.email)
///     .onConnect { connection in isOn = connection.status == .enabled }
/// ```
///
/// It loads the connection, takes the user to IFTTT and back in its own web session, keeps the user token in the vault,
/// and turns the connection off. It shows every failure itself.
/// The redirect of IFTTT's pages comes back to it; one of the IFTTT app, or of a mail, is a URL that the app is opened with:
/// put `connectCallbacks()` around the app's root view.
public struct ConnectButton: View {
    private enum Source {
        case connection(String, Handshake, TokenDelivery)
        case model(ConnectButtonModel)
    }

    /// Whose model it is: the connection and the accounts, and what a model is made with.
    private struct Identity: Hashable {
        let connection: String
        let owner: ObjectIdentifier
        let account: String
        let email: String
        let locale: String
        let takesRedirect: Bool
    }

    /// A model of the view's own, or why there is none.
    private enum Outcome {
        case model(ConnectButtonModel)
        case failure(ConnectButtonFailure)
    }

    /// What was made, and for whom.
    private struct Made {
        let identity: Identity
        /// Kept, so that no other accounts get the same identity.
        let accounts: Handshake
        let token: NewestToken
        let outcome: Outcome
    }

    /// What the modifiers set.
    private struct Options {
        var account = AccountID.defaultName
        var email = ""
        var locale = ConnectButtonLocale.user
        var style = ConnectButtonStyle.dynamic
        var log: Logger?
        var onConnect: @MainActor (Connection) -> Void = { _ in }
        var onDisconnect: @MainActor (Connection) -> Void = { _ in }
        var onFailure: @MainActor (ConnectButtonFailure) -> Void = { _ in }
        var onSetUp: (@MainActor (Connection, @escaping @MainActor () -> Void) -> Void)?
    }

    private let source: Source
    private var options = Options()

    /// What was made last. It outlives a disappearance, and counts only for its own identity.
    @State private var made: Made?
    @Environment(\.colorScheme) private var colorScheme
    @Environment(\.connectCallback) private var callback
    @Environment(\.connectReturns) private var returns
    @Environment(\.scenePhase) private var phase
    @Environment(\.openURL) private var openURL

    /// Creates a button that takes the user token from your server.
    ///
    /// - Parameters:
    ///   - connection: the connection's identifier. One that is invalid is shown as unknown.
    ///   - accounts: has a client of `Service/ifttt`, whose redirect URI is the callback that is registered at IFTTT.
    ///   - log: receives what the button does; by default a logger of the connection's own. The first one counts, as long as
    ///     the button stays.
    ///   - token: asks your server, which exchanges the token with its service key; nil while there is none. Of closures
    ///     that change while the button stays, the newest is called. A token in a redirect is ignored (dossier 10.2, W14).
    public init(
        _ connection: String, accounts: Handshake, log: Logger? = nil,
        token: @escaping @Sendable () async throws -> UserToken?
    ) {
        self.init(connection, accounts: accounts, tokens: .partnerServer(token), log: log)
    }

    /// Creates a button for an app without a server.
    ///
    /// It takes the user token from the redirect, unless `tokens` says otherwise. Another app on the device can catch a redirect
    /// with a private scheme, and the token with it. An app with a server gives the closure that asks it (dossier 10.2, W14).
    ///
    /// - Parameters:
    ///   - connection: the connection's identifier. One that is invalid is shown as unknown.
    ///   - accounts: has a client of `Service/ifttt`, whose redirect URI is the callback that is registered at IFTTT.
    ///   - tokens: how the user token is obtained. If the closure changes while the button is shown, the newest is called.
    ///   - log: receives what the button does; by default a logger of the connection's own. The first one counts, as long as
    ///     the button stays.
    public init(_ connection: String, accounts: Handshake, tokens: TokenDelivery = .redirect, log: Logger? = nil) {
        source = .connection(connection, accounts, tokens)
        options.log = log
    }

    /// Creates a button that draws a model. The model's own closures receive what happens, and its email and locale count.
    public init(_ model: ConnectButtonModel) {
        source = .model(model)
    }

    public var body: some View {
        let model = current
        ConnectButtonContent(
            shown(model), locale: model?.locale ?? options.locale, suggestedEmail: model?.email ?? options.email
        ) { event in
            if event == .setUp, let page = model?.setUpPage { openURL(page) } else { model?.send(event) }
        }
        .environment(\.colorScheme, options.style.colorScheme ?? colorScheme)
        .task(id: identity) { await run() }
        .onOpenURL { url in current?.open(url) }
        .onChange(of: callback?.number, initial: true) { openCallback() }
        // The user may have changed the connection on IFTTT's page. During an attempt, nothing is fetched.
        .onChange(of: phase) { _, now in if now == .active { current?.refresh() } }
        .onChange(of: returns) { current?.refresh() }
    }

    private var current: ConnectButtonModel? {
        if case .model(let given) = source { return given }
        guard let own, case .model(let model) = own.outcome else { return nil }
        // Whatever the closures have captured, the newest ones are called.
        if case .connection(_, _, let tokens) = source { own.token.tokens = tokens }
        model.onConnect = options.onConnect
        model.onDisconnect = options.onDisconnect
        model.onFailure = options.onFailure
        if let setUp = options.onSetUp {
            model.onSetUp = { [weak model] connection in setUp(connection) { model?.configurationSaved() } }
        } else {
            model.onSetUp = nil
        }
        return model
    }

    /// What was made for the present identity.
    private var own: Made? { made?.identity == identity ? made : nil }

    private func shown(_ model: ConnectButtonModel?) -> ConnectButtonState {
        if case .connection = source, case .failure(let problem)? = own?.outcome {
            return ConnectButtonState(.loadingFailed, failure: problem)
        }
        return model?.state ?? ConnectButtonState(.loading)
    }

    private var identity: Identity {
        switch source {
        case .connection(let connection, let accounts, let tokens):
            Identity(
                connection: connection, owner: ObjectIdentifier(accounts), account: options.account,
                email: options.email, locale: options.locale.tag, takesRedirect: tokens.isFromRedirect)
        case .model(let model):
            Identity(
                connection: "", owner: ObjectIdentifier(model), account: "", email: "", locale: "", takesRedirect: false
            )
        }
    }

    private func run() async {
        if case .connection(let connection, let accounts, let tokens) = source { make(connection, accounts, tokens) }
        guard let current else { return }
        openCallback()
        await current.run()
    }

    /// Makes the model unless there is one: an appearance must not lose what the button shows.
    private func make(_ connection: String, _ accounts: Handshake, _ tokens: TokenDelivery) {
        if case .model? = own?.outcome { return }
        let token = NewestToken(tokens)
        do {
            let model = try ConnectButtonModel(
                connection, accounts: accounts, as: options.account, email: options.email, locale: options.locale,
                environment: .system(tokens: token.delivery), log: options.log)
            made = Made(identity: identity, accounts: accounts, token: token, outcome: .model(model))
        } catch {
            let failure = ConnectButtonFailure(.unknownConnection, detail: "\(error)")
            made = Made(identity: identity, accounts: accounts, token: token, outcome: .failure(failure))
            options.onFailure(failure)
        }
    }

    /// Handles the URL that the app was opened with, if it is of this button's attempt.
    private func openCallback() {
        guard let callback, let current else { return }
        callback.offer(to: current)
    }
}

extension ConnectButton {
    /// Calls a closure when the user has turned the connection on.
    ///
    /// The app may still have to configure it.
    public func onConnect(_ action: @escaping @MainActor (Connection) -> Void) -> ConnectButton {
        with { $0.onConnect = action }
    }

    /// Calls a closure when the user has turned the connection off.
    public func onDisconnect(_ action: @escaping @MainActor (Connection) -> Void) -> ConnectButton {
        with { $0.onDisconnect = action }
    }

    /// Calls a closure for each failure. The button shows it, too, so there is nothing that the app has to do.
    public func onFailure(_ action: @escaping @MainActor (ConnectButtonFailure) -> Void) -> ConnectButton {
        with { $0.onFailure = action }
    }

    /// Configures a connection that is on, when the user finishes set-up.
    ///
    /// Call the closure's second argument once the configuration is saved. Without this modifier, the button opens IFTTT's page
    /// that manages the connection.
    public func onSetUp(
        _ action: @escaping @MainActor (_ connection: Connection, _ saved: @escaping @MainActor () -> Void) -> Void
    ) -> ConnectButton {
        with { $0.onSetUp = action }
    }

    /// Sets whose button it is, in an app with several users.
    ///
    /// The user's token and attempt are stored for this name, for example the user's identifier in your app. Without this
    /// modifier, all users of the device act with the same token. When a user logs out of the app, call
    /// ``ConnectButtonModel/signOut()``.
    public func connectAccount(_ name: String) -> ConnectButton {
        with { $0.account = name }
    }

    /// Suggests the user's address. It is sent only after the user has confirmed it.
    public func connectEmail(_ email: String?) -> ConnectButton {
        with { $0.email = email ?? "" }
    }

    /// Sets the colours. Otherwise they follow the app's light or dark appearance.
    public func connectStyle(_ style: ConnectButtonStyle) -> ConnectButton {
        with { $0.style = style }
    }

    /// Sets the locale of the texts and of IFTTT's pages. Otherwise it is the user's.
    public func connectLocale(_ locale: ConnectButtonLocale) -> ConnectButton {
        with { $0.locale = locale }
    }

    private func with(_ change: (inout Options) -> Void) -> ConnectButton {
        var button = self
        change(&button.options)
        return button
    }
}

/// The colours of a Connect Button.
public enum ConnectButtonStyle: Sendable, Hashable, CaseIterable {
    /// For the light appearance.
    case light
    /// For the dark appearance.
    case dark
    /// Follows the appearance of the view around it.
    case dynamic

    var colorScheme: ColorScheme? {
        switch self {
        case .light: .light
        case .dark: .dark
        case .dynamic: nil
        }
    }
}
#endif
