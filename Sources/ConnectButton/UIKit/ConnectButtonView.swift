#if canImport(UIKit) && canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
public import Foundation
public import Handshake
public import IFTTTConnect
public import Logging
import SwiftUI
public import UIKit

/// ``ConnectButton`` as a view of UIKit.
///
/// ```swift
/// let button = ConnectButtonView(
///     "aB3dE5fG", accounts: handshake, tokens: .partnerServer { try await server.userToken(of: user.id) })
/// button.account = user.id
/// button.email = user.email
/// button.onConnect = { connection in print(connection.name) }
/// ```
///
/// Give it a width; its height follows from the user's text size and must not be fixed. Pass the URLs that the app is opened
/// with to ``open(_:)``.
@MainActor
public final class ConnectButtonView: UIView {
    /// Whose button it is, in an app with several users.
    ///
    /// See ``ConnectButton/connectAccount(_:)``.
    public var account = AccountID.defaultName { didSet { show() } }
    /// The user's suggested address.
    public var email: String? { didSet { show() } }
    /// The colours.
    public var style = ConnectButtonStyle.dynamic { didSet { show() } }
    /// The locale of the texts and of IFTTT's pages.
    public var locale = ConnectButtonLocale.user { didSet { show() } }
    /// Configures a connection that is on, when the user finishes set-up.
    ///
    /// Call the second argument once the configuration is saved. When it is nil, the button opens IFTTT's page that manages the
    /// connection.
    public var onSetUp: (@MainActor (Connection, @escaping @MainActor () -> Void) -> Void)? { didSet { show() } }
    /// Receives the connection that the user has turned on.
    public var onConnect: @MainActor (Connection) -> Void = { _ in }
    /// Receives the connection that the user has turned off.
    public var onDisconnect: @MainActor (Connection) -> Void = { _ in }
    /// Receives each failure. The button shows it, too.
    public var onFailure: @MainActor (ConnectButtonFailure) -> Void = { _ in }

    private var button: ConnectButton?
    private var callback: ConnectCallback?
    private var content: (any UIView & UIContentView)?
    /// How often the app has become active.
    private var returns = 0

    /// Creates a button.
    ///
    /// - Parameters:
    ///   - connection: the connection's identifier.
    ///   - accounts: has a client of `Service/ifttt`, whose redirect URI is the callback that is registered at IFTTT.
    ///   - tokens: how the user token is obtained. With a server of your own: `TokenDelivery/partnerServer(_:)`.
    ///   - log: receives what the button does; by default a logger of the connection's own.
    public init(_ connection: String, accounts: Handshake, tokens: TokenDelivery, log: Logger? = nil) {
        super.init(frame: .zero)
        connect(connection, accounts: accounts, tokens: tokens, log: log)
    }

    /// Creates a button that draws a model. The model's own closures receive what happens.
    public init(_ model: ConnectButtonModel) {
        super.init(frame: .zero)
        button = ConnectButton(model)
        show()
    }

    /// Creates the view of a storyboard, a preview until it is connected.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        show()
    }

    /// Gives the button of a storyboard its connection.
    ///
    /// - Parameters:
    ///   - connection: the connection's identifier.
    ///   - accounts: as for ``init(_:accounts:tokens:log:)``.
    ///   - tokens: as for ``init(_:accounts:tokens:log:)``.
    ///   - log: as for ``init(_:accounts:tokens:log:)``.
    public func connect(_ connection: String, accounts: Handshake, tokens: TokenDelivery, log: Logger? = nil) {
        button = ConnectButton(connection, accounts: accounts, tokens: tokens, log: log)
        show()
    }

    /// Handles a URL that the app was opened with.
    public func open(_ url: URL) {
        callback = ConnectCallback(url, number: (callback?.number ?? 0) + 1)
        show()
    }

    /// Fetches the connection when the app becomes active: the user may have changed it on IFTTT's page.
    private func refreshOnReturn() {
        Task { [weak self] in
            let name = UIApplication.didBecomeActiveNotification
            for await _ in NotificationCenter.default.notifications(named: name) {
                guard let self else { return }
                self.returns += 1
                self.show()
            }
        }
    }

    private func show() {
        let configuration = UIHostingConfiguration {
            if let button {
                (onSetUp.map { button.onSetUp($0) } ?? button)
                    .connectAccount(account).connectEmail(email).connectStyle(style).connectLocale(locale)
                    .onConnect { [weak self] in self?.onConnect($0) }
                    .onDisconnect { [weak self] in self?.onDisconnect($0) }
                    .onFailure { [weak self] in self?.onFailure($0) }
                    .environment(\.connectCallback, callback)
                    .environment(\.connectReturns, returns)
            } else {
                ConnectButtonContent(ConnectButtonState(.connect), locale: locale) { _ in }
            }
        }
        .margins(.all, 0)
        if let content {
            content.configuration = configuration
            return
        }
        let made = configuration.makeContentView()
        content = made
        refreshOnReturn()
        made.translatesAutoresizingMaskIntoConstraints = false
        addSubview(made)
        NSLayoutConstraint.activate([
            made.leadingAnchor.constraint(equalTo: leadingAnchor), made.topAnchor.constraint(equalTo: topAnchor),
            made.trailingAnchor.constraint(equalTo: trailingAnchor),
            made.bottomAnchor.constraint(equalTo: bottomAnchor),
        ])
    }
}
#endif
