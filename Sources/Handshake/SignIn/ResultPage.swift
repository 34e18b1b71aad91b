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

    /// The form was another user's, who was logged in to the app when it was opened.
    package static func otherUser(language: Language) -> ResultPage {
        ResultPage(
            title: Words.pageOtherUserTitle.text(in: language), text: Words.pageOtherUserText.text(in: language),
            mark: "?", language: language)
    }

    /// The browser is that of another user of the computer.
    package static func foreign(language: Language) -> ResultPage {
        ResultPage(
            title: Words.pageForeignTitle.text(in: language), text: Words.pageForeignText.text(in: language), mark: "?",
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
    package static let styleHash = PlainPage.hash(of: style)

    private init(title: String, text: String, mark: String, language: Language) {
        html = PlainPage.html(
            title: title, language: language.tag, style: Self.style,
            main: """
                <p class="mark" aria-hidden="true">\(mark)</p>
                <h1>\(PlainPage.escaped(title))</h1>
                <p>\(PlainPage.escaped(text))</p>
                """)
    }

    private static let style =
        PlainPage.style + """
            main{max-width:28rem;padding:2rem 1.5rem;text-align:center}
            p{margin:0;color:var(--soft)}
            .mark{font-size:2.5rem;line-height:1;color:var(--accent)}
            """
}
