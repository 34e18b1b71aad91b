import Foundation
import Sandbox
import Synchronization
import TestFixtures
import Testing

@Suite("The IFTTT stand-in: controls, faults, the partner", .heavy)
struct IFTTTControlTests {
    @Test("with a seed and a clock that stands still, the same requests give the same ids, and other seeds others")
    func seeds() async throws {
        func run(_ seed: UInt64) async throws -> String {
            var text = ""
            try await withSandbox { sandbox in
                let steps = try IFTTTSteps(sandbox)
                sandbox.resetIFTTT(seed: seed)
                sandbox.holdClock(at: Date(timeIntervalSince1970: 1_735_689_600))
                sandbox.revokeUserToken()
                let answer = try await steps.send("POST", "/v2/user_token?user_id=garden-1001", as: .garden)
                let token = try #require(answer.text("user_token"))
                _ = try await steps.send("POST", IFTTTSteps.leaving + "/disable", as: .user(token))
                text = token + sandbox.iftttLog(.webhooks).joined()
            }
            return text
        }
        let first = try await run(7)
        #expect(first.contains(#""disabled_at":"1735689600000""#))
        #expect(try await run(7) == first)
        #expect(try await run(8) != first)
    }

    @Test("a reset puts everything back, over the wire and in process")
    func reset() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            for isOverWire in [true, false] {
                _ = try await steps.send("POST", IFTTTSteps.leaving + "/disable", as: .ada)
                sandbox.revokeUserToken()
                if isOverWire {
                    #expect(try await steps.wire.send("POST", "/_sandbox/reset", body: "5").status == 204)
                } else {
                    sandbox.resetIFTTT()
                }
                let answer = try await steps.send("GET", IFTTTSteps.leaving, as: .ada)
                #expect(answer.text("user_status") == "enabled")
                #expect(try steps.webhooks().isEmpty)
                let token = "/v2/user_token?user_id=garden-1001&access_token=access_sandbox_ada"
                #expect(try await steps.send("POST", token, as: .garden).status == 200)
            }
        }
    }

    @Test("a reset forgets IFTTT's requests and its own faults; what concerns every service stays")
    func resetRules() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            sandbox.inject(try FaultRule(parsing: "ifttt /v2/me => status 503"))
            sandbox.inject(try FaultRule(parsing: "/v2/account/find => status 503"))
            sandbox.holdClock(at: Date(timeIntervalSince1970: 1_735_689_600))
            #expect(try await steps.send("GET", "/v2/me").status == 503)
            sandbox.resetIFTTT()
            #expect(sandbox.requests(.ifttt).isEmpty)
            #expect(try await steps.send("GET", "/v2/me").status == 200)
            #expect(try await steps.send("GET", "/v2/account/find?email=a%40b.test").status == 503)
            #expect(sandbox.requests().first?.at == Date(timeIntervalSince1970: 1_735_689_600))
        }
    }

    @Test("11.1: the log has whole requests, headers and body, only when configured")
    func wholeRequests() async throws {
        for isWhole in [false, true] {
            let sandbox = try await Sandbox.start(.init(logsWholeRequests: isWhole))
            let steps = try IFTTTSteps(sandbox)
            let target = "/v2/provisional_access_code?x=1"
            let body = #"{"oauth_code":"a-secret-code"}"#
            _ = try await steps.send("POST", target, as: .garden, headers: ["IFTTT-Invite-Code": "inv"], body: body)
            let log = try await steps.wire.send("GET", "/_sandbox/requests").text
            let entry = try #require(sandbox.requests(.ifttt).first)
            await sandbox.stop()
            #expect(log.contains("a-secret-code") == isWhole && log.contains(IFTTTSteps.key) == isWhole)
            let whole = entry.whole
            #expect((whole != nil) == isWhole)
            guard isWhole else { continue }
            #expect(whole?.target == target && whole.map { String(decoding: $0.body, as: UTF8.self) } == body)
            #expect(whole?.headers["ifttt-service-key"] == [IFTTTSteps.key])
            #expect(whole?.headers["ifttt-invite-code"] == ["inv"])
        }
    }

    @Test(
        "control routes say what they expected",
        arguments: [
            ("/reset", "x", 400), ("/revoke-user-token", "nope", 400), ("/publish", "nope", 400),
            ("/oauth-code", "nope", 400), ("/oauth-code", "garden-1001", 200), ("/webhook-prefix", "", 204),
            ("/webhook-prefix", "http://127.0.0.1:9/x", 204), ("/webhook-prefix", "http://localhost:9", 400),
            ("/webhook-prefix", "http://example.test", 400), ("/webhook-prefix", "http://127.0.0.1.example.test", 400),
            ("/webhook-prefix", "https://127.0.0.1", 400), ("/webhook-prefix", "http://a@127.0.0.1", 400),
            ("/redirect-urls", "newapp://back", 204), ("/redirect-urls", "javascript:x", 400),
            ("/redirect-urls", "newapp://back?x=1", 400), ("/clock", "=x", 400), ("/clock", "=1735689600", 204),
        ])
    func controls(_ path: String, _ body: String, _ status: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            #expect(try await steps.wire.send("POST", "/_sandbox" + path, body: body).status == status)
        }
    }

    @Test("every log can be read over the wire as it is in process", arguments: SandboxConnectLog.allCases)
    func logs(_ log: SandboxConnectLog) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            _ = try await steps.send("POST", IFTTTSteps.leaving + "/disable", as: .ada)
            _ = try await IFTTTVisitor(sandbox, at: IFTTTVisitor.access([("email", "ada@example.test")]))
            let answer = try await steps.wire.send("GET", "/_sandbox/\(log.rawValue)")
            #expect(answer.text == sandbox.iftttLog(log).map { $0 + "\n" }.joined())
        }
    }

    @Test("a redirect URL that was registered later works immediately")
    func redirects() async throws {
        try await withSandbox { sandbox in
            let target = IFTTTVisitor.access(redirect: "newapp://back?state=1")
            let before = try await IFTTTVisitor.status(sandbox, at: target)
            #expect(sandbox.registerRedirectURL("newapp://back"))
            let after = try await IFTTTVisitor.status(sandbox, at: target)
            #expect(before == 400)
            #expect(after == 200)
        }
    }

    @Test("faults hit one path, one call: status, empty, malformed and dropped answers")
    func faults() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            sandbox.inject(try FaultRule(parsing: "ifttt GET /v2/me => status 500 #2"))
            sandbox.inject(try FaultRule(parsing: "ifttt /v2/me => empty #3"))
            sandbox.inject(try FaultRule(parsing: "/v2/me => malformed x1 #4"))
            sandbox.inject(try FaultRule(parsing: "/v2/me => drop #5 x1"))
            var seen: [String] = []
            for _ in 0..<6 {
                do {
                    let answer = try await steps.send("GET", "/v2/me")
                    let isJSON = !answer.object.isEmpty
                    seen.append("\(answer.status) \(answer.wire.body.isEmpty ? "empty" : isJSON ? "JSON" : "broken")")
                } catch { seen.append("dropped") }
            }
            #expect(seen == ["200 JSON", "500 empty", "200 empty", "200 broken", "dropped", "200 JSON"])
            sandbox.clearFaults()
            #expect(try await steps.send("GET", "/v2/me").status == 200)
        }
    }

    @Test("webhooks go to a partner elsewhere on loopback with the key and one request id, and what fails is noted")
    func webhooksElsewhere() async throws {
        try await withSandbox { partner in
            try await withSandbox { sandbox in
                let steps = try IFTTTSteps(sandbox)
                partner.inject(try FaultRule(parsing: "ifttt /partner/ifttt/v1/webhooks/* => status 503 x1"))
                #expect(sandbox.setWebhookPrefix(partner.ifttt.origin + "/partner"))
                _ = try await steps.send("POST", IFTTTSteps.leaving + "/disable", as: .ada)
                // A request is logged after its handler has run, so after what it brought.
                while partner.requests(.ifttt).count < 2 { await Task.yield() }
                let requests = partner.requests(.ifttt)
                #expect(partner.iftttLog(.receivedWebhooks).count == 1)
                #expect(requests.map(\.status) == [503, 200])
                #expect(requests.allSatisfy { $0.path == "/partner/ifttt/v1/webhooks/connection/disabled" })
                #expect(Set(requests.map { $0.clientFields["X-Request-ID"] }).count == 1)
                #expect(sandbox.iftttLog(.receivedWebhooks).isEmpty)
                while try attempts(steps).count < 2 { await Task.yield() }
                #expect(try attempts(steps).compactMap { $0["status"] as? Int } == [503, 200])
                #expect(!sandbox.setWebhookPrefix("http://example.test"))
            }
        }
    }

    @Test(
        "an answer to a webhook that HTTP does not have is noted as a failure, and the sandbox lives and tries again",
        arguments: [
            "HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 000 X\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "HTTP/1.1 101 X\r\n\r\n", "HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
            "220 mail.example ESMTP\r\n\r\n", "",
        ])
    func webhookAnswers(_ answer: String) async throws {
        let isFirst = Mutex(true)
        let partner = try RawServer { _ in
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? [.send(answer), .close] : [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
            }
        }
        defer { partner.stop() }
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            #expect(sandbox.setWebhookPrefix(partner.origin))
            _ = try await steps.send("POST", IFTTTSteps.leaving + "/disable", as: .ada)
            while try attempts(steps).isEmpty { await Task.yield() }
            // Of an answer that counted, there would be no second attempt to wait for.
            try #require(try attempts(steps).first?["failure"] is String)
            while try attempts(steps).count < 2 { await Task.yield() }
            #expect(try attempts(steps).map { $0["status"] as? Int } == [nil, 200])
        }
    }

    private func attempts(_ steps: IFTTTSteps) throws -> [[String: Any]] {
        try #require(try steps.log(.webhooks).last?["attempts"] as? [[String: Any]])
    }

    @Test("S23: the partner's token endpoint, user information and webhooks take what is right alone")
    func partner() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let client = try #require(sandbox.ifttt.clients.first)
            let url =
                sandbox.ifttt.origin + "/partner/oauth2/authorize?"
                + OAuthSteps.form([
                    "client_id": client.id, "response_type": "code", "scope": "ifttt", "state": "s",
                    "redirect_uri": "https://ifttt.com/channels/lumen_garden/authorize",
                ])
            let denied = try await sandbox.refuse(url)
            #expect(OAuthSteps.parameter("error", of: denied) == "access_denied")
            let redirect = try await sandbox.approve(url, as: "grace@example.test")
            let code = try #require(OAuthSteps.parameter("code", of: redirect))
            let form = [
                "grant_type": "authorization_code", "code": code, "client_id": client.id,
                "client_secret": client.secret ?? "",
                "redirect_uri": "https://ifttt.com/channels/lumen_garden/authorize",
            ]
            let headers = ["Content-Type": "application/x-www-form-urlencoded"]
            let tokens = try await steps.wire.send(
                "POST", "/partner/oauth2/token", headers: headers, body: OAuthSteps.form(form))
            let token = try #require(tokens.string("access_token"))
            let again = try await steps.wire.send(
                "POST", "/partner/oauth2/token", headers: headers, body: OAuthSteps.form(form))
            #expect(again.string("error") == "invalid_grant")
            let info = "/partner/ifttt/v1/user/info"
            #expect(try await steps.send("GET", info).outcome == "401 unauthorized")
            let grace = try await steps.send("GET", info, as: .user("access_sandbox_grace"))
            #expect(grace.text("data.id") == "garden-1002")
            #expect(try await steps.send("GET", info, as: .user(token)).outcome == "401 unauthorized")
            let hook = "/partner/ifttt/v1/webhooks/connection/enabled"
            #expect(try await steps.send("POST", hook, body: "{}").outcome == "401 unauthorized")
            #expect(try await steps.send("POST", hook, as: .garden, body: "{}").status == 200)
        }
    }

    @Test("the description tells everything that a client needs at IFTTT")
    func description() async throws {
        try await withSandbox { sandbox in
            let parsed = try JSONSerialization.jsonObject(with: Data(sandbox.descriptionJSON().utf8)) as? [String: Any]
            let services = try #require(parsed?["services"] as? [String: [String: Any]])
            let connect = try #require(services["ifttt"]?["connect"] as? [String: Any])
            #expect(
                Set(connect.keys) == [
                    "partners", "connections", "accounts", "revoked_user_token", "partner_path",
                ])
            #expect(services["standard"]?["connect"] == nil)
            let partner = try #require((connect["partners"] as? [[String: Any]])?.first)
            #expect(partner["service_key"] as? String == IFTTTSteps.key)
            let account = try #require(sandbox.ifttt.connect?.accounts.first)
            let answer = try await IFTTTSteps(sandbox).send("GET", "/v2/me", as: .user(account.userToken))
            #expect(answer.text("user_login") == account.login)
        }
    }
}
