import ConnectButton
import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import IFTTTConnect
import Logging
import OAuth
import Sandbox
import TestFixtures

@testable import HandshakeServer

/// A sandbox, a vault, and app servers on it that a test talks to by HTTP. Users say who they are in a cookie.
struct World {
    /// Where the app is reached from outside: what requests say of themselves has no part in it.
    static let address = "https://groceries.example/connect"

    let sandbox: Sandbox
    let vault: any Vault
    let time: TimeSource

    static func start(vault: any Vault = MemoryVault(), time: TimeSource = .system) async throws -> World {
        let sandbox = try await Sandbox.start()
        _ = sandbox.registerRedirectURL("\(address)/return")
        return World(sandbox: sandbox, vault: vault, time: time)
    }

    var serviceKey: Secret { Secret(sandbox.ifttt.connect?.partners.first?.serviceKey ?? "") }

    func hosts() throws -> Hosts {
        Hosts(allAt: try EndpointURL(sandbox.ifttt.origin, security: .allowingInsecureLoopback))
    }

    /// The public client of a sandbox's standard server, whose callback is `callback` below an address.
    static func standardClient(of sandbox: Sandbox, at address: String) throws -> Client {
        let issuer = try Issuer(sandbox.standard.origin, security: .allowingInsecureLoopback)
        let service = try Service(
            name: "standard", authorizationServer: .discovered(issuer, security: .allowingInsecureLoopback),
            defaultScopes: ["openid", "offline_access"])
        return Client(
            service: service, id: "sandbox-public", redirect: .uri(try RedirectURI("\(address)/callback")))
    }

    /// The signed-in user of a request: `user=NAME` in its cookie.
    static func user(_ request: Request, _: BasicRequestContext? = nil) -> ConnectButtonUser? {
        let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        guard let pair = cookies.map({ $0.drop { $0 == " " } }).first(where: { $0.hasPrefix("user=") }) else {
            return nil
        }
        let name = String(pair.dropFirst("user=".count))
        return try? ConnectButtonUser(id: name, suggestedEmail: "\(name)@example.test")
    }

    func standardSettings() throws -> ConnectButtonSettings {
        try settings { _ in }
    }

    func settings(_ change: (inout ConnectButtonOffer) -> Void) throws -> ConnectButtonSettings {
        var offer = ConnectButtonOffer(try ConnectionID("aB3dE5fG"))
        change(&offer)
        var settings = try ConnectButtonSettings(
            at: try PublicAddress(Self.address),
            offering: [offer, ConnectButtonOffer(try ConnectionID("mAnyFt05"))], tokens: { _ in .redirect })
        settings.page = try requireValue(LocalPath(rawValue: "/garden"))
        settings.time = time
        // What is asked behind an answer could outlive its test: who wants that says so.
        settings.freshness = .seconds(60)
        settings.streams.interval = .milliseconds(20)
        return settings
    }

    func accounts() throws -> Handshake {
        let service = Service.ifttt.at(
            try EndpointURL(sandbox.ifttt.origin, security: .allowingInsecureLoopback))
        let client = Client(
            service: service, id: "lumen_garden", redirect: .uri(try RedirectURI("\(Self.address)/return")))
        return try Handshake(client, vault: vault, time: time)
    }

    /// A server with the button's routes.
    func buttons(
        _ settings: ConnectButtonSettings? = nil,
        user: @escaping @Sendable (Request) async throws -> ConnectButtonUser? = { World.user($0) }
    ) async throws -> ButtonServer {
        let router = Router()
        let chosen: ConnectButtonSettings = if let settings { settings } else { try standardSettings() }
        let accounts = try accounts()
        let routes = try ConnectButtonRoutes<BasicRequestContext>(chosen, accounts: accounts, log: Self.log) {
            request, _ in try await user(request)
        }
        routes.add(to: router.group("connect"))
        let server = try await RunningServer.start(router)
        return ButtonServer(server: server, routes: routes, wire: try WireClient(origin: server.origin))
    }

    static var log: Logger {
        var log = Logger(label: "test")
        log.logLevel = .critical
        return log
    }
}

/// A server with the button's routes, as a browser sees it.
struct ButtonServer {
    let server: RunningServer
    let routes: ConnectButtonRoutes<BasicRequestContext>
    let wire: WireClient

    /// The state, as the component asks for it; loading is waited for, as by a page that follows.
    func state(_ user: String = "new", _ connection: String = "aB3dE5fG") async throws -> ButtonAnswer {
        let answer = try await stateNow(user, connection)
        return answer.step == "loading" ? try await settledState(user, connection) : answer
    }

    /// The state that the server returns immediately.
    func stateNow(_ user: String = "new", _ connection: String = "aB3dE5fG") async throws -> ButtonAnswer {
        try ButtonAnswer(
            try await wire.send("GET", "/connect/\(connection)?page=\(Self.page)", headers: ["Cookie": "user=\(user)"]))
    }

    /// The state once IFTTT has been asked whatever there was to ask.
    func settledState(_ user: String = "new", _ connection: String = "aB3dE5fG") async throws -> ButtonAnswer {
        try await look(user, connection)
        return try await stateNow(user, connection)
    }

    /// Looks, and waits for what IFTTT says.
    func look(_ user: String = "new", _ connection: String = "aB3dE5fG") async throws {
        _ = try await stateNow(user, connection)
        let (id, fetches) = (try ConnectionID(connection), routes.sessions.fetches)
        let key = ConnectSessions.Place.key(of: try ConnectButtonUser(id: user), id)
        await fetches.end(of: key, within: .seconds(60), on: ManualClock())
    }

    /// The page on which a test's user does everything, unless it says otherwise.
    static let page = "page-1"

    /// What the user does, about the answer that the page has, and what came of it when IFTTT has answered; the page sends the user
    /// on.
    func send(
        _ event: ConnectButtonEvent, _ answer: ButtonAnswer, as user: String = "new", headers: [String: String] = [:],
        locale: String? = nil
    ) async throws -> ButtonAnswer {
        let first = try await sendNow(event, answer, as: user, headers: headers, locale: locale)
        guard first.status == 200, first.open == nil else { return first }
        try await settle(user, answer.connection ?? "aB3dE5fG")
        let path =
            "/connect/\(answer.connection ?? "aB3dE5fG")?page=\(Self.page)" + (locale.map { "&locale=\($0)" } ?? "")
        let settled = try ButtonAnswer(try await wire.send("GET", path, headers: ["Cookie": "user=\(user)"]))
        guard settled["canOpen"] == .bool(true) else { return settled }
        return try await sendNow(.proceed, settled, as: user, locale: locale)
    }

    /// What the user does, and the server's first answer to it.
    func sendNow(
        _ event: ConnectButtonEvent, _ answer: ButtonAnswer, as user: String = "new", on page: String = Self.page,
        since: Int? = nil, headers: [String: String] = [:], locale: String? = nil
    ) async throws -> ButtonAnswer {
        let message = ConnectButtonMessage(
            event, revision: answer.revision, token: answer.token, page: page, since: since)
        return try ButtonAnswer(
            try await wire.send(
                "POST", "/connect/\(answer.connection ?? "aB3dE5fG")/events" + (locale.map { "?locale=\($0)" } ?? ""),
                headers: ["Cookie": "user=\(user)", "Content-Type": "application/json"].merging(headers) { $1 },
                body: String(decoding: message.body(), as: UTF8.self)))
    }

    /// Waits until everything that a user's messages have led to is done.
    func settle(_ user: String = "new", _ connection: String = "aB3dE5fG") async throws {
        let key = ConnectSessions.Place.key(of: try ConnectButtonUser(id: user), try ConnectionID(connection))
        await routes.sessions.work.end(of: key)
    }

    /// The browser follows a redirect of IFTTT's to the app, which is reached by its address and served here.
    func visit(_ redirect: String, as user: String? = "new") async throws -> WireClient.Answer {
        let target = redirect.replacing("https://groceries.example", with: "")
        let answer = try await wire.send("GET", target, headers: user.map { ["Cookie": "user=\($0)"] } ?? [:])
        try await settle(user ?? "new")
        return answer
    }

    /// From "connect" to the address that the user is sent to.
    func leave(_ user: String = "new") async throws -> (answer: ButtonAnswer, url: String) {
        var answer = try await send(.turnOn, try await state(user), as: user)
        if answer.step == "email" { answer = try await send(.email("\(user)@example.test"), answer, as: user) }
        return (answer, try requireValue(answer.open))
    }
}

/// An answer to the component, with its HTTP status.
struct ButtonAnswer: Sendable {
    let status: Int
    let text: String
    private let members: JSONValue?

    init(_ answer: WireClient.Answer) throws {
        status = answer.status
        text = answer.text
        members = try? JSONValue(parsing: Self.whole(answer))
    }

    /// The body, whether it came in chunks or not.
    private static func whole(_ answer: WireClient.Answer) -> [UInt8] { answer.body }

    subscript(path: String...) -> JSONValue? {
        path.reduce(members) { $0?.object?[$1] }
    }

    var step: String { self["state", "step"]?.string ?? "" }
    var failure: String? { self["state", "failure", "kind"]?.string }
    var token: String { self["token"]?.string ?? "" }
    var open: String? { self["open"]?.string }
    var code: String? { self["code"]?.string }
    var connection: String? { self["state", "connection", "id"]?.string }
    var revision: Int { self["revision"].flatMap { if case .number(let text) = $0 { Int(text) } else { nil } } ?? 0 }
}

struct Absent: Error {}

/// A value that has to be there.
func requireValue<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Absent() }
    return value
}
