import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The pages", .heavy)
struct PageTests {
    /// A browser: one cookie, the last page, and forms submitted as the page has them.
    private final class Visitor {
        let steps: OAuthSteps
        var cookie: String?
        var page: WireClient.Answer
        var target: String

        init(_ steps: OAuthSteps, _ changes: [String: String?] = [:]) async throws {
            self.steps = steps
            target = steps.authorizationTarget(changes)
            page = try await steps.wire.send("GET", target)
            remember()
        }

        func submit(_ fields: [String: String]) async throws {
            var form: [String: String] = [:]
            for match in page.text.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)">/) {
                form[String(match.1)] = String(match.2)
            }
            let headers = cookie.map { ["Cookie": $0] } ?? [:]
            page = try await steps.post(target, form.merging(fields) { $1 }, headers: headers)
            remember()
            if page.status == 303, let location = page["Location"] {
                target = location
                page = try await steps.wire.send("GET", target, headers: cookie.map { ["Cookie": $0] } ?? [:])
                remember()
            }
        }

        private func remember() {
            guard let field = page["Set-Cookie"] else { return }
            cookie = field.split(separator: ";").first.map(String.init)
        }
    }

    private static let buttons: [String: (yes: String, no: String)] = [
        "sequencing": ("Yes (I authorize access)", "No (do not provide access)"),
        "recurse-center": ("Authorize", "Deny"), "standard": ("Allow", "Do not allow"),
    ]

    @Test(
        "a person signs in, consents or refuses, and is sent to the app",
        arguments: [SandboxService.Name.sequencing, .recurseCenter, .standard])
    func wholeVisit(_ name: SandboxService.Name) async throws {
        try await withSandbox { sandbox in
            let all = [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard]
            let service = try #require(all.first { $0.name == name })
            let steps = try OAuthSteps(sandbox, service)
            let user = try #require(service.users.first)
            let visitor = try await Visitor(steps)
            #expect(visitor.page.text.contains("value=\"\(user.name)\""))
            try await visitor.submit(["email": user.name, "password": user.password, "remember": "1"])
            #expect(visitor.page.status == 200)
            #expect(visitor.page.text.contains(user.displayName))
            let buttons = try #require(Self.buttons[name.rawValue])
            try await visitor.submit(["op": buttons.yes])
            #expect(visitor.page.status == 302)
            let location = try #require(visitor.page["Location"])
            #expect(location.hasPrefix(OAuthSteps.redirect + "?code="))
            #expect(visitor.page["Referrer-Policy"] == "no-referrer")
            let code = try #require(OAuthSteps.parameter("code", of: location))
            #expect(try await steps.redeem(code).status == 200)
            visitor.page = try await steps.wire.send("GET", visitor.target, headers: ["Cookie": visitor.cookie ?? ""])
            try await visitor.submit(["op": buttons.no])
            let refused = try #require(visitor.page["Location"])
            #expect(OAuthSteps.parameter("error", of: refused) == "access_denied")
            #expect(OAuthSteps.parameter("state", of: refused) == "s-1")
        }
    }

    @Test("a wrong password is shown in an alert that the fields point to")
    func wrongPassword() async throws {
        try await withSandbox { sandbox in
            let visitor = try await Visitor(try OAuthSteps(sandbox, sandbox.standard))
            try await visitor.submit(["email": "<b>\"eve\"&co", "password": "wrong"])
            #expect(visitor.page.status == 200)
            #expect(visitor.page.text.contains(#"role="alert" id="problem""#))
            #expect(visitor.page.text.contains(#"aria-invalid="true" aria-describedby="problem""#))
            #expect(visitor.page.text.contains("value=\"&lt;b&gt;&quot;eve&quot;&amp;co\""))
            #expect(!visitor.page.text.contains("<b>"))
        }
    }

    @Test("the two-factor user needs the code, the others do not")
    func twoFactor() async throws {
        try await withSandbox { sandbox in
            let user = try #require(sandbox.sequencing.users.first { $0.oneTimeCode != nil })
            let visitor = try await Visitor(try OAuthSteps(sandbox, sandbox.sequencing))
            try await visitor.submit(["email": user.name, "password": user.password, "tfa": "000000"])
            #expect(visitor.page.text.contains(#"aria-describedby="tfa-note problem""#))
            try await visitor.submit(["email": user.name, "password": user.password, "tfa": user.oneTimeCode ?? ""])
            #expect(visitor.page.text.contains(#"name="form_id" value="oauth2_server_authorize_form""#))
        }
    }

    @Test(
        "A03: a user who signs in with another service needs neither password nor code, and only the services that are offered count",
        arguments: ["Google", "LinkedIn"])
    func signInElsewhere(_ provider: String) async throws {
        try await withSandbox { sandbox in
            let user = try #require(sandbox.sequencing.users.first { $0.oneTimeCode != nil })
            let visitor = try await Visitor(try OAuthSteps(sandbox, sandbox.sequencing))
            let consent = #"name="form_id" value="oauth2_server_authorize_form""#
            let others = [("Facebook", user.name), (provider, "new@example.test")]
            for fields in others.map({ ["email": $1, "provider": $0] }) {
                try await visitor.submit(fields)
                #expect(!visitor.page.text.contains(consent), "\(fields)")
            }
            try await visitor.submit(["email": user.name, "provider": provider])
            #expect(visitor.page.text.contains(consent))
        }
    }

    @Test("a form without its token or from another browser changes nothing")
    func forgery() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let user = try #require(sandbox.standard.users.first)
            let visitor = try await Visitor(steps)
            try await visitor.submit(["email": user.name, "password": user.password])
            for fields in [["form_token": "forged", "op": "Allow"], ["form_token": "", "op": "Allow"]] {
                let form = ["form_id": "oauth2_server_authorize_form"].merging(fields) { $1 }
                let answer = try await steps.post(visitor.target, form, headers: ["Cookie": visitor.cookie ?? ""])
                #expect(answer["Location"] == nil)
                let foreign = try await steps.post(visitor.target, form)
                #expect(foreign["Location"] == nil)
            }
        }
    }

    @Test("prompt=login asks for the password again, once")
    func promptLogin() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let user = try #require(sandbox.standard.users.first)
            let sign = ["email": user.name, "password": user.password]
            let visitor = try await Visitor(steps, ["prompt": "login"])
            try await visitor.submit(sign)
            try await visitor.submit(["op": "Allow"])
            #expect(visitor.page.status == 302)
            let headers = ["Cookie": visitor.cookie ?? ""]
            let again = try await steps.wire.send("GET", visitor.target, headers: headers)
            #expect(again.text.contains("id=\"password\""))
            let silent = try await steps.wire.send(
                "GET", steps.authorizationTarget(["prompt": "none"]), headers: headers)
            #expect(silent["Location"].flatMap { OAuthSteps.parameter("error", of: $0) } == "consent_required")
        }
    }

    @Test("another user can sign in from the consent page")
    func switchAccount() async throws {
        try await withSandbox { sandbox in
            let user = try #require(sandbox.standard.users.first)
            let visitor = try await Visitor(try OAuthSteps(sandbox, sandbox.standard))
            try await visitor.submit(["email": user.name, "password": user.password])
            try await visitor.submit(["op": "Sign in as another user"])
            #expect(visitor.page.text.contains("id=\"password\""))
        }
    }

    @Test("session cookies are HttpOnly, SameSite=Lax and named differently at each service")
    func cookies() async throws {
        try await withSandbox { sandbox in
            var names: Set<String> = []
            for service in [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard] {
                let visitor = try await Visitor(try OAuthSteps(sandbox, service))
                let field = try #require(visitor.page["Set-Cookie"])
                #expect(field.contains("; HttpOnly") && field.contains("; SameSite=Lax"))
                names.insert(String(field.prefix { $0 != "=" }))
            }
            #expect(names.count == 3)
        }
    }

    @Test("every page has a language, one heading, a title, no script, and headers that keep it to itself")
    func form() async throws {
        try await withSandbox { sandbox in
            for service in [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard] {
                let steps = try OAuthSteps(sandbox, service)
                let visitor = try await Visitor(steps)
                let user = try #require(service.users.first)
                var pages = [visitor.page]
                try await visitor.submit(["email": user.name, "password": user.password])
                pages.append(visitor.page)
                pages.append(try await steps.wire.send("GET", "/"))
                pages.append(try await steps.wire.send("GET", steps.authorizationTarget(["client_id": "<x>"])))
                for page in pages {
                    #expect(page.text.contains("<html lang=\"en\">"))
                    #expect(page.text.components(separatedBy: "<h1>").count == 2)
                    #expect(page.text.contains("nothing here is real"))
                    #expect(!page.text.contains("<script") && !page.text.contains("template is broken"))
                    #expect(!page.text.contains("http-equiv") && !page.text.contains("src="))
                    #expect(page["X-Frame-Options"] == "DENY")
                    #expect(page["Referrer-Policy"] == "no-referrer")
                    let policy = try #require(page["Content-Security-Policy"])
                    #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
                }
                #expect(
                    pages[0]["Content-Security-Policy"]?.contains("form-action 'self' http://127.0.0.1:49152;") == true)
            }
        }
    }
}
