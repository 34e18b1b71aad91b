import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("Redirect URIs and the in-process browser", .heavy)
struct RedirectTests {
    private static let cases: [(uri: String, isAccepted: Bool)] = [
        ("http://127.0.0.1/callback", true), ("http://127.0.0.1:1/callback", true),
        ("http://127.0.0.1:65535/callback", true), ("http://[::1]:9/callback", true), ("http://[::1]/callback", true),
        ("http://127.0.0.1:8765/callback", true), ("com.example.app:/callback", true),
        ("https://app.example.test/callback", true),
        ("http://127.0.0.1:0/callback", false), ("http://127.0.0.1:65536/callback", false),
        ("http://127.0.0.1:/callback", false), ("http://127.0.0.1:80a/callback", false),
        ("http://127.0.0.1:80@evil.test/callback", false), ("http://127.0.0.1:80/callback/", false),
        ("http://127.0.0.1:80/callback?x=1", false), ("http://127.0.0.1:80/", false), ("http://127.0.0.1:80", false),
        ("https://127.0.0.1:80/callback", false), ("http://localhost:80/callback", false),
        ("http://127.0.0.1.evil.test/callback", false), ("HTTP://127.0.0.1/callback", false),
        ("https://app.example.test:443/callback", false), ("https://app.example.test/callback#x", false),
        ("com.example.app://callback", false), ("", false),
    ]

    @Test("the server of the README may come back at any port")
    func server() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            let redirect = "http://127.0.0.1:8090/connect/recurse-center/callback"
            let target = steps.authorizationTarget(["client_id": "recurse-app", "redirect_uri": redirect])
            #expect(try await steps.wire.send("GET", target).status == 200)
        }
    }

    @Test("only the port of a loopback redirect is free", arguments: cases)
    func matching(_ uri: String, _ isAccepted: Bool) async throws {
        try await withSandbox { sandbox in
            for service in [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard] {
                let steps = try OAuthSteps(sandbox, service)
                let answer = try await steps.wire.send("GET", steps.authorizationTarget(["redirect_uri": uri]))
                #expect(answer.status == (isAccepted ? 200 : 400))
                #expect(answer["Location"] == nil)
                if isAccepted {
                    let redirect = try await steps.redirect(["redirect_uri": uri])
                    #expect(redirect.hasPrefix(uri + "?code="))
                } else {
                    await #expect(throws: SandboxError.self) { _ = try await steps.redirect(["redirect_uri": uri]) }
                }
            }
        }
    }

    @Test("an unknown client is told on a page, never by a redirect", arguments: [nil, "unknown"])
    func unknownClient(_ id: String?) async throws {
        try await withSandbox { sandbox in
            for service in [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard] {
                let steps = try OAuthSteps(sandbox, service)
                let answer = try await steps.wire.send("GET", steps.authorizationTarget(["client_id": id]))
                #expect(answer.status == 400)
                #expect(answer["Location"] == nil)
                #expect(answer["Content-Type"]?.hasPrefix("text/html") == true)
            }
        }
    }

    @Test("approving and refusing give the redirect that a browser gets")
    func approving() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let url = sandbox.standard.origin + steps.authorizationTarget(["state": "a b&c=d%+é"])
            let yes = try await sandbox.approve(url, as: "zoe@example.test")
            #expect(OAuthSteps.parameter("state", of: yes) == "a b&c=d%+é")
            #expect(OAuthSteps.parameter("iss", of: yes) == sandbox.standard.origin)
            let no = try await sandbox.refuse(url)
            #expect(OAuthSteps.parameter("error", of: no) == "access_denied")
            #expect(OAuthSteps.parameter("iss", of: no) == sandbox.standard.origin)
            #expect(sandbox.requests().isEmpty)
        }
    }

    @Test("a foreign URL and an unknown user are errors that say so")
    func mistakes() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            await #expect(throws: SandboxError.notOurs(url: "https://example.test/authorize?x=1")) {
                _ = try await sandbox.approve("https://example.test/authorize?x=1")
            }
            let url = sandbox.standard.origin + steps.authorizationTarget()
            let error = SandboxError.unknownUser(name: "eve", known: sandbox.standard.users.map(\.name))
            await #expect(throws: error) { _ = try await sandbox.approve(url, as: "eve") }
        }
    }

    @Test("approving and refusing where a service has no authorization endpoint says that there is none")
    func elsewhere() async throws {
        try await withSandbox { sandbox in
            var places: [(service: SandboxService, target: String)] = []
            for service in [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard] {
                let steps = try OAuthSteps(sandbox, service)
                for path in ["/", "/elsewhere", steps.tokenPath, steps.authorizePath + "/", "/" + steps.authorizePath] {
                    places.append((service, steps.authorizationTarget(path: path)))
                }
            }
            let sequencing = try OAuthSteps(sandbox, sandbox.sequencing)
            let controller = "/indexApi.php?q=oauth2/"
            places.append((sandbox.sequencing, sequencing.authorizationTarget(path: controller + "token")))
            places.append((sandbox.sequencing, sequencing.authorizationTarget(path: "/indexApi.php")))
            let standard = try OAuthSteps(sandbox, sandbox.standard)
            places.append((sandbox.standard, standard.authorizationTarget(path: "/tenant2/elsewhere")))
            for service in [sandbox.ifttt, sandbox.resources, sandbox.mutualTLS] {
                places.append((service, standard.authorizationTarget()))
            }
            for (service, target) in places {
                let page = service.origin + String(target.prefix { $0 != "?" })
                let error = SandboxError.pageInsteadOfRedirect(
                    status: 404, text: "There is no authorization endpoint at \(page).")
                await #expect(throws: error, "\(page)") { try await sandbox.approve(service.origin + target) }
                await #expect(throws: error, "\(page)") { try await sandbox.refuse(service.origin + target) }
                let advice = "Check the address of the authorization endpoint: the service's port, and the path."
                #expect(error.description.hasSuffix(advice))
            }
            let redirect = try await sandbox.approve(
                sandbox.sequencing.origin + sequencing.authorizationTarget(path: controller + "authorize"))
            #expect(OAuthSteps.parameter("code", of: redirect) != nil)
        }
    }
}
