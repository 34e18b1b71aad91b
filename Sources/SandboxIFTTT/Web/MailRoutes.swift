#if Sandbox
import Mustache
import SandboxCore

/// The mailbox, the links in it, and who is signed in to IFTTT's site (IFTTT Connect dossier, section 11.3, step 2).
struct MailRoutes: Sendable {
    let store: Store
    let browsers: Browsers
    let pages: Pages

    var routes: [Route] {
        [
            Route("GET", path: "/mailbox", note: "the mails of the sandbox; to=ADDRESS", answer: mailbox),
            Route("GET", path: "/mail/{word}", note: "a mail's link, in any browser", answer: open),
            Route("POST", path: "/mail/{word}", note: "its form", answer: use),
            Route("GET", path: "/session", note: "sign this browser in to IFTTT, or out", answer: session),
            Route("POST", path: "/session", note: "its form", answer: changeSession),
        ]
    }

    private struct Box {
        let to: String?
        let mails: [MailView]
    }

    private struct MailView {
        let subject: String
        let address: String
        let link: String?
        let state: String
    }

    private func mailbox(_ request: IncomingRequest) -> Answer {
        let wanted = request.query["to"]?.lowercased()
        let now = store.now
        let mails = store.read { $0.web.mails }.reversed().filter { wanted == nil || $0.to.lowercased() == wanted }
        let view = Box(
            to: request.query["to"],
            mails: mails.map { mail in
                let isLive = mail.isLive(at: now)
                return MailView(
                    subject: "Continue with \(mail.connectionName)", address: mail.to,
                    link: isLive ? "/mail/\(mail.word)" : nil, state: mail.isUsed ? "used" : "too old")
            })
        return pages.page("Mailbox", Template.mailbox.render(view), isWide: true)
    }

    private struct Letter {
        let action: String
        let formToken: String
        let login: String
        let connection: String
    }

    /// Shows the link's page without using it up, since mail programs look at links before people do.
    private func open(_ request: IncomingRequest) -> Answer {
        let word = request.variables["word"] ?? ""
        let now = store.now
        guard let mail = store.read({ $0.web.mails.first { $0.word == word } }), mail.isLive(at: now) else {
            return FlowPages(pages: pages).stale()
        }
        let (_, session, cookie) = browsers.session(of: request)
        let view = Letter(
            action: "/mail/\(word)", formToken: session.formToken, login: mail.login, connection: mail.connectionName)
        return browsers.keeping(cookie, pages.page("Continue", Template.letter.render(view)))
    }

    /// Signs this browser in and lets it go on with the attempt, wherever that began.
    private func use(_ request: IncomingRequest) -> Answer {
        let stale = FlowPages(pages: pages).stale()
        guard let (oldID, session) = browsers.known(request), request.form["form_token"] == session.formToken else {
            return stale
        }
        let word = request.variables["word"] ?? ""
        let now = store.now
        guard let mail = store.change({ $0.web.takeMail(word, at: now) }) else { return stale }
        let (id, cookie) = browsers.signIn(mail.login, replacing: oldID)
        store.change { state in
            guard var attempt = state.web.attempts[mail.attemptID] else { return }
            attempt.sessionID = id
            attempt.login = mail.login
            attempt.isIdentityConfirmed = true
            state.web.set(attempt)
        }
        return browsers.keeping(cookie, .redirect(to: "/flow/\(mail.attemptID)", status: 303))
    }

    private struct SessionView {
        let formToken: String
        let login: String?
        let people: [PersonView]
    }

    private struct PersonView {
        let name: String
        let email: String
    }

    private func session(_ request: IncomingRequest) -> Answer {
        let (_, session, cookie) = browsers.session(of: request)
        let view = SessionView(
            formToken: session.formToken, login: session.login,
            people: store.read { $0.accounts }.prefix(50).map { PersonView(name: $0.login, email: $0.email) })
        return browsers.keeping(cookie, pages.page("Who is signed in", Template.session.render(view)))
    }

    private func changeSession(_ request: IncomingRequest) -> Answer {
        guard let (id, session) = browsers.known(request), request.form["form_token"] == session.formToken else {
            return FlowPages(pages: pages).stale()
        }
        let back = Answer.redirect(to: "/session", status: 303)
        guard let login = request.form["as"], store.read({ $0.account(login: login) }) != nil else {
            browsers.signOut(id)
            return back
        }
        return browsers.keeping(browsers.signIn(login, replacing: id).cookie, back)
    }
}

extension Template {
    fileprivate static let mailbox = Template(
        """
        <h1>Mailbox</h1>
        <p>Nothing is ever really mailed: all mails of the sandbox end up here\
        {{#to}}, and these are those to <strong>{{to}}</strong>{{/to}}.</p>
        <ul class="rows">{{#mails}}<li>{{#link}}<a href="{{link}}"><bdi>{{subject}}</bdi></a>{{/link}}\
        {{^link}}<bdi>{{subject}}</bdi> ({{state}}){{/link}}<p>to {{address}}</p></li>{{/mails}}\
        {{^mails}}<li>There are no mails.</li>{{/mails}}</ul>
        """)

    fileprivate static let letter = Template(
        """
        <h1>Welcome back, <bdi>{{login}}</bdi></h1>
        <p>Go on with <strong><bdi>{{connection}}</bdi></strong> in this browser.</p>
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices"><button type="submit">Continue</button></div></form>
        """)

    fileprivate static let session = Template(
        """
        <h1>Who is signed in</h1>
        <p>{{#login}}This browser is signed in to IFTTT as <strong>{{login}}</strong>.{{/login}}\
        {{^login}}This browser is not signed in to IFTTT.{{/login}}</p>
        <form method="post" action="/session">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices">{{#people}}<button type="submit" class="second" name="as" value="{{name}}">\
        Be {{name}} ({{email}})</button>{{/people}}
        {{#login}}<button type="submit" name="as" value="">Sign out</button>{{/login}}</div></form>
        """)
}
#endif
