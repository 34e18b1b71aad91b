import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import ConnectedAccountsUI

/// The server's answers, as the test writes them; `HandshakeServerTests` has those of the real routes.
@MainActor @Suite("A list of accounts on a server that answers as it likes")
struct AccountsServerTests {
    /// Answers each request with what the test says.
    private final class Scripted: Transport {
        let answer: @Sendable (RequestMessage) async throws -> ResponseMessage
        private let sent = Mutex<[String]>([])
        var requests: [String] { sent.withLock { $0 } }

        init(_ answer: @escaping @Sendable (RequestMessage) async throws -> ResponseMessage) { self.answer = answer }

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            sent.withLock { $0.append("\(request)") }
            let response = try await answer(request)
            guard response.content.count <= limits.maximumContentLength else {
                throw TransportError.tooLarge(host: "app.example", limit: limits.maximumContentLength)
            }
            return response
        }
    }

    private struct Returning: Browser {
        let url: String
        func show(_ page: SignInPage) async throws -> String? { url }
    }

    nonisolated private static let redirect = "com.example.app:/accounts"
    nonisolated private static let tooLong = String(repeating: "a", count: 5_000_000)
    /// Stands for an answer that does not arrive.
    nonisolated private static let lost = 0

    nonisolated private static func response(_ status: Int, _ text: String = "") -> ResponseMessage {
        ResponseMessage(head: HTTPResponse(status: .init(code: status)), content: Array(text.utf8))
    }

    nonisolated private static func list(
        _ state: String, token: String = "t", user: String = "null", isNameAvailable: Bool = false,
        lastUse: String = "null"
    ) -> String {
        #"{"accounts":[\#(account(state, token, user, isNameAvailable, lastUse))]}"#
    }

    nonisolated private static func account(
        _ state: String, _ token: String, _ user: String, _ isNameAvailable: Bool, _ lastUse: String
    ) -> String {
        #"{"service":"standard","name":"Standard","state":"\#(state)","user":\#(user),"#
            + #""is_name_available":\#(isNameAvailable),"last_use":\#(lastUse),"token":"\#(token)"}"#
    }

    private func model(
        _ transport: any Transport, page: (@Sendable (String) async throws -> String)? = nil
    ) throws -> ConnectedAccountsModel {
        ConnectedAccountsModel(
            try AccountsServer(
                at: "https://app.example/connect/", redirect: Self.redirect, transport: transport, page: page
            ) { [.authorization: "Bearer session-of-ada"] })
    }

    @Test("requests go to the routes of the app's own server, with its session")
    func requests() async throws {
        let transport = Scripted { request in
            #expect(request.head.headerFields[.authorization] == "Bearer session-of-ada")
            guard request.head.method == .post else { return Self.response(200, Self.list("signed_in")) }
            guard case .bytes(let bytes) = request.content else { return Self.response(400) }
            #expect(String(decoding: bytes, as: UTF8.self) == #"{"token":"t"}"#)
            return Self.response(200, #"{"revoked":[],"not_revocable":["refresh_token"],"remaining":[]}"#)
        }
        let model = try model(transport)
        await model.load()
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .notRevocable)
        let base = "https://app.example/connect"
        #expect(
            transport.requests == [
                "GET \(base)/connected-accounts", "POST \(base)/standard/disconnect", "GET \(base)/connected-accounts",
            ])
    }

    @Test(
        "what is no list is told by its kind, and never taken for an empty one",
        arguments: [
            (401, "", .loggedOut), (403, "", .unreadable), (404, "", .unreadable), (302, "", .unreadable),
            (429, "", .tooMany), (500, "", .unavailable), (503, "", .unavailable), (200, "", .unreadable),
            (200, "<html>", .unreadable), (200, "[]", .unreadable), (200, "{}", .unreadable),
            (200, #"{"accounts":{}}"#, .unreadable), (200, #"{"accounts":[]}"#, .unreadable),
            (200, #"{"accounts":[null,7,{"service":"../x"}]}"#, .unreadable), (204, "", .unreadable),
            (200, #"{"accounts":["# + String(repeating: " ", count: 300_000) + "]}", .unavailable),
            (200, String(repeating: "[", count: 200_000), .unreadable),
        ] as [(Int, String, ConnectedAccountsError)])
    func failures(_ status: Int, _ text: String, _ expected: ConnectedAccountsError) async throws {
        let model = try model(Scripted { _ in Self.response(status, text) })
        await model.load()
        #expect(model.failure == expected && model.accounts == [])
        #expect(!expected.code.isEmpty && !"\(expected)".contains("session-of-ada"))
    }

    @Test("an unreachable server leaves what was shown, an ended session does not")
    func kept() async throws {
        let answer = Mutex(Self.response(200, Self.list("signed_in", user: #""Ada""#)))
        let isReachable = Mutex(true)
        let model = try model(
            Scripted { _ in
                guard isReachable.withLock({ $0 }) else { throw TransportError.timedOut(host: "app.example") }
                return answer.withLock { $0 }
            })
        await model.load()
        #expect(model.accounts.map(\.userName) == ["Ada"])
        isReachable.withLock { $0 = false }
        await model.load()
        #expect(model.failure == .unavailable && model.accounts.map(\.userName) == ["Ada"])
        isReachable.withLock { $0 = true }
        answer.withLock { $0 = Self.response(401) }
        await model.load()
        #expect(model.failure == .loggedOut && model.accounts == [], "they may be another user's")
    }

    @Test("a session that cannot be had is an ended one, and nothing is sent")
    func noSession() async throws {
        struct Gone: Error {}
        let transport = Scripted { _ in Self.response(200, Self.list("signed_in")) }
        let server = try AccountsServer(at: "https://app.example", redirect: Self.redirect, transport: transport) {
            throw Gone()
        }
        let model = ConnectedAccountsModel(server)
        await model.load()
        #expect(model.failure == .loggedOut && transport.requests == [])
    }

    @Test("a session that cannot be read now leaves what was shown, one that is gone does not")
    func session() async throws {
        struct Gone: Error {}
        let problem = Mutex<(any Error)?>(nil)
        let transport = Scripted { _ in Self.response(200, Self.list("signed_in")) }
        let server = try AccountsServer(at: "https://app.example", redirect: Self.redirect, transport: transport) {
            if let error = problem.withLock({ $0 }) { throw error }
            return [:]
        }
        let model = ConnectedAccountsModel(server)
        await model.load()
        problem.withLock { $0 = ConnectedAccountsError.unavailable }
        await model.load()
        #expect(model.failure == .unavailable && model.accounts.map(\.state) == [.signedIn])
        problem.withLock { $0 = Gone() }
        await model.load()
        #expect(model.failure == .loggedOut && model.accounts == [] && transport.requests.count == 1)
    }

    @Test(
        "a name is shown only in the list of the user whose account it is",
        arguments: [("t", "Ada"), ("of-grace", nil)] as [(String, String?)])
    func named(_ token: String, _ name: String?) async throws {
        let transport = Scripted { request in
            let isList = request.head.path?.hasSuffix("/connected-accounts") ?? false
            return Self.response(
                200,
                isList
                    ? Self.list("signed_in", isNameAvailable: true)
                    : Self.account(name == nil ? "sign_in_required" : "signed_in", token, #""Ada""#, true, "null"))
        }
        let model = try model(transport)
        await model.load()
        #expect(transport.requests.count == 2)
        #expect(model.accounts.map(\.userName) == [name] && model.accounts.map(\.state) == [.signedIn])
    }

    @Test(
        "a last use far beyond any date is none",
        arguments: [
            ("-9223372036854775808", nil), ("9223372036854775807", nil), ("253402300800", nil), ("-1", -1),
            ("253402300799", 253_402_300_799),
        ] as [(String, Double?)])
    func lastUse(_ text: String, _ time: Double?) async throws {
        let model = try model(Scripted { _ in Self.response(200, Self.list("signed_in", lastUse: text)) })
        await model.load()
        #expect(model.failure == nil && model.accounts.map(\.lastUse) == [time])
    }

    @Test("of a hostile list, what can be read is shown, bounded")
    func hostile() async throws {
        let long = String(repeating: "x", count: 1_000)
        let names = ["../admin", "a/b", "", "A", "é", String(repeating: "a", count: 65), "a?b", "a#b", "%2e"]
        let bad = names.map { #"{"service":"\#($0)","state":"signed_in","token":"t"}"# } + ["null", "7", "[]", "{}"]
        let many = (0..<300).map {
            #"{"service":"s\#($0)","name":"\#(long)","state":"owned","user":"\u202Ea\u0000b","last_use":9e18,"token":"t"}"#
        }
        let text = #"{"accounts":["# + (bad + many + many).joined(separator: ",") + "]}"
        let model = try model(Scripted { _ in Self.response(200, text) })
        await model.load()
        #expect(model.failure == .unavailable, "too long")
        let short = #"{"accounts":["# + (bad + many.prefix(100) + many.prefix(50)).joined(separator: ",") + "]}"
        let shown = try self.model(Scripted { _ in Self.response(200, short) })
        await shown.load()
        #expect(shown.failure == nil && shown.accounts.count == AccountsServer.maximumCount - bad.count)
        #expect(Set(shown.accounts.map(\.service)).count == shown.accounts.count)
        for account in shown.accounts {
            #expect(account.state == .signInRequired && account.displayName.count == 100 && account.lastUse == nil)
            #expect(account.userName?.unicodeScalars.contains { $0.value < 32 } == false)
        }
    }

    @Test(
        "that a redirect has come says nothing: the server says whether the account is connected",
        arguments: [
            (redirect, "signed_in", .connected), (redirect, "absent", .connectFailed),
            (redirect + "?connected-accounts=cancelled", "absent", .cancelled),
            (redirect + "?connected-accounts=failed", "absent", .connectFailed),
            (redirect + "?a=b&connected-accounts=cancelled#x", "absent", .cancelled),
            (redirect + "#?connected-accounts=cancelled", "absent", .connectFailed),
            (redirect + "?connected-accounts=connected", "absent", .connectFailed),
            (redirect + "?connected-accounts=failed", "signed_in", .connected), ("", "signed_in", .connected),
            (redirect + "2?connected-accounts=cancelled", "absent", .connectFailed), ("", "absent", .connectFailed),
            ("com.example.other:/accounts?connected-accounts=cancelled", "absent", .connectFailed),
            ("https://evil.example/\(redirect)?connected-accounts=cancelled", "absent", .connectFailed),
            ("\(redirect)?connected-accounts=cancelled&\(tooLong)", "absent", .connectFailed),
        ] as [(String, String, ConnectedAccountsModel.Outcome)])
    func redirects(_ url: String, _ state: String, _ outcome: ConnectedAccountsModel.Outcome) async throws {
        let model = try model(Scripted { _ in Self.response(200, Self.list(state)) })
        model.connect("standard", through: Returning(url: url))
        await model.finish("standard")
        #expect(model.outcomes["standard"] == outcome)
    }

    @Test(
        "what was said about a failed connection ends when the account is in another state",
        arguments: [
            (redirect + "?connected-accounts=cancelled", .cancelled), ("", .connectFailed),
        ] as [(String, ConnectedAccountsModel.Outcome)])
    func connectedLater(_ url: String, _ outcome: ConnectedAccountsModel.Outcome) async throws {
        let state = Mutex("absent")
        let model = try model(Scripted { _ in Self.response(200, Self.list(state.withLock { $0 })) })
        model.connect("standard", through: Returning(url: url))
        await model.finish("standard")
        await model.load()
        #expect(model.outcomes["standard"] == outcome, "nothing has changed")
        // In another window, the user has connected it.
        state.withLock { $0 = "signed_in" }
        await model.load()
        #expect(model.outcomes == [:] && model.accounts.map(\.state) == [.signedIn])
    }

    @Test("whether an account is connected is not told while the list cannot be read")
    func unproven() async throws {
        let model = try model(Scripted { _ in Self.response(503) })
        model.connect("standard", through: Returning(url: Self.redirect))
        await model.finish("standard")
        #expect(model.outcomes["standard"] == nil && model.failure == .unavailable)
    }

    @Test(
        "the browser is sent to the app's own server alone",
        arguments: [
            "https://evil.example/", "http://app.example/", "https://app.example:8443/", "https://app.example.evil/",
            "https://ada@app.example/", "javascript:alert(1)", "https://app.example/'$(id)", "",
        ])
    func pages(_ page: String) async throws {
        final class Shown: Browser {
            let pages = Mutex<[String]>([])
            func show(_ page: SignInPage) async throws -> String? {
                pages.withLock { $0.append(page.url) }
                return AccountsServerTests.redirect
            }
        }
        let transport = Scripted { _ in Self.response(200, Self.list("absent")) }
        let (browser, refused) = (Shown(), try model(transport) { _ in page })
        refused.connect("standard", through: browser)
        await refused.finish("standard")
        #expect(browser.pages.withLock { $0 } == [] && refused.outcomes["standard"] == .connectFailed)
        let own = try model(transport)
        own.connect("../admin", through: browser)
        await own.finish("../admin")
        #expect(browser.pages.withLock { $0 } == [])
        let led = try model(transport) { start in "https://app.example/once?then=\(start.utf8.count)" }
        led.connect("standard", through: browser)
        await led.finish("standard")
        own.connect("standard", through: browser)
        await own.finish("standard")
        let start = "https://app.example/connect/standard/start?return_to=%2Fconnect%2Fconnected-accounts-return"
        #expect(browser.pages.withLock { $0 } == ["https://app.example/once?then=\(start.utf8.count)", start])
    }

    @Test("9.5: the browser is opened with a ticket, which the server gives the app for its user")
    func ticket() async throws {
        final class Shown: Browser {
            let pages = Mutex<[String]>([])
            func show(_ page: SignInPage) async throws -> String? {
                pages.withLock { $0.append(page.url) }
                return AccountsServerTests.redirect
            }
        }
        let answer = Mutex((200, #"{"ticket":"1300.a b"}"#))
        let transport = Scripted { request in
            guard request.head.method == .post else { return Self.response(200, Self.list("absent")) }
            let (status, text) = answer.withLock { $0 }
            return Self.response(status, text)
        }
        let (browser, model) = (Shown(), try model(transport))
        let start = "https://app.example/connect/standard/start?return_to=%2Fconnect%2Fconnected-accounts-return"
        model.connect("standard", through: browser)
        await model.finish("standard")
        #expect(transport.requests.first == "POST https://app.example/connect/standard/ticket")
        #expect(browser.pages.withLock { $0 } == [start + "&ticket=1300.a%20b"])
        // An attacker can send a page that begins a session to another user, whom the start route has to ask.
        let led = try self.model(transport) { start in "https://app.example/once?then=\(start)" }
        led.connect("standard", through: browser)
        await led.finish("standard")
        #expect(browser.pages.withLock { $0.last } == "https://app.example/once?then=\(start)")
        // Without one the server asks the user on a page.
        for other in [(404, ""), (503, "{}"), (200, "[]"), (200, #"{"ticket":"\#(Self.tooLong.prefix(300))"}"#)] {
            answer.withLock { $0 = other }
            model.connect("standard", through: browser)
            await model.finish("standard")
            #expect(browser.pages.withLock { $0.last } == start)
        }
    }

    @Test("9.5: no browser is opened for a session that has ended, and the list says so")
    func ended() async throws {
        final class Shown: Browser {
            let count = Mutex(0)
            func show(_ page: SignInPage) async throws -> String? {
                count.withLock { $0 += 1 }
                return AccountsServerTests.redirect
            }
        }
        let model = try model(Scripted { _ in Self.response(401, "{}") })
        let browser = Shown()
        model.connect("standard", through: browser)
        await model.finish("standard")
        #expect(browser.count.withLock { $0 } == 0)
        #expect(model.failure == .loggedOut && model.outcomes["standard"] == nil)
    }

    @Test("what was said and asked of one user's account is not shown to the next user")
    func otherUser() async throws {
        let answer = Mutex(Self.list("signed_in", token: "of-ada", user: #""Ada""#))
        let model = try model(
            Scripted { request in
                request.head.method == .post ? Self.response(502, "{}") : Self.response(200, answer.withLock { $0 })
            })
        await model.load()
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .disconnectFailed)
        model.askToDisconnect("standard")
        answer.withLock { $0 = Self.list("signed_in", token: "of-grace") }
        await model.load()
        #expect(model.outcomes == [:] && model.asked == nil && model.accounts.map(\.userName) == [nil])
    }

    @Test(
        "a disconnection is told as the server tells it",
        arguments: [
            (200, "{}", "absent", .disconnected), (502, "{}", "signing_out", .disconnectFailed),
            (403, "{}", "signed_in", .disconnectFailed), (429, "", "signed_in", .tooMany),
            (200, "<html>", "signed_in", .disconnectFailed), (302, "", "signed_in", .disconnectFailed),
            (lost, "", "absent", .disconnected), (lost, "", "signing_out", .disconnectFailed),
            (502, "{}", "absent", .disconnected),
        ] as [(Int, String, String, ConnectedAccountsModel.Outcome)])
    func disconnections(
        _ status: Int, _ text: String, _ state: String, _ outcome: ConnectedAccountsModel.Outcome
    ) async throws {
        let isDone = Mutex(false)
        let model = try model(
            Scripted { request in
                guard request.head.method == .post else {
                    return Self.response(200, Self.list(isDone.withLock { $0 } ? state : "signed_in"))
                }
                isDone.withLock { $0 = true }
                guard status != Self.lost else { throw TransportError.timedOut(host: "app.example") }
                return Self.response(status, text)
            })
        await model.load()
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == outcome)
    }

    @Test("a wait that is cancelled ends; what the server did all the same is told", arguments: [false, true])
    func cancelled(isDone: Bool) async throws {
        let reached = Gate()
        let state = Mutex("signed_in")
        let model = try model(
            Scripted { request in
                guard request.head.method == .post else { return Self.response(200, Self.list(state.withLock { $0 })) }
                if isDone { state.withLock { $0 = "absent" } }
                reached.open()
                for await _ in AsyncStream<Void>.makeStream().stream {}
                throw CancellationError()
            })
        await model.load()
        model.disconnect("standard")
        await reached.wait()
        model.cancel("standard")
        await model.finish("standard")
        #expect(model.running == [:] && model.outcomes["standard"] == (isDone ? .disconnected : .mayFinish))
        guard !isDone else { return }
        state.withLock { $0 = "signing_out" }
        await model.load()
        #expect(model.outcomes["standard"] == .mayFinish, "it is still under way")
        state.withLock { $0 = "absent" }
        await model.load()
        #expect(model.outcomes["standard"] == .disconnected)
    }

    @Test(
        "an address or a redirect that cannot be used is refused, with the reason",
        arguments: [
            ("http://app.example", redirect), ("https://app.example?a=b", redirect), ("app.example", redirect),
            ("https://app.example", "http://127.0.0.1:80/x"), ("https://app.example", "urn:ietf:wg:oauth:2.0:oob"),
            ("https://app.example", "app:/x"), ("https://app.example", redirect + "?a=b"),
        ])
    func configuration(_ address: String, _ redirect: String) throws {
        #expect {
            try AccountsServer(at: address, redirect: redirect) { [:] }
        } throws: {
            if case ConnectedAccountsError.configuration = $0 { true } else { false }
        }
    }

    @Test("the reason names the address in one sentence")
    func configurationText() {
        let error = #expect(throws: ConnectedAccountsError.self) {
            try AccountsServer(at: "https://app.example?a=b", redirect: Self.redirect) { [:] }
        }
        #expect(error.map { "\($0)" } == "“address” must not have a query.")
    }
}
