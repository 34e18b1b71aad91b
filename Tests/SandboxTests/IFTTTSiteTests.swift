import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The IFTTT stand-in: Connect URL, app and site", .heavy)
struct IFTTTSiteTests {
    @Test("S19: the public Connect URL takes a provisional code once and for 48 hours, and delivers no token")
    func connectURL() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let code = try sandbox.issueOAuthCode(for: "garden-1005")
            let made = try await steps.send(
                "POST", "/v2/provisional_access_code", as: .garden, body: #"{"oauth_code":"\#(code)"}"#)
            let provisional = try #require(made.text("provisional_access_code"))
            let target =
                "/connect/pL41nX01?email=new%40example.test&redirect_uri=https%3A%2F%2Fapp.example.test%2Fcallback"
                + "&skip_config=true&code=\(provisional)"
            let visitor = try await IFTTTVisitor(sandbox, at: target)
            #expect(visitor.heading == "Connect Skylark Weather")
            try await visitor.press("allow")
            try await visitor.press("yes")
            #expect(visitor.left == "https://app.example.test/callback?next_step=complete")
            let again = try await IFTTTVisitor(
                sandbox, at: target.replacingOccurrences(of: "new%40", with: "newer%40"))
            #expect(again.heading == "Connect Lumen Garden")
            for bad in [
                "/connect/pL41nX01", "/connect/pL41nX01?email=x", "/connect/pL41nX01?email=a%40b.test&skip_config=true",
            ] {
                #expect(try await IFTTTVisitor.status(sandbox, at: bad) == 400)
            }
        }
    }

    @Test("an unknown connection, an unknown action and an unpublished service are pages")
    func entrances() async throws {
        try await withSandbox { sandbox in
            let hidden = IFTTTVisitor.access(to: "hIddEn06")
            for target in [
                IFTTTVisitor.access(to: "nothing1"), hidden, hidden + "&invite_code=nope",
                "/app/connections/aB3dE5fG?sdk_return_to=gardenapp%3A%2F%2Fconnect_callback&action=remove",
            ] {
                #expect(try await IFTTTVisitor.status(sandbox, at: target) == 400)
            }
            let visitor = try await IFTTTVisitor(sandbox, at: hidden + "&invite_code=orchard-invite-7")
            #expect(visitor.heading == "Sign in to IFTTT")
        }
    }

    @Test("the app knows its user, and edits and shows what is enabled")
    func app() async throws {
        try await withSandbox { sandbox in
            func app(_ action: String) -> String {
                IFTTTVisitor.access([("action", action)]).replacingOccurrences(
                    of: "/access/api/", with: "/app/connections/")
            }
            let visitor = try await IFTTTVisitor(sandbox, at: app("edit"))
            #expect(visitor.page.text.contains("IFTTT app"))
            #expect(visitor.heading == "Continue as ada_l?")
            try await visitor.press("yes")
            try await visitor.submit(IFTTTFlowTests.settings)
            #expect(try visitor.outcome() == "next_step=complete&user_token=utk_sandbox_ada")
            let viewer = try await IFTTTVisitor(sandbox, at: app("view"))
            try await viewer.press("yes")
            #expect(viewer.page.text.contains("Start when you leave"))
            let stranger = try await IFTTTVisitor(sandbox, at: app("view") + "&username=edsger_d")
            try await stranger.press("yes")
            #expect(stranger.heading == "Not connected")
            let activating = try await IFTTTVisitor(sandbox, at: app("activation") + "&skip_config=true")
            try await activating.press("yes")
            try await activating.press("allow")
            try await activating.press("yes")
            #expect(try activating.outcome() == "next_step=complete&user_token=utk_sandbox_ada")
        }
    }

    @Test("S20: pages of connections, services and terms escape what they show, and others are not there")
    func site() async throws {
        try await withSandbox { sandbox in
            for (path, text) in [
                ("/connections/aB3dE5fG", "Water the balcony"), ("/lumen_garden", "Lumen Garden"), ("/terms", "terms"),
                ("/connections/mArkUp09", "&lt;script&gt;alert(1)&lt;/script&gt;"),
                ("/odd_paint", "Odd &lt;b&gt;Paint&lt;/b&gt;"),
            ] {
                let answer = try await IFTTTVisitor(sandbox, at: path).page
                #expect(answer.status == 200 && answer.text.contains(text), "\(path)")
                #expect(!answer.text.contains("<script>") && !answer.text.contains("<b>"))
                #expect(answer.text.components(separatedBy: "<h1>").count == 2)
            }
            for path in ["/connections/hIddEn06", "/connections/nothing1", "/unknown", "/a/b"] {
                #expect(try await IFTTTVisitor.status(sandbox, at: path) == 404)
            }
        }
    }
}
