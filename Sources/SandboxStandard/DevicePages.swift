#if Sandbox
import SandboxCore

/// The pages on which a user approves a device: the code, then the decision (RFC 8628 section 3.3).
///
/// The second form takes the password each time, so that no other site can submit it for the user.
struct DevicePages: Sendable {
    let devices: DeviceGrants
    let pages: Pages

    private static let unknownCode = "This code is unknown, has expired or was used. Check it, or get another one."

    private struct Entry {
        let code: String
        let problem: String?
    }

    private struct Approval {
        let client: String
        let code: String
        let name: String
        let scopes: [String]
        let allow: String
        let refuse: String
        let problem: String?
        let people: [SandboxUser]
    }

    /// `GET`: the form for the code or, when the address has it, for the decision.
    func show(_ request: IncomingRequest) -> Answer {
        guard let code = request.query["user_code"] else { return entry() }
        return approval(code)
    }

    /// `POST`: a code, or a decision.
    func submit(_ request: IncomingRequest) -> Answer {
        let code = request.form["user_code"] ?? ""
        guard let decision = request.form["op"] else { return approval(code) }
        let name = request.form["email"] ?? ""
        guard let user = devices.server.dialect.user(name), user.password == request.form["password"] else {
            return approval(
                code, name: name, problem: "Wrong email address or password. The valid ones are listed below.")
        }
        let isAllowed = decision == devices.server.dialect.wording.allow
        guard isAllowed || decision == devices.server.dialect.wording.refuse else { return approval(code, name: name) }
        let isKnown = devices.decide(code, isAllowed ? .approved(user, at: devices.server.clock.now) : .denied)
        return isKnown ? done(isAllowed) : entry(code, problem: Self.unknownCode)
    }

    private func entry(_ code: String = "", problem: String? = nil) -> Answer {
        pages.page("Enter your code", Self.entryTemplate.render(Entry(code: code, problem: problem)))
    }

    private func approval(_ code: String, name: String? = nil, problem: String? = nil) -> Answer {
        guard let request = devices.request(code) else { return entry(code, problem: Self.unknownCode) }
        let dialect = devices.server.dialect
        let view = Approval(
            client: request.client.id, code: request.userCode, name: name ?? dialect.users.first?.name ?? "",
            scopes: request.scope.map { dialect.wording.scopes[$0] ?? $0 }, allow: dialect.wording.allow,
            refuse: dialect.wording.refuse, problem: problem, people: dialect.users)
        return pages.page("Allow access", Self.approvalTemplate.render(view))
    }

    private func done(_ isAllowed: Bool) -> Answer {
        pages.page(
            isAllowed ? "Access allowed" : "Access refused",
            Self.doneTemplate.render(["title": isAllowed ? "Access allowed" : "Access refused"]))
    }

    private static let entryTemplate = Template(
        """
        <h1>Enter your code</h1>
        <p class="quiet">Your device shows it.</p>
        {{#problem}}<div class="problem" role="alert" id="problem"><p>{{problem}}</p></div>{{/problem}}
        <form method="post" action="device">
        <div class="field"><label for="user_code">Code</label>
        <input id="user_code" name="user_code" type="text" value="{{code}}" autocomplete="one-time-code" \
        autocapitalize="characters" spellcheck="false" required autofocus\
        {{#problem}} aria-invalid="true" aria-describedby="problem"{{/problem}}></div>
        <button type="submit">Continue</button>
        </form>
        """)

    private static let approvalTemplate = Template(
        """
        <h1>Allow {{client}} to use your account?</h1>
        <p>Check that your device shows the code <code id="code">{{code}}</code>. Go on only if you started this yourself.</p>
        {{#problem}}<div class="problem" role="alert" id="problem"><p>{{problem}}</p></div>{{/problem}}
        <h2 id="scopes">It will be able to</h2>
        <ul class="scopes" aria-labelledby="scopes">{{#scopes}}<li>{{.}}</li>{{/scopes}}</ul>
        <form method="post" action="device">
        <input type="hidden" name="user_code" value="{{code}}">
        \(UserFields.credentials)
        <div class="choices"><button type="submit" name="op" value="{{allow}}">{{allow}}</button>
        <button type="submit" name="op" value="{{refuse}}" class="second">{{refuse}}</button></div>
        </form>
        \(UserFields.users)
        """)

    private static let doneTemplate = Template(
        """
        <h1>{{title}}</h1>
        <p>You can close this page and go back to your device.</p>
        """)
}
#endif
