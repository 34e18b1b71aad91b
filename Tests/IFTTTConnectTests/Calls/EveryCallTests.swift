import HTTPTypes
import Handshake
import IFTTTConnect
import OAuth
import TestFixtures
import Testing

/// A call of either kind, what it asks for, and what of it may be asked twice.
private struct Call: Sendable, CustomTestStringConvertible {
    let name: String
    let line: String
    var answer = ScriptedIFTTT.Reply.status(204)
    /// What says who asks: headers of the dossier's table 2.2.
    let credentials: Set<String>
    /// The pauses before it is sent again.
    var pauses: [Duration] = []
    let make: @Sendable (ScriptedIFTTT, TimeSource) async throws -> Void

    var testDescription: String { name }

    var isAnsweredWithJSON: Bool {
        if case .json = answer { true } else { false }
    }

    private static let user: Set = ["Authorization"]
    private static let userAndInvite: Set = ["Authorization", "IFTTT-Invite-Code"]
    private static let partner: Set = ["IFTTT-Service-Key", "X-Request-ID"]
    private static let path = "/v2/connections/aB3dE5fG"
    private static let drip = ComponentSlug(service: "garden", name: "drip")
    private static let options = ScriptedIFTTT.Reply.json(#"{"options":{}}"#)
    private static let who = ScriptedIFTTT.Reply.json(#"{"authentication_level":"none"}"#)

    private static func app(
        _ name: String, _ line: String, _ credentials: Set<String>, _ answer: ScriptedIFTTT.Reply = .status(204),
        pauses: [Duration] = [], _ make: @escaping @Sendable (ConnectAPI, ConnectionID) async throws -> Void
    ) -> Call {
        Call(name: name, line: line, answer: answer, credentials: credentials, pauses: pauses) { ifttt, time in
            let token = try IFTTTConnectTests.token()
            let caller = ConnectAPI.Caller(
                userToken: { token }, inviteCode: { Secret("inv-1") },
                anonymousID: { AnonymousID(rawValue: "6F1C0E0A-1111-4222-8333-444455556666") })
            try await make(ConnectAPI(caller, transport: ifttt, time: time), try ConnectionID(Balcony.id))
        }
    }

    private static func partner(
        _ name: String, _ line: String, _ answer: ScriptedIFTTT.Reply = .status(204), pauses: [Duration] = [],
        _ make: @escaping @Sendable (ConnectService, ConnectionID) async throws -> Void
    ) -> Call {
        Call(
            name: "the partner's " + name, line: line, answer: answer, credentials: partner, pauses: pauses
        ) { ifttt, time in
            let service = ConnectService(key: Secret("service-key-1"), transport: ifttt, time: time)
            try await make(service, try ConnectionID(Balcony.id))
        }
    }

    private static let standard: [Duration] = [.seconds(2), .seconds(4), .seconds(8)]
    private static let question: [Duration] = [.milliseconds(250)]
    private static let repeatable: [Duration] = [.seconds(1)]

    static let all: [Call] = [
        app("connection", "GET \(path)", userAndInvite, .json(Balcony.json()), pauses: standard) {
            _ = try await $0.connection($1)
        },
        app("disable", "POST \(path)/disable", userAndInvite, .json(Balcony.json()), pauses: repeatable) {
            _ = try await $0.disable($1)
        },
        app("enable", "POST \(path)/enable", userAndInvite, .json(Balcony.json()), pauses: repeatable) {
            _ = try await $0.enable($1)
        },
        app("me", "GET /v2/me", user, who, pauses: question) { api, _ in _ = try await api.me() },
        app("account", "GET /v2/account/find", [], pauses: question) { api, _ in
            let email = try #require(EmailAddress(rawValue: "ada@example.com"))
            if case .couldNotAsk(let error) = try await api.account(for: email) { throw error }
        },
        app("field options", "GET \(path)/features/f/field_options", user, options, pauses: question) {
            _ = try await $0.fieldOptions(of: .feature("f"), in: $1)
        },
        app("update", "PUT \(path)/user_connection", user) {
            _ = try await $0.update($1, to: UserConnection(features: []))
        },
        app("deprecated update", "POST \(path)", user) { try await $0.updateDeprecated($1, to: []) },
        app("report", "POST /v2/sdk/events", []) { api, _ in
            var queue = try #require(AnalyticsQueue(stored: Call.queue))
            queue.append(.footerClicked, at: 0)
            try await api.report(try #require(queue.batch))
        },
        partner("connection", "GET \(path)", .json(Balcony.json()), pauses: standard) {
            _ = try await $0.connection($1, for: "u")
        },
        partner("me", "GET /v2/me", who, pauses: question) { service, _ in _ = try await service.me() },
        partner("user token", "POST /v2/user_token", .json(#"{"user_token":"utk_1"}"#)) { service, _ in
            _ = try await service.userToken(for: "u", accessToken: Secret("t"))
        },
        partner("provisional code", "POST /v2/provisional_access_code", .json(#"{"provisional_access_code":"p"}"#)) {
            service, _ in _ = try await service.provisionalCode(for: Secret("c"))
        },
        partner("notify", "POST /v1/notifications", pauses: repeatable) { service, _ in
            try await service.notify([.user("u")])
        },
        partner("field options", "GET \(path)/features/f/field_options", options, pauses: question) {
            _ = try await $0.fieldOptions(of: .feature("f"), in: $1, for: "u")
        },
        partner("update", "PUT \(path)/user_connection") {
            _ = try await $0.update($1, to: UserConnection(features: []), for: "u")
        },
        partner("deprecated update", "POST \(path)") { try await $0.updateDeprecated($1, to: [], for: "u") },
        partner("refresh", "POST \(path)/user_connection/refresh", pauses: repeatable) {
            try await $0.refreshLabels(of: $1, for: "u")
        },
        partner("run", "POST \(path)/actions/garden.drip/run") {
            try await $0.run(drip, in: $1, RunOptions(for: "u"))
        },
        partner("test", "POST \(path)/triggers/garden.drip/test") {
            try await $0.test(drip, in: $1, RunOptions(for: "u"))
        },
        partner(
            "perform", "POST \(path)/queries/garden.drip/perform", .json(#"{"type":"list","data":[]}"#),
            pauses: repeatable
        ) { _ = try await $0.perform(drip, in: $1, RunOptions(for: "u")) },
    ]

    private static let queue = Array(
        #"{"anonymousID":"6F1C0E0A-1111-4222-8333-444455556666","waiting":[],"lastNumber":0}"#.utf8)
}

@Suite("Every call")
struct EveryCallTests {
    @Test("F078, 2.2: each has the headers that say who asks and with what, and no other", arguments: Call.all)
    private func headers(call: Call) async throws {
        let ifttt = ScriptedIFTTT([call.line: [call.answer]])
        try await call.make(ifttt, .hurried())
        let request = try #require(ifttt.requests.first)
        #expect(ifttt.requests.count == 1 && request.line.hasPrefix(call.line))
        let expected = [
            "Authorization": "Bearer utk_sandbox_9f2c", "IFTTT-Invite-Code": "inv-1",
            "IFTTT-Service-Key": "service-key-1",
        ]
        for (name, value) in expected {
            #expect(request.header(name) == (call.credentials.contains(name) ? value : nil), "\(name)")
        }
        let isPartner = call.credentials.contains("IFTTT-Service-Key")
        #expect(request.header("X-Request-ID")?.count == (isPartner ? 36 : nil))
        #expect(request.header("IFTTT-SDK-Version") == (isPartner ? nil : "2.8.0"))
        #expect(request.header("IFTTT-SDK-Platform") == (isPartner ? nil : "ios"))
        let identifier = "6F1C0E0A-1111-4222-8333-444455556666"
        #expect(request.header("IFTTT-SDK-Anonymous-Id") == (isPartner ? nil : identifier))
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("Content-Type") == (request.content.isEmpty ? nil : "application/json"))
    }

    @Test(
        "what may be asked twice is, after a lost answer and after status 500, and nothing else is",
        arguments: Call.all, [ScriptedIFTTT.Reply.lost, .status(500), .status(520), .status(429)])
    private func repeated(call: Call, failure: ScriptedIFTTT.Reply) async throws {
        let clock = HurriedClock()
        let ifttt = ScriptedIFTTT([call.line: Array(repeating: failure, count: call.pauses.count) + [call.answer]])
        try await call.make(ifttt, .hurried(clock))
        #expect(clock.pauses == call.pauses && ifttt.requests.count == call.pauses.count + 1)
        let broken = ScriptedIFTTT([call.line: [failure]])
        #expect(await connectError { try await call.make(broken, .hurried()) } != nil)
        #expect(broken.requests.count == call.pauses.count + 1)
    }

    @Test(
        "a truncated or foreign answer is retried like a lost one",
        // Where the status is all that counts there is nothing to read.
        arguments: Call.all.filter { !$0.pauses.isEmpty && $0.isAnsweredWithJSON },
        [#"{"type":"#, "<html>Sign in to the hotel's network</html>"])
    private func unreadable(call: Call, content: String) async throws {
        let clock = HurriedClock()
        let ifttt = ScriptedIFTTT([call.line: [.json(content), call.answer]])
        try await call.make(ifttt, .hurried(clock))
        #expect(clock.pauses == Array(call.pauses.prefix(1)) && ifttt.requests.count == 2)
    }

    @Test(
        "2.2: a problem tells what the request can be found by, the service's own identifier first", arguments: Call.all
    )
    private func requestID(call: Call) async throws {
        let ifttt = ScriptedIFTTT([call.line: [.status(400)]])
        guard case .service(let problem)? = await connectError({ try await call.make(ifttt, .hurried()) }) else {
            Issue.record("no problem")
            return
        }
        #expect(problem.requestID == ifttt.requests.first?.header("X-Request-ID"))
        if let id = problem.requestID { #expect("\(problem)".hasSuffix(" IFTTT's request ID: \(id).")) }
        ifttt.answer(
            call.line, .fields([try #require(HTTPField.Name("X-Request-ID")): "their\u{202E}-id"], status: 400))
        let theirs = try #require(await connectError { try await call.make(ifttt, .hurried()) })
        #expect("\(theirs)".hasSuffix(" IFTTT's request ID: their\u{FFFD}-id."))
    }
}
