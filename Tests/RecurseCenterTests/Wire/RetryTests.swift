import HTTPTypes
import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("Repeating what only reads", .heavy)
struct RetryTests {
    private static let path = "GET /api/v1/profiles/me"

    private func fails(_ count: Int, status: Int, headers: HTTPFields = [:]) -> ScriptedService {
        let failure = ScriptedService.Reply.json(#"{"message":"slow down"}"#, status: status, headers: headers)
        return ScriptedService([Self.path: Array(repeating: failure, count: count) + [.json(ScriptedService.ada)]])
    }

    @Test("RC-25: the pauses are 1, 2, 4, 8, 16, 32 and then 60 seconds", arguments: [429, 500, 502, 503, 504])
    func series(_ status: Int) async throws {
        let time = TestTime()
        let center = try await fails(8, status: status).center(
            retry: RetryPolicy(jitter: 0, timeout: .seconds(3600)), time: time)
        _ = try await center.profile(.me)
        #expect(time.pauses == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }

    @Test("RC-25: chance shortens a pause by its share", arguments: [(0.0, 1.0), (0.5, 0.75), (0.999, 0.5005)])
    func jitter(_ chance: Double, _ seconds: Double) async throws {
        let time = TestTime()
        let center = try await fails(1, status: 503).center(retry: RetryPolicy(random: { chance }), time: time)
        _ = try await center.profile(.me)
        let pause = try #require(time.pauses.first) / .seconds(1)
        #expect(abs(pause - seconds) < 1e-9)
        #expect(time.pauses.count == 1)
    }

    @Test(
        "RC-25: Retry-After is honoured as seconds and as a date; what cannot be read is not a wish",
        arguments: [
            ("7", 7), ("0", 0), ("Tue, 01 Jul 2025 16:00:30 GMT", 30), ("Tue, 01 Jul 2025 15:00:00 GMT", 0),
            ("soon", 1), ("-5", 1), ("1.5", 1), ("", 1), ("Tue, 31 Feb 2025 16:00:30 GMT", 1),
        ] as [(String, Double)])
    func retryAfter(_ value: String, _ seconds: Double) async throws {
        let time = TestTime()
        let center = try await fails(1, status: 429, headers: [.retryAfter: value]).center(time: time)
        _ = try await center.profile(.me)
        #expect(time.pauses == [.seconds(seconds)])
    }

    @Test("RC-25: a Retry-After beyond the deadline fails immediately instead of waiting")
    func tooLong() async throws {
        let time = TestTime()
        let service = fails(1, status: 429, headers: [.retryAfter: "3600"])
        let center = try await service.center(time: time)
        #expect(await centerError { try await center.profile(.me) } == .tooManyRequests(pause: .seconds(3600)))
        #expect(time.pauses.isEmpty)
        #expect(service.lines.count == 1)
    }

    @Test("RC-25: it ends at the deadline, with the service's last word")
    func deadline() async throws {
        let time = TestTime()
        let service = ScriptedService([Self.path: [.json(#"{"message":"down"}"#, status: 503)]])
        let center = try await service.center(retry: RetryPolicy(jitter: 0, timeout: .seconds(20)), time: time)
        #expect(await centerError { try await center.profile(.me) } == .service(status: 503, message: "down"))
        #expect(time.pauses == [1, 2, 4, 8].map { .seconds($0) })
        #expect(service.lines.count == 5)
    }

    @Test("RC-25: a lost connection is a reason, and never counts as unauthorized")
    func lost() async throws {
        let service = ScriptedService([Self.path: [.lost, .lost, .json(ScriptedService.ada)]])
        let center = try await service.center()
        #expect(try await center.profile(.me).name == "Ada Example")
        #expect(service.lines.count == 3)
    }

    @Test("RC-25: what changes something is sent once", arguments: ["PATCH", "DELETE"])
    func unsafe(_ method: String) async throws {
        let service = ScriptedService(["\(method) /api/v1/hub_visits/759/2025-07-01": [.json("{}", status: 503)]])
        let center = try await service.center()
        let ada = try #require(PersonID(759))
        let error = await centerError {
            if method == "PATCH" { try await center.checkIn(ada) } else { try await center.checkOut(ada) }
        }
        #expect(error == .service(status: 503, message: nil))
        #expect(service.lines.count == 1)
    }

    @Test("an error of the caller's is not repeated", arguments: [400, 409, 422])
    func notPassing(_ status: Int) async throws {
        let service = fails(1, status: status)
        let center = try await service.center()
        #expect(await centerError { try await center.profile(.me) } == .service(status: status, message: "slow down"))
        #expect(service.lines.count == 1)
    }

    @Test("RC-25: at the sandbox, a limit with a wish is waited out")
    func atTheSandbox() async throws {
        try await withHub { hub in
            try hub.inject("/api/v1/profiles/me => header Retry-After 12 x1")
            try hub.inject("/api/v1/profiles/me => status 429 {\"message\":\"too many\"} x1")
            #expect(try await hub.center.profile(.me).name == "Ada Example")
            #expect(hub.time.pauses == [.seconds(12)])
            #expect(hub.paths.count == 2)
        }
    }

    @Test("a cancelled task does not wait")
    func cancelled() async throws {
        let service = fails(100, status: 503)
        let center = try await service.center()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await center.profile(.me)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a service's words come without control characters, tokens and beyond measure")
    func words() async throws {
        let long = String(repeating: "x", count: 1_000)
        let token = "abcdefghij0123456789abcdefghij"
        for (word, test) in [
            (#"\u001b[31mred"#, { (text: String) in !text.contains("\u{1B}") }),
            (long, { $0.count < 400 }), (token, { !$0.contains("abcdefghij0123456789") }),
        ] {
            let service = ScriptedService([Self.path: [.json(#"{"message":"\#(word)"}"#, status: 400)]])
            let error = try #require(await centerError { try await service.center().profile(.me) })
            #expect(test(error.description), "\(error)")
        }
    }
}
