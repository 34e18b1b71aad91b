#if Server
import Crypto
import Hummingbird
import OAuth

/// The cookies of the sign-in routes (RFC 6265; `oauth-security.md` B): a secret that identifies a browser.
///
/// Over TLS their names begin with `__Host-`, so that neither a subdomain nor a network attacker can set them. All sign-in
/// attempts of a browser share one. The first attempt also sets one of its own, with the same secret, for as long as an
/// attempt takes: when a new browser starts several at the same time, the last answer replaces the shared one.
struct SignInCookies: Sendable {
    let address: PublicAddress
    let random: RandomSource

    private var name: String { (address.isSecure ? "__Host-" : "") + "handshake-browser" }

    /// The browser that sent a request; nil for an unknown one.
    func browser(of request: Request) -> Browser? {
        request.cookies[name].flatMap { Browser(secret: $0.value) }
    }

    /// The browser that sent a request, if it is the one that an attempt has noted.
    func browser(of request: Request, noted digest: String) -> Browser? {
        for key in [name, nameOfFirst(digest)] {
            guard let browser = request.cookies[key].flatMap({ Browser(secret: $0.value) }) else { continue }
            if Secret(digest).matches(Secret(browser.digest)) { return browser }
        }
        return nil
    }

    /// The name of the cookie that is the first attempt's alone.
    private func nameOfFirst(_ digest: String) -> String { "\(name)-\(digest.prefix(16))" }

    /// How long an attempt takes, in seconds.
    private static let lifetime = 600

    /// Creates a browser and the cookies that identify it.
    func newBrowser() -> (browser: Browser, cookies: [Cookie]) {
        let secret = Base64URL.encode(random.bytes(32))
        let browser = Browser(digestOf: secret)
        let shared = Cookie(name: name, value: secret, path: "/", secure: address.isSecure, sameSite: .lax)
        let first = Cookie(
            name: nameOfFirst(browser.digest), value: secret, maxAge: Self.lifetime, path: "/",
            secure: address.isSecure, sameSite: .lax)
        return (browser, [shared, first])
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
    /// The digest of the browser's secret.
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
}
#endif
