#if Sandbox
import HTTPTypes
import Mustache

/// The pages of one service, in the words of its dialect.
///
/// Every page is complete without scripts, but for the two that are about one, and none takes anything from elsewhere;
/// its content security policy says so.
package struct Pages: Sendable {
    package let dialect: Dialect

    package init(dialect: Dialect) {
        self.dialect = dialect
    }

    /// The frame of every page.
    private struct Frame {
        let title: String
        let brand: String
        let isWide: Bool
        let css: String
        let style: String?
        let content: String
    }

    /// A whole page.
    ///
    /// - Parameter formTargets: where a form's answer may redirect, besides this service; Chromium applies
    ///   `form-action` to redirects too.
    /// - Parameter scriptSources: what may run, and fetch from this service; nothing by default.
    /// - Parameter style: rules for this page alone, made of our own text.
    /// - Parameter frames: the origins whose pages may stand in it; nothing by default.
    package func page(
        _ title: String, _ content: String, status: Int = 200, isWide: Bool = false, formTargets: [String] = [],
        scriptSources: [String] = [], style: String = "", frames: [String] = []
    ) -> Answer {
        let style = (dialect.colors?.css ?? "") + style
        let frame = Frame(
            title: "\(title) · \(dialect.title) (sandbox)", brand: dialect.title, isWide: isWide,
            css: Stylesheet.text, style: style.isEmpty ? nil : style, content: content)
        let scripts =
            scriptSources.isEmpty ? [] : ["script-src \(scriptSources.joined(separator: " "))", "connect-src 'self'"]
        let styles = ([Stylesheet.hash] + (style.isEmpty ? [] : [Stylesheet.hash(of: style)])).map { "'\($0)'" }
        let policy =
            ["default-src 'none'", "style-src \(styles.joined(separator: " "))"] + scripts
            + (frames.isEmpty ? [] : ["frame-src \(frames.joined(separator: " "))"]) + [
                "form-action \((["'self'"] + formTargets).joined(separator: " "))", "base-uri 'none'",
                "frame-ancestors 'none'",
            ]
        return Answer(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy.joined(separator: "; "),
                .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
            ],
            body: Array(Template.frame.render(frame).utf8)
        ).setting("Referrer-Policy", "no-referrer").setting("X-Frame-Options", "DENY")
    }

    /// The page for a request that cannot be answered with a redirect.
    package func refusal(_ detail: String) -> Answer {
        page("Request rejected", Template.refusal.render(["detail": detail]), status: 400)
    }

    /// The page that shows a code to copy.
    package func code(_ code: String, for authorization: PendingAuthorization) -> Answer {
        page("Copy your code", Template.code.render(["code": code, "client": authorization.client.id]))
    }

    /// The page for an address that the service does not have.
    package func notFound() -> Answer {
        page("Nothing here", Template.notFound.render([:] as [String: String]), status: 404)
    }
}
#endif
