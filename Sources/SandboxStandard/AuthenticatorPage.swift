#if Sandbox
import SandboxCore

/// The page that stands for a user's own device: it shows what clients ask of the user, who allows it, refuses it or waits (CIBA).
///
/// Each decision takes the password, so that no other site can submit it for the user.
struct AuthenticatorPage: Sendable {
    let requests: BackchannelRequests
    let pages: Pages

    private struct Entry {
        let name: String
        let problem: String?
        let people: [SandboxUser]
    }

    private struct Waiting {
        let name: String
        let allow: String
        let refuse: String
        let problem: String?
        let requests: [Request]
    }

    private struct Request {
        let id: String
        let client: String
        let message: String?
        let scopes: [String]
    }

    /// `GET`: the form for the user.
    func show(_ request: IncomingRequest) -> Answer { entry() }

    /// `POST`: the user, or a decision.
    func submit(_ request: IncomingRequest) -> Answer {
        let name = request.form["email"] ?? ""
        guard let user = requests.server.dialect.user(name), user.password == request.form["password"] else {
            return entry(name, problem: "Wrong email address or password. The valid ones are listed below.")
        }
        guard let decision = request.form["op"] else { return waiting(for: user) }
        let wording = requests.server.dialect.wording
        guard decision == wording.allow || decision == wording.refuse else { return waiting(for: user) }
        let isAllowed = decision == wording.allow
        guard requests.decide(isAllowed ? .approved : .denied, onPage: request.form["request"] ?? "", as: user) else {
            return waiting(for: user, problem: "This request is unknown, has expired, or has already been decided.")
        }
        let title = isAllowed ? "Access allowed" : "Access refused"
        return pages.page(title, Self.doneTemplate.render(["title": title]))
    }

    private func entry(_ name: String? = nil, problem: String? = nil) -> Answer {
        let people = requests.server.dialect.users
        return pages.page(
            "Your device",
            Self.entryTemplate.render(Entry(name: name ?? people.first?.name ?? "", problem: problem, people: people)))
    }

    private func waiting(for user: SandboxUser, problem: String? = nil) -> Answer {
        let wording = requests.server.dialect.wording
        let waiting = requests.waiting(for: user).map { request in
            Request(
                id: request.pageID, client: request.client.id, message: request.bindingMessage,
                scopes: request.scope.map { wording.scopes[$0] ?? $0 })
        }
        return pages.page(
            "Requests",
            Self.waitingTemplate.render(
                Waiting(
                    name: user.name, allow: wording.allow, refuse: wording.refuse, problem: problem, requests: waiting))
        )
    }

    private static let entryTemplate = Template(
        """
        <h1>Your device</h1>
        <p class="quiet">What apps ask you elsewhere is shown here.</p>
        {{#problem}}<div class="problem" role="alert" id="problem"><p>{{problem}}</p></div>{{/problem}}
        <form method="post" action="authenticator">
        \(UserFields.credentials)
        <button type="submit">Continue</button>
        </form>
        \(UserFields.users)
        """)

    private static let waitingTemplate = Template(
        """
        <h1>Requests to {{name}}</h1>
        {{#problem}}<div class="problem" role="alert" id="problem"><p>{{problem}}</p></div>{{/problem}}
        {{^requests}}<p>No requests are pending.</p>{{/requests}}
        {{#requests}}<section aria-labelledby="client-{{id}}">
        <h2 id="client-{{id}}">Allow {{client}} to use your account?</h2>
        {{#message}}<p>Check that the app shows <code>{{message}}</code>.</p>{{/message}}
        <p>Go on only if you started this yourself. It will be able to:</p>
        <ul class="scopes">{{#scopes}}<li>{{.}}</li>{{/scopes}}</ul>
        <form method="post" action="authenticator">
        <input type="hidden" name="request" value="{{id}}">
        <input type="hidden" name="email" value="{{name}}">
        <div class="field"><label for="password-{{id}}">Password</label>
        <input id="password-{{id}}" name="password" type="password" autocomplete="current-password" required></div>
        <div class="choices"><button type="submit" name="op" value="{{allow}}">{{allow}}</button>
        <button type="submit" name="op" value="{{refuse}}" class="second">{{refuse}}</button></div>
        </form></section>{{/requests}}
        """)

    private static let doneTemplate = Template(
        """
        <h1>{{title}}</h1>
        <p>You can close this page and go back to the app.</p>
        """)
}
#endif
