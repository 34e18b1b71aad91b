public import Handshake
import OAuth
import Synchronization

/// The system browser with a loopback listener (RFC 8252, section 7.3). The listener catches the redirect. For
/// terminals and desktops.
///
/// Set ``callbackURL`` in the configuration. It must be registered at IFTTT, so use a fixed port. Only one page is awaited:
/// opening another one, and ``close()``, end the previous wait.
public struct LoopbackBrowser: ConnectBrowser {
    /// The redirect URI.
    public let callbackURL: CallbackURL

    private let show: @Sendable (SignInPage) async throws -> Void
    private let port: UInt16
    private let path: String
    private let page = OpenPage()
    private let held: Held

    /// Binds a port, and keeps it until the first page was answered. Later pages bind it again.
    ///
    /// - Parameters:
    ///   - browser: shows the page.
    ///   - port: a fixed port; nil for a free one.
    ///   - path: the path of the redirect URI, beginning with a slash.
    /// - Throws: ``ConnectError`` when the port is in use or the path is invalid.
    public init(_ browser: some Browser, port: UInt16? = nil, path: String = "/connect_callback") throws(ConnectError) {
        do {
            let listener = try LoopbackListener(port: port, path: path)
            let address = try EndpointURL(listener.redirectURI.string, security: .allowingInsecureLoopback)
            callbackURL = try CallbackURL(listener.redirectURI.string)
            self.port = UInt16(clamping: address.origin.port)
            held = Held(listener)
        } catch let error as ConnectError {
            throw error
        } catch {
            throw .input(member: "redirect", problem: "\(error)")
        }
        self.path = path
        show = { _ = try await browser.show($0) }
    }

    /// Shows the page and waits for its redirect.
    ///
    /// - Throws: `HandshakeError/signInAbandoned(_:)` when ``close()`` or another page ended the wait, and what the system
    ///   browser throws.
    public func open(_ destination: ConnectActivation.Destination) async throws -> String? {
        // A port has one listener, and a listener serves one redirect.
        try await page.show { [held, show, port, path] in
            let listener = try held.take() ?? LoopbackListener(port: port, path: path)
            let page = try destination.page(callback: listener.redirectURI)
            return try await withThrowingTaskGroup(of: String?.self) { group in
                group.addTask {
                    try await listener.redirect { url in
                        destination.isAnswered(by: url)
                            ? .accepted(url, page: ResultPage.received(service: "IFTTT", language: .user).html)
                            : .ignored(page: ResultPage.notForYou(language: .user).html)
                    }
                }
                group.addTask {
                    try await show(page)
                    return nil
                }
                defer { group.cancelAll() }
                while let result = try await group.next() {
                    if let url = result { return url }
                }
                throw CancellationError()
            }
        }
    }

    /// Ends the wait; the port is free when this returns.
    public func close() async {
        await page.close()
    }
}

/// The listener that holds the port until the first wait. A class, because a browser is a value and the port is not.
private final class Held: Sendable {
    private let listener: Mutex<LoopbackListener?>

    init(_ listener: LoopbackListener) {
        self.listener = Mutex(listener)
    }

    func take() -> LoopbackListener? { listener.withLock { $0.take() } }
}
