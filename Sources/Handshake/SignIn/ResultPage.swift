import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The page that the browser shows after a redirect: static, without links, scripts or anything from the request.
package struct ResultPage: Sendable {
    package let html: String

    /// The service's answer has arrived.
    package static func received(service: String, language: Language) -> ResultPage {
        ResultPage(
            title: Words.pageReceivedTitle.text(in: language), text: Words.pageReceivedText.text(in: language, service),
            mark: "✓", language: language)
    }

    /// The user or the service declined.
    package static func refused(service: String, language: Language) -> ResultPage {
        ResultPage(
            title: Words.pageRefusedTitle.text(in: language), text: Words.pageRefusedText.text(in: language, service),
            mark: "–", language: language)
    }

    /// The request answers nothing that was asked.
    package static func notForYou(language: Language) -> ResultPage {
        ResultPage(
            title: Words.pageIgnoredTitle.text(in: language), text: Words.pageIgnoredText.text(in: language), mark: "?",
            language: language)
    }

    /// No user is logged in to the app.
    package static func logIn(language: Language) -> ResultPage {
        ResultPage(
            title: Words.pageLogInTitle.text(in: language), text: Words.pageLogInText.text(in: language), mark: "?",
            language: language)
    }

    /// The user is signed out of this app.
    ///
    /// - Parameter service: the service that has confirmed that its own session has ended; nil says nothing of it.
    package static func signedOut(confirmedBy service: String?, language: Language) -> ResultPage {
        ResultPage(
            title: Words.pageSignedOutTitle.text(in: language),
            text: service.map { Words.pageSignedOutThereText.text(in: language, $0) }
                ?? Words.pageSignedOutText.text(in: language),
            mark: "✓", language: language)
    }

    /// It does not work now, and may work later.
    package static func later(language: Language) -> ResultPage {
        ResultPage(
            title: Words.pageLaterTitle.text(in: language), text: Words.pageLaterText.text(in: language), mark: "–",
            language: language)
    }

    /// The hash by which the Content-Security-Policy allows the page's one style sheet.
    package static let styleHash = "sha256-" + Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()

    private init(title: String, text: String, mark: String, language: Language) {
        html = """
            <!doctype html>
            <html lang="\(escaped(language.tag))">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <title>\(escaped(title))</title>
            <link rel="icon" href="data:,">
            <style>\(Self.style)</style>
            </head>
            <body><main>
            <p class="mark" aria-hidden="true">\(mark)</p>
            <h1>\(escaped(title))</h1>
            <p>\(escaped(text))</p>
            </main></body>
            </html>

            """
    }

    private static let style = """
        :root{color-scheme:light dark;--ground:#f6f7f5;--ink:#1d2420;--soft:#4d5851;--accent:#1f6b4f}
        @media (prefers-color-scheme:dark){:root{--ground:#141816;--ink:#eef2ef;--soft:#b3beb7;--accent:#7fd1ae}}
        body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--ground);color:var(--ink);\
        font:1.0625rem/1.6 system-ui,sans-serif}
        main{max-width:28rem;padding:2rem 1.5rem;text-align:center}
        h1{font-size:1.5rem;line-height:1.3;margin:.5rem 0}
        p{margin:0;color:var(--soft)}
        .mark{font-size:2.5rem;line-height:1;color:var(--accent)}
        """
}

/// Text made safe for HTML, in content and in quoted attributes.
private func escaped(_ text: String) -> String {
    text.map { character in
        switch character {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: String(character)
        }
    }.joined()
}
