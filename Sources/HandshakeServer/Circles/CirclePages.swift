#if Server
import HTTPTypes
import Handshake
import Hummingbird

/// The pages on which a browser joins a circle: without scripts, and with one form each.
enum CirclePages {
    /// Shows the code, and leads to the service.
    static func verify(_ attempt: CircleAttempts.Attempt, circle: String, service: String) -> Response {
        page(
            title: "Join \(circle)",
            body: """
                <p>Check that your device shows this code:</p>
                <p class="code"><output>\(escaped(attempt.code))</output></p>
                <p>If it shows another one, close this page: someone else's device would join in your name.</p>
                <form method="post"><button>Sign in at \(escaped(service))</button></form>
                """)
    }

    /// Asks whether the device may join.
    static func ask(
        _ applicant: CircleApplicant, isReplacing: Bool, token: String, circle: String
    ) -> Response {
        page(
            title: "Join as \(applicant.name)?",
            body: """
                <p>Members of \(escaped(circle)) will see your name\(applicant.batch.isEmpty ? "" : ", your batch")\
                \(applicant.photo == nil ? "" : ", your photo") and when you are near, while you let them.</p>
                \(applicant.hasLargePhoto ? largePhoto : "")\(isReplacing ? replacement : "")
                <form method="post" action="join">
                <input type="hidden" name="token" value="\(escaped(token))">
                <button name="answer" value="yes">Join</button>
                <button name="answer" value="no" class="quiet">Do not join</button>
                </form>
                """)
    }

    private static let largePhoto =
        "<p>Your photo has more than \(CircleApplicant.maximumPhotoSize) bytes: the circle leaves it out.</p>"
    private static let replacement =
        """
        <p>This device gets a new identity. Your other devices are signed out of the circle, and members are told to ask you in \
        person whether it is you.</p>
        """

    static let joined = page(title: "You have joined", body: "<p>Go back to your device. You can close this page.</p>")
    static let declined = page(title: "You have not joined", body: "<p>Nothing is stored. You can close this page.</p>")

    static func notAMember(service: String) -> Response {
        page(
            title: "Only members can join",
            body: "<p>\(escaped(service)) does not say that you are a member. Nothing is stored.</p>",
            status: .forbidden)
    }

    static let ended = page(
        title: "This page can no longer be used",
        body: "<p>Start again on your device, and open the new page within ten minutes.</p>",
        status: .gone)

    private static func page(title: String, body: String, status: HTTPResponse.Status = .ok) -> Response {
        let html = PlainPage.html(
            title: title, language: "en", style: style, main: "<h1>\(escaped(title))</h1>\n\(body)", hasForm: true)
        return Response.formPage(html, styleHash: styleHash, status: status)
    }

    private static let style =
        PlainPage.formStyle + """
            .code{font:600 2rem/1.2 ui-monospace,monospace;color:var(--ink);letter-spacing:.05em}
            .quiet{background:transparent;color:var(--accent)}
            """

    private static let styleHash = PlainPage.hash(of: style)

    private static func escaped(_ text: String) -> String { PlainPage.escaped(text) }
}
#endif
