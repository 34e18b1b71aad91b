import FileSelector
import Foundation
import Handshake
import Hummingbird
import OAuth
import Sandbox
import Sequencing
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("The routes of the file selector and of registrations", .heavy)
struct FileSelectorRoutesTests {
    private static let address = "https://app.example.test/genes"

    private struct Scene {
        let sandbox: Sandbox
        let server: RunningServer
        let handshake: Handshake
        let wire: WireClient

        func get(
            _ target: String, as user: String = "ada", _ headers: [String: String] = [:]
        ) async throws -> WireClient.Answer {
            try await wire.send("GET", target, headers: ["Cookie": "user=\(user)"].merging(headers) { $1 })
        }

        func post(
            _ target: String, _ body: String, as user: String = "ada", _ headers: [String: String] = [:]
        ) async throws -> WireClient.Answer {
            let sent = ["Cookie": "user=\(user)", "Content-Type": "application/json"].merging(headers) { $1 }
            return try await wire.send("POST", target, headers: sent, body: body)
        }

        func inject(_ rule: String) throws {
            sandbox.inject(try FaultRule(parsing: rule))
        }

        /// The records of an answer; null for one that cannot be read.
        static func records(_ answer: WireClient.Answer) throws -> [JSONValue] {
            try #require(try JSONValue(parsing: Array(answer.text.utf8)).array)
        }

        func stop() async {
            await server.stop()
            await sandbox.stop()
        }
    }

    /// A server whose user `ada` has signed in to Sequencing.com; `grace` is a user of the app alone.
    private func scene(scopes: [String]? = nil) async throws -> Scene {
        let sandbox = try await Sandbox.start()
        let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
        let service = Service.sequencing.at(origin)
        let handshake = try Handshake(
            Client(service: service, id: "my-genome-app", scopes: scopes), vault: MemoryVault())
        _ = try await handshake.signIn(as: "ada", through: Approval(sandbox: sandbox))
        let router = Router()
        let address = try PublicAddress(Self.address)
        // Its time stands, so that no limit fills up while a slow machine sends requests.
        let time = TimeSource(now: { 1_000_000 }, clock: ContinuousClock())
        let environment = SignInEnvironment(time: time, log: World.log)
        FileSelectorRoutes<BasicRequestContext>(
            handshake, at: address, environment: environment
        ) { request, _ in World.user(request)?.id }.add(to: router)
        RegistrationRoutes<BasicRequestContext>(
            Registration(.identifier("my-genome-app"), at: Sequencing.Hosts(of: service)), at: address,
            environment: environment
        ) { request, _ in World.user(request)?.id ?? "" }.add(to: router)
        let server = try await RunningServer.start(router)
        sandbox.clearRequests()
        return Scene(
            sandbox: sandbox, server: server, handshake: handshake, wire: try WireClient(origin: server.origin))
    }

    @Test("D18, F01: a page gets the list of its session's user, and the token stays on the server")
    func list() async throws {
        let scene = try await scene()
        let answer = try await scene.get("/files?all=true")
        #expect(answer.status == 200 && answer["Cache-Control"] == "no-store")
        let records = try Scene.records(answer)
        #expect(records.count == 21)
        #expect(records.first?.object?["FriendlyDesc1"]?.string == "Ada", "the record is whole")
        let token = try await #require(try await scene.handshake.account("ada")).accessToken().reveal()
        #expect(!answer.text.contains(token) && !"\(answer.fields)".contains(token))
        // Another user of the app sees nothing of it, whatever the request asks for.
        for target in ["/files?all=true", "/files?all=true&user=ada"] {
            let other = try await scene.get(target, as: "grace", ["X-User": "ada"])
            #expect(other.status == 401 && other.string("code") == "sign_in_required", "\(target)")
        }
        #expect(try await scene.wire.send("GET", "/files?all=true", headers: [:]).string("code") == "unauthorized")
        await scene.stop()
    }

    @Test(
        "D02: the flags are the service's own, and none at all is refused",
        arguments: [("sample=true", 10), ("uploaded=true&shared=true", 8), ("all=true", 21), ("", nil), ("all=1", nil)]
            as [(String, Int?)])
    func flags(_ query: String, _ count: Int?) async throws {
        let scene = try await scene()
        let answer = try await scene.get("/files?\(query)")
        if let count { #expect(try Scene.records(answer).count == count) }
        #expect(answer.status == (count == nil ? 400 : 200))
        await scene.stop()
    }

    @Test("pages of other sites get neither list nor mail")
    func otherSites() async throws {
        let scene = try await scene()
        for headers in [["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
            #expect(try await scene.get("/files?all=true", as: "ada", headers).string("code") == "cross_site")
            let asked = try await scene.post("/register", #"{"email":"new@example.test"}"#, as: "ada", headers)
            #expect(asked.string("code") == "cross_site")
        }
        #expect(scene.sandbox.requests(.sequencing).isEmpty)
        await scene.stop()
    }

    @Test(
        "D15: what is wrong at the service is told apart, without its own words",
        arguments: [
            ("status 503 x3", 502, "unreachable"), ("status 500", 502, "unreachable"), ("garbage", 502, "unreachable"),
            ("status 429", 429, "too_many"), ("without Id", 502, "unreachable"),
            ("status 403", 401, "sign_in_required"),
        ])
    func failures(_ fault: String, _ status: Int, _ code: String) async throws {
        let scene = try await scene()
        try scene.inject("sequencing /DataSourceList => \(fault)")
        let answer = try await scene.get("/files?all=true")
        #expect(answer.status == status && answer.string("code") == code)
        #expect(!answer.text.contains("DataSourceList") && !answer.text.contains("Injected"))
        await scene.stop()
    }

    @Test("D15: when the session has ended, the page is told to sign in again")
    func ended() async throws {
        let scene = try await scene()
        try scene.inject("sequencing /DataSourceList => status 401")
        try scene.inject(#"sequencing /oauth2/token => status 400 {"error":"invalid_grant"}"#)
        let answer = try await scene.get("/files?all=true")
        #expect(answer.status == 401 && answer.string("code") == "sign_in_required")
        await scene.stop()
    }

    @Test("a user who asks too often is told to wait")
    func limit() async throws {
        let scene = try await scene()
        var last = try await scene.get("/files?sample=true")
        for _ in 0..<20 { last = try await scene.get("/files?sample=true") }
        #expect(last.status == 429 && last["Retry-After"] != nil)
        #expect(try await scene.get("/files?sample=true", as: "grace").status == 401, "others are not held up")
        await scene.stop()
    }

    @Test(
        "the components are served, and not sent to a browser that has them",
        arguments: [
            ("/file-selector.js", "customElements.define(\"file-selector\""),
            ("/registration-sheet.js", "customElements.define(\"registration-sheet\""),
        ])
    func scripts(_ path: String, _ word: String) async throws {
        let scene = try await scene()
        let script = try await scene.get(path)
        #expect(script.status == 200 && script["Content-Type"] == "text/javascript; charset=utf-8")
        #expect(script.text.hasPrefix("const WORDS = {") && script.text.contains(word))
        let again = try await scene.get(path, as: "ada", ["If-None-Match": try #require(script["ETag"])])
        #expect(again.status == 304 && again.text.isEmpty)
        await scene.stop()
    }

    @Test("B01, B03: an account is asked for, and the service's refusal is handed on")
    func registration() async throws {
        let scene = try await scene()
        let new = try await scene.post("/register", #"{"email":"new@example.test"}"#)
        #expect(new.status == 200 && new.string("outcome") == "mail_sent")
        let known = try await scene.post("/register", #"{"email":"ada@example.test"}"#)
        #expect(known.string("outcome") == "refused" && known.text.contains("That address is already registered."))
        let reset = try await scene.post("/reset-password", #"{"email":"ada@example.test"}"#)
        #expect(reset.string("outcome") == "mail_sent")
        let paths = scene.sandbox.requests(.sequencing).map(\.path)
        #expect(paths.count == 3 && paths.allSatisfy { $0.hasPrefix("/indexApi.php") })
        await scene.stop()
    }

    @Test(
        "B02: what is no address is refused here",
        arguments: [#"{"email":""}"#, #"{"email":"ada"}"#, #"{"email":7}"#, "{}", "[]", "", "{"])
    func noAddress(_ body: String) async throws {
        let scene = try await scene()
        let answer = try await scene.post("/register", body)
        #expect(answer.status == 422 && answer.string("code") == "invalid_email")
        #expect(scene.sandbox.requests(.sequencing).isEmpty)
        await scene.stop()
    }

    @Test("a visitor cannot make the service send mail without end")
    func mailLimit() async throws {
        let scene = try await scene()
        var statuses: [Int] = []
        for number in 0..<7 {
            statuses.append(try await scene.post("/register", #"{"email":"new\#(number)@example.test"}"#).status)
        }
        #expect(statuses == [200, 200, 200, 200, 200, 429, 429])
        #expect(try await scene.post("/register", #"{"email":"late@example.test"}"#, as: "grace").status == 200)
        #expect(scene.sandbox.requests(.sequencing).count == 6)
        await scene.stop()
    }

    @Test("the mails to one address are limited, for all users together and in every spelling")
    func addressLimit() async throws {
        let scene = try await scene()
        var statuses: [Int] = []
        for number in 0..<7 {
            let address = number.isMultiple(of: 2) ? "ada@example.test" : "Ada@Example.test"
            let user = number < 4 ? "ada" : "grace"
            statuses.append(try await scene.post("/reset-password", #"{"email":"\#(address)"}"#, as: user).status)
        }
        #expect(statuses == [200, 200, 200, 200, 200, 429, 429])
        #expect(scene.sandbox.requests(.sequencing).count == 5)
        await scene.stop()
    }

    @Test(
        "an answer that did not come is told apart from a service that is down",
        arguments: [
            ("cut 0", 504, "no_answer"), ("garbage", 504, "no_answer"), (#"body {"status":7}"#, 504, "no_answer"),
            ("status 503", 502, "unreachable"),
        ])
    func unanswered(_ fault: String, _ status: Int, _ code: String) async throws {
        let scene = try await scene()
        try scene.inject("sequencing /indexApi.php => \(fault)")
        let answer = try await scene.post("/register", #"{"email":"new@example.test"}"#)
        #expect(answer.status == status && answer.string("code") == code)
        await scene.stop()
    }
}

/// The sandbox's first user at the browser: consents immediately.
private struct Approval: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}
