import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The IFTTT stand-in: web flow", .heavy)
struct IFTTTFlowTests {
    static let settings = [
        ("f0", "on"), ("f0.c0.location.lat", "52.5"), ("f0.c0.location.lng", "13.4"),
        ("f0.c0.location.radius", "120"), ("f0.c0.location.address", "Sample Square 1"), ("f0.c1.zone", "zone-9"),
        ("do", "save"),
    ]

    @Test("S18: a new user's account is made, the code connects the partner, the rest is asked for")
    func newUser() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let code = try sandbox.issueOAuthCode(for: "garden-1005")
            let find = "/v2/account/find?email=new%40example.test"
            #expect(try await steps.send("GET", find).status == 404)
            let visitor = try await IFTTTVisitor(
                sandbox,
                at: IFTTTVisitor.access(
                    [("email", "new@example.test"), ("sdk_create_account", "true"), ("code", code)],
                    redirect: IFTTTVisitor.redirect + "?state=s%2B1"))
            #expect(try await steps.send("GET", find).status == 204)
            #expect(visitor.heading == "Connect Location")
            try await visitor.press("allow")
            #expect(visitor.heading.hasPrefix("Settings of"))
            try await visitor.submit(Self.settings)
            let outcome = try visitor.outcome()
            #expect(outcome.hasPrefix("state=s%2B1&next_step=complete&user_token=utk_"))
            let token = try #require(OAuthSteps.parameter("user_token", of: visitor.left ?? ""))
            let answer = try await steps.send("GET", IFTTTSteps.leaving, as: .user(token))
            #expect(answer.text("user_status") == "enabled")
            let trigger = "user_connection.user_features.0.user_feature_triggers.0.user_fields.0.value"
            #expect(answer.number(trigger + ".radius") == 120)
            #expect(try await steps.send("GET", "/v2/me", as: .user(token)).text("user_login") == "new")
            #expect(try steps.webhooks() == ["connection/enabled"])
            let again = try await steps.send("GET", IFTTTSteps.leaving + "?user_id=garden-1005", as: .garden)
            #expect(again.text("user_status") == "enabled")
        }
    }

    @Test("S18: an existing user goes on by mail in another browser; the link works once and not for ever")
    func mail() async throws {
        try await withSandbox { sandbox in
            let target = IFTTTVisitor.access([
                ("email", "edsger@example.test"), ("available_email_app_schemes[]", "message://"),
                ("available_email_app_schemes[]", "javascript:alert(1)"),
            ])
            let visitor = try await IFTTTVisitor(sandbox, at: target)
            #expect(visitor.heading == "Check your mail")
            #expect(visitor.page.text.contains(#"<a href="message://">Open Mail</a>"#))
            #expect(!visitor.page.text.contains(#"href="javascript"#))
            let steps = try IFTTTSteps(sandbox)
            let mail = try #require(try steps.log(.mails).first)
            #expect(mail["to"] as? String == "edsger@example.test")
            let link = String(try #require(mail["link"] as? String).dropFirst(sandbox.ifttt.origin.count))
            let other = try await IFTTTVisitor(sandbox, at: "/mailbox?to=edsger%40example.test")
            #expect(other.page.text.contains(#"href="\#(link)""#))
            try await other.get(link)
            #expect(other.heading == "Welcome back, edsger_d")
            try await other.submit([])
            #expect(other.heading == "Connect Location")
            try await other.get(link)
            #expect(other.page.status == 410)
            try await visitor.press("allow")
            #expect(visitor.page.status == 410)
            let late = try await IFTTTVisitor(sandbox, at: target)
            try await late.press("mail")
            let second = try #require(try steps.log(.mails).last?["link"] as? String)
            sandbox.advanceClock(by: 901)
            try await late.get(String(second.dropFirst(sandbox.ifttt.origin.count)))
            #expect(late.page.status == 410)
        }
    }

    @Test("S18: a cookie alone changes nothing: the user says that they are that user; skip_config makes it pending")
    func cookie() async throws {
        try await withSandbox { sandbox in
            let visitor = try await IFTTTVisitor(sandbox, at: "/session")
            try await visitor.submit([("as", "edsger_d")])
            #expect(visitor.page.text.contains("<strong>edsger_d</strong>"))
            try await visitor.get(IFTTTVisitor.access([("username", "edsger_d"), ("skip_config", "true")]))
            #expect(visitor.heading == "Continue as edsger_d?")
            try await visitor.press("yes")
            try await visitor.press("allow")
            #expect(visitor.heading.hasPrefix("Turn on"))
            try await visitor.press("yes")
            #expect(try visitor.outcome() == "next_step=complete&user_token=utk_sandbox_edsger")
            let steps = try IFTTTSteps(sandbox)
            let run = IFTTTSteps.leaving + "/actions/lumen_garden.start_drip/run"
            let answer = try await steps.send("POST", run, as: .garden, body: #"{"user_id":"garden-1004"}"#)
            #expect(answer.outcome == "403 forbidden")
        }
    }

    @Test("11.3.6: activating an enabled connection keeps its configuration")
    func onAgain() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let before = try await steps.send("GET", IFTTTSteps.leaving, as: .ada).list("user_connection.user_features")
            let visitor = try await IFTTTVisitor(sandbox, at: "/session")
            try await visitor.submit([("as", "ada_l")])
            try await visitor.get(IFTTTVisitor.access([("username", "ada_l"), ("skip_config", "true")]))
            for button in ["yes", "allow", "yes"] { try await visitor.press(button) }
            #expect(try visitor.outcome() == "next_step=complete&user_token=utk_sandbox_ada")
            let after = try await steps.send("GET", IFTTTSteps.leaving, as: .ada).list("user_connection.user_features")
            #expect(!before.isEmpty && NSArray(array: after) == NSArray(array: before))
            let run = IFTTTSteps.leaving + "/actions/lumen_garden.start_drip/run"
            #expect(try await steps.send("POST", run, as: .garden, body: #"{"user_id":"garden-1001"}"#).status == 204)
            try await visitor.get(IFTTTVisitor.access([("username", "ada_l")]))
            try await visitor.press("yes")
            try await visitor.submit(Self.settings)
            #expect(try steps.webhooks() == ["connection/enabled", "connection/enabled"])
        }
    }

    @Test(
        "3.4: the Connect URL returns only to https and loopback pages",
        arguments: [
            ("https%3A%2F%2Fgarden.example.test%2Fconnect_callback", 200),
            ("http%3A%2F%2F127.0.0.1%3A8080%2Fconnect_callback", 200), ("gardenapp%3A%2F%2Fconnect_callback", 400),
            ("http%3A%2F%2F127.0.0.1.example.test%2Fconnect_callback", 400),
        ])
    func pages(_ redirect: String, _ status: Int) async throws {
        try await withSandbox { sandbox in
            sandbox.registerRedirectURL("http://127.0.0.1.example.test/connect_callback")
            let target = "/connect/pL41nX01?email=new%40example.test&redirect_uri=\(redirect)"
            let found = try await IFTTTVisitor.status(sandbox, at: target)
            #expect(found == status)
        }
    }

    @Test("S18: a username without its cookie signs in; a wrong password is shown in an alert")
    func signIn() async throws {
        try await withSandbox { sandbox in
            let visitor = try await IFTTTVisitor(sandbox, at: IFTTTVisitor.access([("username", "grace_h")]))
            #expect(visitor.heading == "Sign in to IFTTT")
            try await visitor.submit([("name", "grace_h"), ("password", "x"), ("do", "sign_in")])
            #expect(visitor.page.text.contains(#"role="alert" id="problem""#))
            let before = visitor.cookies
            try await visitor.submit([("name", "grace_h"), ("password", "nanosecond-wire"), ("do", "sign_in")])
            #expect(visitor.heading == "Connect Location")
            #expect(visitor.cookies != before)
            #expect(visitor.cookieFields.allSatisfy { $0.contains("; HttpOnly") && $0.contains("; SameSite=Lax") })
        }
    }

    @Test("S23: without a code the partner's own pages are used, and refusing there is an error")
    func partnerPages() async throws {
        try await withSandbox { sandbox in
            for isAllowed in [true, false] {
                let email = isAllowed ? "one@example.test" : "two@example.test"
                let visitor = try await IFTTTVisitor(
                    sandbox, at: IFTTTVisitor.access([("email", email), ("sdk_create_account", "true")]))
                #expect(visitor.heading == "Connect Lumen Garden")
                try await visitor.press("sign_in")
                #expect(visitor.heading == "Sign in to Lumen Garden")
                try await visitor.submit([("email", "new@example.test"), ("password", "fresh-start")])
                #expect(visitor.heading == "Allow ifttt to use your account?")
                try await visitor.submit([("op", isAllowed ? "Allow" : "Do not allow")])
                if isAllowed {
                    #expect(visitor.heading == "Connect Location")
                } else {
                    #expect(visitor.heading == "Not connected")
                    #expect(visitor.page.text.contains("access_denied"))
                    try await visitor.submit([("outcome", "auth_error")])
                    #expect(try visitor.outcome() == "next_step=error&error_type=auth_error")
                }
            }
        }
    }

    @Test("a partner's user belongs to one account; a used code leads to the partner's page")
    func oneAccount() async throws {
        try await withSandbox { sandbox in
            let code = try sandbox.issueOAuthCode(for: "garden-1001")
            let new = [("sdk_create_account", "true"), ("code", code)]
            let first = try await IFTTTVisitor(
                sandbox, at: IFTTTVisitor.access([("email", "three@example.test")] + new))
            #expect(first.heading == "Not connected")
            #expect(first.page.text.contains("ada_l"))
            let second = try await IFTTTVisitor(
                sandbox, at: IFTTTVisitor.access([("email", "four@example.test")] + new))
            #expect(second.heading == "Connect Lumen Garden")
        }
    }

    @Test(
        "every way to fail comes back as section 3.7 says, behind the app's own query",
        arguments: [
            ("account_creation", "next_step=error&error_type=account_creation"),
            ("auth_error", "next_step=error&error_type=auth_error"), ("error", "next_step=error"),
            ("user_cancelled_configuration", "next_step=user_cancelled_configuration"),
            ("unknown", "next_step=something_else"), ("nothing", ""), ("complete_without_token", "next_step=complete"),
            ("verification_failed", "next_step=error&error_type=verification_failed"),
            ("connection_request_failed", "next_step=error&error_type=connection_request_failed"),
        ])
    func failures(_ outcome: String, _ query: String) async throws {
        try await withSandbox { sandbox in
            let path = IFTTTVisitor.access(redirect: IFTTTVisitor.redirect + "?state=s1")
            let app = path.replacingOccurrences(of: "/access/api/", with: "/app/connections/")
            for target in outcome.hasSuffix("_failed") ? [app] : [path, app] {
                let visitor = try await IFTTTVisitor(sandbox, at: target)
                #expect(visitor.page.text.contains(#"name="outcome" value="\#(outcome)""#))
                try await visitor.submit([("outcome", outcome)])
                #expect(try visitor.outcome() == "state=s1" + (query.isEmpty ? "" : "&" + query))
            }
            let closing = try await IFTTTVisitor(sandbox, at: path)
            try await closing.press("close")
            #expect(closing.left == nil && closing.heading == "You can close this page")
        }
    }

    @Test(
        "an address that is not registered, or cannot be one, is a page and never a redirect",
        arguments: [
            "otherapp://connect_callback", "gardenapp://connect_callback/more", "gardenapp://connect_callback#x",
            "http://127.0.0.1/elsewhere", "http://127.0.0.1:80@evil.test/callback", "https://evil.test/callback",
            "javascript:alert(1)", "gardenapp://connect_callback?a=\r\nSet-Cookie:b", "", "<script>",
        ])
    func unregistered(_ redirect: String) async throws {
        try await withSandbox { sandbox in
            for entrance in ["/access/api/", "/app/connections/"] {
                let target = IFTTTVisitor.access(redirect: redirect).replacingOccurrences(
                    of: "/access/api/", with: entrance)
                let visitor = try await IFTTTVisitor(sandbox, at: target)
                #expect(visitor.page.status == 400 && visitor.left == nil)
                #expect(visitor.heading == "Request rejected")
                #expect(!visitor.page.text.contains("<script>"))
                #expect(visitor.page.text.contains("/_sandbox/redirect-urls"), "what a developer can do about it")
            }
        }
    }

    @Test(
        "registered addresses keep their query; on loopback any port fits",
        arguments: [
            "http://127.0.0.1:49152/connect_callback?state=a%26b", "http://[::1]:50000/callback",
            "com.example.app:/callback",
        ])
    func registered(_ redirect: String) async throws {
        try await withSandbox { sandbox in
            let visitor = try await IFTTTVisitor(sandbox, at: IFTTTVisitor.access(redirect: redirect))
            try await visitor.submit([("outcome", "error")])
            #expect(visitor.left == redirect + (redirect.contains("?") ? "&" : "?") + "next_step=error")
        }
    }

    @Test("a form without its token, or of another browser, changes nothing")
    func forgery() async throws {
        try await withSandbox { sandbox in
            let visitor = try await IFTTTVisitor(sandbox, at: IFTTTVisitor.access())
            try await visitor.submit([("outcome", "error")], token: "forged")
            #expect(visitor.page.status == 410 && visitor.left == nil)
            let own = try await IFTTTVisitor(sandbox, at: IFTTTVisitor.access())
            let path = try #require(own.page.text.firstMatch(of: /action="(\/flow\/[^"]+)"/).map { String($0.1) })
            let foreign = try await IFTTTVisitor(sandbox, at: path)
            #expect(foreign.page.status == 410)
            let session = try await IFTTTVisitor(sandbox, at: "/session")
            try await session.submit([("as", "ada_l")], token: "forged")
            #expect(session.page.status == 410)
        }
    }

    @Test("invalid settings are reported beside their fields, and nothing is stored")
    func settings() async throws {
        try await withSandbox { sandbox in
            let visitor = try await IFTTTVisitor(sandbox, at: "/session")
            try await visitor.submit([("as", "ada_l")])
            try await visitor.get("/connections/aB3dE5fG/edit")
            try await visitor.press("yes")
            #expect(visitor.page.text.contains(#"value="180.5""#))
            try await visitor.submit(Self.settings.map { $0.0.hasSuffix("lat") ? ($0.0, "91") : $0 })
            #expect(visitor.page.text.contains("Expected degrees from -90 to 90."))
            #expect(visitor.page.text.contains(#"value="91""#))
            let steps = try IFTTTSteps(sandbox)
            #expect(try steps.webhooks().isEmpty)
            try await visitor.submit(Self.settings)
            #expect(visitor.heading == "Done")
            #expect(try steps.webhooks() == ["connection/updated"])
        }
    }
}
