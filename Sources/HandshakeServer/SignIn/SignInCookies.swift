#if Server
import Crypto
import HTTPTypes
import Hummingbird
import OAuth

/// The one cookie of the sign-in routes (RFC 6265; `oauth-security.md` B): a secret by which a browser is known again.
///
/// Where the server is reached by TLS its name begins with `__Host-`: no subdomain and no network can plant one. It is the
/// same for all sign-ins of a browser, so beginning many fills no header.
struct SignInCookies: Sendable {
    let address: PublicAddress
    let random: RandomSource

    private var name: String { (address.isSecure ? "__Host-" : "") + "handshake-browser" }

    /// Who a browser is; nil for one that is not known yet. What a browser sends is read as anything else from outside.
    func browser(of request: Request) -> Browser? {
        for field in request.headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                guard pair.hasPrefix(name + "=") else { continue }
                return Browser(secret: String(pair.dropFirst(name.utf8.count + 1)))
            }
        }
        return nil
    }

    /// A browser that was not known before, and the field that makes it so.
    func newBrowser() -> (browser: Browser, field: String) {
        let secret = Base64URL.encode(random.bytes(32))
        let field = "\(name)=\(secret); Path=/; HttpOnly; SameSite=Lax" + (address.isSecure ? "; Secure" : "")
        return (Browser(digestOf: secret), field)
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

/// What is noted of a sign-in that was begun: in which browser, and where to go afterwards.
struct SignInNote: Sendable {
    let browser: String
    let page: LocalPath

    init(browser: SignInCookies.Browser, page: LocalPath) {
        (self.browser, self.page) = (browser.digest, page)
    }

    /// Reads a note; nil for none of ours.
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
