/// The page on which a user confirms that an account is to be connected: one form, without links and scripts.
package struct ConnectPage: Sendable {
    package let html: String

    /// The hash by which the Content-Security-Policy allows the page's one style sheet.
    package static let styleHash = PlainPage.hash(of: PlainPage.formStyle)

    /// Describes the page.
    ///
    /// - Parameters:
    ///   - service: the service's name.
    ///   - action: where the form is posted to, relative to the page.
    ///   - fields: what the form says.
    package init(service: String, action: String, fields: [(name: String, value: String)], language: Language) {
        let title = Words.pageConnectTitle.text(in: language, service)
        let inputs = fields.map { field in
            #"<input type="hidden" name="\#(PlainPage.escaped(field.name))" value="\#(PlainPage.escaped(field.value))">"#
        }
        html = PlainPage.html(
            title: title, language: language.tag, style: PlainPage.formStyle,
            main: """
                <h1>\(PlainPage.escaped(title))</h1>
                <p>\(PlainPage.escaped(Words.pageConnectText.text(in: language)))</p>
                <form method="post" action="\(PlainPage.escaped(action))">
                \(inputs.joined(separator: "\n"))
                <button>\(PlainPage.escaped(Words.pageConnectButton.text(in: language, service)))</button>
                </form>
                """, hasForm: true)
    }
}
