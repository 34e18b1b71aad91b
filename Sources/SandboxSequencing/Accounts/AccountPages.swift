#if Sandbox
import HTTPTypes
import Mustache
import SandboxCore

/// The pages that the sign-in page links: a new account, and a forgotten password (Sequencing dossier, sections 1.2 and
/// 2). Nothing is mailed.
struct AccountPages: Sendable {
    static let registrationPath = "/user/register"
    static let passwordPath = "/user/password"

    let pages: Pages
    let accounts: AccountRoutes

    var routes: [Route] {
        [
            Route("GET", "POST", path: Self.registrationPath, note: "the page for a new account") {
                answer($0, registering: true)
            },
            Route("GET", "POST", path: Self.passwordPath, note: "the page for a forgotten password") {
                answer($0, registering: false)
            },
        ]
    }

    private struct View {
        let title: String
        let button: String
        let path: String
        let email: String
        let problem: String?
        let isSent: Bool
    }

    private func answer(_ request: IncomingRequest, registering: Bool) -> Answer {
        let title = registering ? "Create an account" : "Choose a new password"
        let email = request.form["email"] ?? ""
        let isAsked = request.method == "POST"
        let problem = isAsked ? accounts.complaint(registering: registering, email) : nil
        let view = View(
            title: title, button: registering ? "Create the account" : "Send the link",
            path: registering ? Self.registrationPath : Self.passwordPath, email: email, problem: problem,
            isSent: isAsked && problem == nil)
        return pages.page(title, Template.account.render(view), status: problem == nil ? 200 : 422)
    }
}

extension Template {
    fileprivate static let account = Template(
        """
        <h1>{{title}}</h1>
        {{#isSent}}<p role="status">A mail would now be on its way to {{email}}. A sandbox sends none.</p>{{/isSent}}
        {{^isSent}}
        {{#problem}}<div class="problem" role="alert" id="problem"><p>{{problem}}</p></div>{{/problem}}
        <form method="post" action="{{path}}">
        <div class="field"><label for="email">E-mail address</label>
        <input id="email" name="email" type="email" value="{{email}}" autocomplete="email" required\
        {{#problem}} aria-invalid="true" aria-describedby="problem"{{/problem}}></div>
        <button type="submit">{{button}}</button>
        </form>
        {{/isSent}}
        """)
}
#endif
