public import Handshake
import OAuth
import Synchronization

/// Sends the user to the service. Always to a browser of the user's own or to the IFTTT app, never to a view inside the
/// app, which could read the password (RFC 8252, section 8.12) and knows nobody who is signed in already.
public protocol ConnectBrowser: Sendable {
    /// Opens a destination, in place of one that is open still.
    ///
    /// - Returns: the redirect URL, from a browser that catches it itself; nil from one that only opens, so that the
    ///   redirect comes another way (``ConnectController/open(_:)``).
    /// - Throws: `HandshakeError/signInAbandoned(_:)` when the user closed the page; another error when it cannot be
    ///   opened.
    func open(_ destination: ConnectActivation.Destination) async throws -> String?

    /// Closes what is still open; the redirect has come, or the user went back.
    func close() async
}

extension ConnectBrowser {
    /// For browsers that cannot be closed from here.
    public func close() async {}
}

/// The system's browser and a listener on this machine that catches the redirect: for terminals and desktops (RFC 8252,
/// section 7.3).
///
/// Give ``returnAddress`` to the configuration. It has to be registered at IFTTT, so a fixed port is the rule there. One page
/// is waited for at a time: opening another one, and ``close()``, end the wait for the one before.
public struct LoopbackBrowser: ConnectBrowser {
    /// Where the redirect arrives.
    public let returnAddress: ReturnAddress

    private let show: @Sendable (SignInPage) async throws -> Void
    private let port: UInt16
    private let path: String
    private let wait: LoopbackWait

    /// Takes a port, and keeps it until the first page has been answered. Later pages take it again.
    ///
    /// - Parameters:
    ///   - browser: what shows the page.
    ///   - port: a fixed port; nil for one that is free now.
    ///   - path: where the redirect arrives, beginning with a slash.
    /// - Throws: ``ConnectError`` when the port is taken or the path is not one.
    public init(_ browser: some Browser, port: UInt16? = nil, path: String = "/connect_callback") throws(ConnectError) {
        do {
            let listener = try LoopbackListener(port: port, path: path)
            let address = try EndpointURL(listener.redirectURI.string, security: .allowingInsecureLoopback)
            returnAddress = try ReturnAddress(listener.redirectURI.string)
            self.port = UInt16(clamping: address.origin.port)
            wait = LoopbackWait(listener)
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
    /// - Throws: `HandshakeError/signInAbandoned(_:)` when the wait was ended by ``close()`` or by another page, and what the
    ///   system's browser throws.
    public func open(_ destination: ConnectActivation.Destination) async throws -> String? {
        // Two listeners cannot have the port.
        let (listener, closing) = await wait.begin()
        defer { wait.hasEnded() }
        // A listener serves one redirect.
        return try await redirect(
            of: destination, at: try listener ?? LoopbackListener(port: port, path: path), until: closing)
    }

    /// Ends the wait; the port is free when this returns.
    public func close() async {
        await wait.end()
    }

    private func redirect(
        of destination: ConnectActivation.Destination, at listener: LoopbackListener, until closing: AsyncStream<Void>
    ) async throws -> String? {
        let page = try destination.page(returningTo: listener.redirectURI)
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                for await _ in closing {}
                try Task.checkCancellation()
                throw HandshakeError.signInAbandoned(.closed)
            }
            group.addTask {
                try await listener.redirect { url in
                    destination.isAnswered(by: url)
                        ? .accepted(page: ResultPage.received(service: "IFTTT", language: .user).html)
                        : .ignored(page: ResultPage.notForYou.html)
                }
            }
            group.addTask { [show] in
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

/// The wait for a redirect, and before the first one the listener that holds the port for it. A class, because a browser is
/// a value and the port is not.
private final class LoopbackWait: Sendable {
    private struct State {
        var listener: LoopbackListener?
        /// Finishes when the wait is to end; nil when nobody waits.
        var closing: AsyncStream<Void>.Continuation?
        /// Those who want it to have ended.
        var impatient: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ listener: LoopbackListener) {
        state = Mutex(State(listener: listener))
    }

    /// Ends the wait before, and begins another: with the listener that there is already, and the stream that finishes when
    /// the wait is to end.
    func begin() async -> (LoopbackListener?, AsyncStream<Void>) {
        let (closings, closing) = AsyncStream<Void>.makeStream()
        while true {
            await end()
            let turn = state.withLock { state -> LoopbackListener?? in
                // Somebody else may have begun.
                guard state.closing == nil else { return nil }
                state.closing = closing
                return .some(state.listener.take())
            }
            if let turn { return (turn, closings) }
        }
    }

    func hasEnded() {
        let impatient = state.withLock { state in
            defer { (state.closing, state.impatient) = (nil, []) }
            return state.impatient
        }
        for waiting in impatient { waiting.resume() }
    }

    /// Ends the wait, and returns when it has ended.
    func end() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard let closing = state.closing else { return true }
                closing.finish()
                state.impatient.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}

/// A browser of the floor below, such as the one that catches redirects on Apple's platforms.
public struct PageBrowser: ConnectBrowser {
    private let browser: any Browser

    public init(_ browser: some Browser) {
        self.browser = browser
    }

    /// Shows the page.
    ///
    /// - Throws: `OAuthError/configuration(member:problem:)` inside `HandshakeError/exchange(_:)` for a private scheme
    ///   without a period, which the floor below refuses (RFC 8252, section 8.4).
    public func open(_ destination: ConnectActivation.Destination) async throws -> String? {
        do {
            return try await browser.show(
                destination.page(returningTo: try RedirectURI(destination.redirect.rawValue)))
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        }
    }
}

extension ConnectActivation.Destination {
    /// The destination as a page of the floor below.
    fileprivate func page(returningTo redirect: RedirectURI) throws -> SignInPage {
        let place = try EndpointURL(String(url.prefix { $0 != "?" }), security: .allowingInsecureLoopback)
        return SignInPage(
            url: url, redirectURI: redirect, service: "IFTTT", issuer: Issuer(originOf: place),
            host: place.origin.authority)
    }
}
