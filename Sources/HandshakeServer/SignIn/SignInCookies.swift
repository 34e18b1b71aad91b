#if Server
import Crypto
import Hummingbird
import OAuth

/// The cookie of the sign-in routes (RFC 6265; `oauth-security.md` B): a secret that identifies a browser.
///
/// Over TLS its name begins with `__Host-`, so that neither a subdomain nor a network attacker can set it. All sign-in
/// attempts of a browser share it.
struct SignInCookies: Sendable {
    let address: PublicAddress
    let random: RandomSource

    private var name: String { (address.isSecure ? "__Host-" : "") + "handshake-browser" }

    /// The browser that sent a request; nil for an unknown one.
    func browser(of request: Request) -> Browser? {
        request.cookies[name].flatMap { Browser(secret: $0.value) }
    }

    /// Creates a browser and the cookie that identifies it.
    func newBrowser() -> (browser: Browser, cookie: Cookie) {
        let secret = Base64URL.encode(random.bytes(32))
        let cookie = Cookie(name: name, value: secret, path: "/", secure: address.isSecure, sameSite: .lax)
        return (Browser(digestOf: secret), cookie)
    }

    /// A browser, by the digest of its secret.
    struct Browser: Sendable {
        let digest: String

        init?(secret: String) {
            guard secret.utf8.count == 43 else { return nil }
            self.init(digestOf: secret)
        }

        fileprivate init(digestOf secret: String) {
            digest = Base64URL.encode(SHA256.hash(data: Array(secret.utf8)))
        }
    }
}

/// What is stored with a sign-in attempt: the browser, and the page to return to.
struct SignInNote: Sendable {
    let browser: String
    let page: LocalPath

    init(browser: SignInCookies.Browser, page: LocalPath) {
        (self.browser, self.page) = (browser.digest, page)
    }

    /// Reads a note; nil if it is malformed.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let page = LocalPath(rawValue: String(parts[1])) else { return nil }
        (browser, self.page) = (String(parts[0]), page)
    }

    /// The note; neither part has a space.
    var text: String { "\(browser) \(page.rawValue)" }

    func isOf(_ browser: SignInCookies.Browser) -> Bool {
        Secret(self.browser).matches(Secret(browser.digest))
    }
}
#endif
