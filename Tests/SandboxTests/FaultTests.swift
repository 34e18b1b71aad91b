import Sandbox
import TestFixtures
import Testing

@Suite("Faults on the wire", .heavy)
struct FaultTests {
    private func answer(
        _ rules: [String], _ method: String = "GET", _ target: String = "/jwks", limit: Int = 1 << 24
    ) async throws -> WireClient.Answer {
        let sandbox = try await Sandbox.start(.init(faults: try rules.map { try FaultRule(parsing: $0) }))
        let answer: Result<WireClient.Answer, any Error>
        do {
            let wire = try WireClient(origin: sandbox.standard.origin)
            answer = .success(try await wire.send(method, target, limit: limit))
        } catch {
            answer = .failure(error)
        }
        await sandbox.stop()
        return try answer.get()
    }

    @Test("status takes the place of the service, with text or JSON")
    func status() async throws {
        let plain = try await answer(["/jwks => status 500 out of order"])
        #expect(plain.status == 500)
        #expect(plain.text == "out of order")
        let json = try await answer([#"GET /jwks => status 429 {"error":"slow_down"}"#])
        #expect(json.string("error") == "slow_down")
        #expect(json["Content-Type"] == "application/json")
        #expect(try await answer(["/jwks => status 503"]).body.isEmpty)
    }

    @Test("cut sends the true length, so many bytes and then nothing", arguments: [0, 1, 40])
    func cut(_ count: Int) async throws {
        let answer = try await answer(["standard /jwks => cut \(count)"])
        #expect(answer.status == 200)
        #expect(answer.body.count == count)
        #expect(!answer.isComplete)
        #expect((answer["Content-Length"].flatMap { Int($0) } ?? 0) > 100)
    }

    @Test("garbage is neither JSON nor UTF-8")
    func garbage() async throws {
        let answer = try await answer(["/jwks => garbage"])
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "text/html")
        #expect(answer.json.isEmpty)
        #expect(String(validating: answer.body, as: UTF8.self) == nil)
    }

    @Test("redirect answers with a Location and the status asked for")
    func redirect() async throws {
        let answer = try await answer(["/jwks => redirect http://127.0.0.1:9/steal 307"])
        #expect(answer.status == 307)
        #expect(answer["Location"] == "http://127.0.0.1:9/steal")
        #expect(try await self.answer(["/jwks => redirect /elsewhere"]).status == 302)
    }

    @Test("endless goes on until the client leaves")
    func endless() async throws {
        let answer = try await answer(["/jwks => endless"], limit: 600)
        #expect(answer.status == 200)
        #expect(answer["Content-Length"] == nil)
        #expect(answer.byteCount >= 600)
    }

    @Test("huge is JSON of exactly so many bytes", arguments: [5, 13, 100_000, 3_000_000])
    func huge(_ count: Int) async throws {
        let answer = try await answer(["/jwks => huge \(count)"])
        #expect(answer.body.count == count)
        #expect(answer.isComplete)
        if count > 14 { #expect(answer.string("padding")?.count == count - 14) }
    }

    @Test("header sets a field and body replaces the answer, and both combine with delay")
    func combined() async throws {
        let answer = try await answer([
            "/jwks => delay 0.001", "/jwks => header Retry-After 120", #"/jwks => body {"keys":"none"}"#,
            "/jwks => status 500",
        ])
        #expect(answer.status == 200)
        #expect(answer["Retry-After"] == "120")
        #expect(answer.string("keys") == "none")
    }

    @Test("drop processes the request and then closes the connection without an answer")
    func drop() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn()
            sandbox.inject(try FaultRule(parsing: "standard POST /token => drop x1"))
            await #expect(throws: WireClient.Failure.self) { _ = try await steps.refresh(tokens.refresh) }
            #expect(sandbox.requests().last?.status == nil)
            #expect(sandbox.requests().last?.grantType == "refresh_token")
            let second = try await steps.refresh(tokens.refresh)
            #expect(second.string("error") == "invalid_grant")
        }
    }

    @Test("a delayed request is processed immediately, only its answer waits")
    func delayIsAfterProcessing() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn()
            sandbox.inject(try FaultRule(parsing: "POST /token => delay 600 x1"))
            let waiting = Task { try await steps.refresh(tokens.refresh) }
            while sandbox.requests(.standard).count < 2 { await Task.yield() }
            #expect(try await steps.refresh(tokens.refresh).string("error") == "invalid_grant")
            await sandbox.stop()
            await #expect(throws: WireClient.Failure.self) { try await waiting.value }
        }
    }

    @Test(
        "a rule applies to the service, method and path it names and to nothing else",
        arguments: [
            ("standard /jwks => status 500", "GET", "/jwks", 500),
            ("sequencing /jwks => status 500", "GET", "/jwks", 200),
            ("* /jwks => status 500", "GET", "/jwks", 500),
            ("POST /jwks => status 500", "GET", "/jwks", 200),
            ("/jwk => status 500", "GET", "/jwks", 200),
            ("/jw* => status 500", "GET", "/jwks", 500),
            ("* => status 500", "GET", "/", 500),
            ("/jwks?a=1 => status 500", "GET", "/jwks?a=1", 500),
            ("/jwks?a=1 => status 500", "GET", "/jwks?a=2", 200),
            ("/authorize => status 502", "GET", "/authorize?client_id=x", 502),
            ("* => status 500", "GET", "/_sandbox", 200),
        ])
    func matching(_ rule: String, _ method: String, _ target: String, _ status: Int) async throws {
        #expect(try await answer([rule], method, target).status == status)
    }

    @Test("a limited rule disappears after its uses, cleared rules immediately")
    func limits() async throws {
        try await withSandbox(.init(faults: [try FaultRule(parsing: "/jwks => status 500 x2")])) { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await wire.send("GET", "/jwks").status) }
            #expect(statuses == [500, 500, 200, 200])
            sandbox.inject(try FaultRule(parsing: "/jwks => status 500"))
            #expect(try await wire.send("GET", "/jwks").status == 500)
            sandbox.clearFaults()
            #expect(try await wire.send("GET", "/jwks").status == 200)
        }
    }
}
