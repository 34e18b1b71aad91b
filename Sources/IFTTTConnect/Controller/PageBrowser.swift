package import Handshake
import OAuth

/// Adapts a `Browser` of Handshake, such as the one that catches redirects on Apple's platforms.
///
/// One page is open at a time: opening another one, and ``close()``, cancel the previous one.
package struct PageBrowser: ConnectBrowser {
    private let browser: any Browser
    private let page = OpenPage()

    package init(_ browser: some Browser) {
        self.browser = browser
    }

    /// Shows the page.
    ///
    /// - Throws: `HandshakeError/signInAbandoned(_:)` when ``close()`` or another page ended it, and what the browser
    ///   throws.
    package func open(_ destination: ConnectActivation.Destination) async throws -> String? {
        try await page.show { [browser] in
            try await browser.show(destination.page(callback: destination.redirect.redirectURI))
        }
    }

    /// Closes the page, and returns when it is closed.
    package func close() async {
        await page.close()
    }
}

extension ConnectActivation.Destination {
    /// The destination as a page of Handshake.
    func page(callback redirect: RedirectURI) throws -> SignInPage {
        let place = try EndpointURL(String(url.prefix { $0 != "?" }), security: .allowingInsecureLoopback)
        return SignInPage(
            url: url, redirectURI: redirect, service: "IFTTT", issuer: Issuer(originOf: place),
            host: place.origin.authority)
    }
}
