#if Sandbox
import Mustache

extension Pages {
    private struct Posting {
        struct Field {
            let name: String
            let value: String
        }

        let action: String
        let fields: [Field]
        let script: String
    }

    private static let script = "document.forms[0].submit()"

    /// The page that posts a response to the app (OAuth 2.0 Form Post Response Mode).
    ///
    /// - Parameter location: the redirect URI with the response as its query.
    func posting(_ location: String) -> Answer {
        let parts = location.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let action = String(parts[0])
        let fields = FormParameters(urlEncoded: parts.count > 1 ? Array(parts[1].utf8) : []).pairs
        let view = Posting(
            action: action, fields: fields.map { Posting.Field(name: $0.name, value: $0.value) }, script: Self.script)
        return page(
            "Back to the app", Template.posting.render(view), formTargets: Self.formTargets(redirect: action),
            scriptSources: ["'\(Stylesheet.hash(of: Self.script))'"])
    }
}
#endif
