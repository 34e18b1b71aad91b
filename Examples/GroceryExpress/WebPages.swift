#if Server && Sandbox
import ExampleServer
import ConnectButton
import Foundation
import Hummingbird

/// Two pages that a developer can copy: the button in plain HTML, and in React (`Web/`).
///
/// They have their scripts inside, so their policy allows those; the React page loads React from its network.
enum WebPages {
    static func add(to router: Router<BasicRequestContext>, visits: Visits) {
        router.get("plain.html") { request, _ in
            page(PackageResources.plain_html, scripts: "'self' 'unsafe-inline'", request, visits)
        }
        router.get("react.html") { request, _ in
            page(PackageResources.react_html, scripts: "'self' 'unsafe-inline' https://unpkg.com", request, visits)
        }
        router.get("pages.css") { _, _ in Response.text(style, type: "text/css; charset=utf-8") }
    }

    private static let style =
        ConnectButtonScript.reservation + """
            :root{color-scheme:light dark;font:1rem/1.5 system-ui,"Noto Sans",sans-serif}
            body{max-width:40rem;margin:0 auto;padding:1rem}
            button{min-height:2.75rem}

            """

    private static func page(
        _ bytes: [UInt8], scripts: String, _ request: Request, _ visits: Visits
    ) -> Response {
        var response = Response.page(String(decoding: bytes, as: UTF8.self))
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; script-src \(scripts); style-src 'self'; connect-src 'self'; img-src * data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        // The button needs a customer: as on the shop's own pages, a new visitor is logged in as one.
        if let cookie = visits.visit(of: request).cookie { response.setCookie(cookie) }
        return response
    }
}
#endif
