public import Handshake
import OAuth

/// Sends the user to the service. Always to a browser of the user's own or to the IFTTT app, never to a view inside the
/// app, which could read the password (RFC 8252, section 8.12) and knows nobody who is signed in already.
public protocol ConnectBrowser: Sendable {
    /// Opens a destination.
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
/// Give ``returnAddress`` to the configuration. It has to be registered at IFTTT, so a fixed port is the rule there.
public struct LoopbackBrowser: ConnectBrowser {
    /// Where the redirect arrives.
    public let returnAddress: ReturnAddress

    private let show: @Sendable (SignInPage) async throws -> Void
    private let port: UInt16
    private let path: String

    /// Finds a port.
    ///
    /// - Parameters:
    ///   - browser: what shows the page.
    ///   - port: a fixed port; nil for one that is free now.
    ///   - path: where the redirect arrives, beginning with a slash.
    /// - Throws: ``ConnectError`` when the port is taken or the path is not one.
    public init(_ browser: some Browser, port: UInt16? = nil, path: String = "/connect_callback") throws(ConnectError) {
        do {
            // Opened to learn the port, and again for each page: a listener serves one redirect.
            let listener = try LoopbackListener(port: port, path: path)
            let address = try EndpointURL(listener.redirectURI.string, security: .allowingInsecureLoopback)
            returnAddress = try ReturnAddress(listener.redirectURI.string)
            self.port = UInt16(clamping: address.origin.port)
        } catch let error as ConnectError {
            throw error
        } catch {
            throw .input(member: "redirect", problem: "\(error)")
        }
        self.path = path
        show = { _ = try await browser.show($0) }
    }

    public func open(_ destination: ConnectActivation.Destination) async throws -> String? {
        let listener = try LoopbackListener(port: port, path: path)
        let page = try destination.page(returningTo: listener.redirectURI)
        return try await withThrowingTaskGroup(of: String?.self) { group in
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
