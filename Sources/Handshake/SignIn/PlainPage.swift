import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The frame of a page that loads nothing and has one style sheet of its own.
package enum PlainPage {
    /// The referrer policy of a page with a form: the origin alone, because the page's URL may have a code or a ticket.
    ///
    /// Without a referrer browsers would send the form with `Origin: null`, as a page of another site does (the Fetch standard).
    package static let formReferrerPolicy = "strict-origin"

    /// The page.
    ///
    /// - Parameters:
    ///   - main: the content, as HTML.
    ///   - hasForm: whether a form of the page is posted to its own server, which needs ``formReferrerPolicy``.
    package static func html(
        title: String, language: String, style: String, main: String, hasForm: Bool = false
    ) -> String {
        """
        <!doctype html>
        <html lang="\(escaped(language))">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="\(hasForm ? formReferrerPolicy : "no-referrer")">
        <title>\(escaped(title))</title>
        <link rel="icon" href="data:,">
        <style>\(style)</style>
        </head>
        <body><main>
        \(main)
        </main></body>
        </html>

        """
    }

    /// The source expression by which a Content-Security-Policy allows a style sheet.
    package static func hash(of style: String) -> String {
        "sha256-" + Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
    }

    /// What the style sheets begin with: colours for light and dark, and a column in the middle.
    package static let style = """
        :root{color-scheme:light dark;--ground:#f6f7f5;--ink:#1d2420;--soft:#4d5851;--accent:#1f6b4f}
        @media (prefers-color-scheme:dark){:root{--ground:#141816;--ink:#eef2ef;--soft:#b3beb7;--accent:#7fd1ae}}
        body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--ground);color:var(--ink);\
        font:1.0625rem/1.6 system-ui,sans-serif}
        h1{font-size:1.5rem;line-height:1.3;margin:.5rem 0}

        """

    /// The style sheet of a page with a form: sentences and buttons in a narrow column.
    package static let formStyle =
        style + """
            :root{--on:#fff}
            @media (prefers-color-scheme:dark){:root{--on:#0d1512}}
            main{max-width:28rem;padding:2rem 1.5rem;text-align:center;overflow-wrap:anywhere}
            p{margin:.75rem 0;color:var(--soft)}
            button{font:inherit;padding:.6rem 1.2rem;margin:.25rem;border:2px solid var(--accent);border-radius:.5rem;\
            background:var(--accent);color:var(--on)}

            """

    /// Text made safe for HTML, in content and in quoted attributes.
    package static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            default: String(scalar)
            }
        }.joined()
    }
}
