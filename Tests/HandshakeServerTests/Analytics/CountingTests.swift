import ConnectButton
import Foundation
import Handshake
import IFTTTConnect
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Counting what happens to the buttons", .heavy)
struct CountingTests {
    private let id = "aB3dE5fG"

    /// Servers with the button's routes that count, and what they count into.
    private func counting(
        _ world: World, in vault: (any Vault)? = nil, servers: Int = 1
    ) async throws -> (ConnectAnalytics, [ButtonServer]) {
        let connections = ConnectController.Connections(hosts: try world.hosts())
        let analytics = ConnectAnalytics(
            in: vault ?? world.vault, appName: "Garden App", through: connections, log: World.log)
        var settings = try world.standardSettings()
        settings.analytics = analytics
        var started: [ButtonServer] = []
        for _ in 0..<servers { started.append(try await world.buttons(settings)) }
        return (analytics, started)
    }

    /// The way of a new user: to the service and back, and off again, with a look at the footer and at About before.
    ///
    /// - Returns: the address to which the user was sent.
    @discardableResult
    private func wholeWay(_ world: World, _ server: ButtonServer, status: Int) async throws -> String {
        let page = try await server.state()
        for event in [ConnectButtonEvent.shown, .footerTapped, .aboutShown] + taps {
            #expect(try await server.count(event, page).status == status)
        }
        let (away, url) = try await server.leave()
        #expect(try await server.send(.proceed, away).open == url)
        #expect(try await server.visit(try await world.sandbox.activate(url, as: "new@example.test")).status == 303)
        let on = try await server.state()
        #expect(on.step == "connected")
        #expect(try await server.send(.disconnect, try await server.send(.turnOff, on)).step == "disconnected")
        return url
    }

    private var taps: [ConnectButtonEvent] {
        ConnectButtonEvent.AboutItem.allCases.map(ConnectButtonEvent.aboutTapped)
    }

    private func stop(_ world: World, _ servers: [ButtonServer]) async {
        for server in servers { await server.server.stop() }
        await world.sandbox.stop()
    }

    private func identifiers(_ world: World) -> [String?] {
        world.sandbox.requests(.ifttt).filter { $0.path.hasPrefix("/v2/") }
            .map { $0.clientFields["IFTTT-SDK-Anonymous-Id"] }
    }

    @Test(
        "W24, F101: without consent there is no event, no identifier in any header or address, and no word to the page")
    func withoutConsent() async throws {
        let world = try await World.start()
        let (analytics, servers) = try await counting(world)
        #expect(try await servers[0].state()["isCounted"] == .bool(false))
        let url = try await wholeWay(world, servers[0], status: 204)
        try await analytics.runAndShutDown()
        #expect(!url.contains("anonymous"))
        #expect(world.sandbox.iftttLog(.analytics).isEmpty)
        #expect(identifiers(world).count >= 4 && identifiers(world).allSatisfy { $0 == nil })
        await stop(world, servers)
    }

    @Test("7, F099: with consent the events of a whole way arrive in their order, as the dossier's table has them")
    func withConsent() async throws {
        let world = try await World.start()
        let (analytics, servers) = try await counting(world)
        try await analytics.allow(for: "new")
        #expect(try await servers[0].state()["isCounted"] == .bool(true))
        try await wholeWay(world, servers[0], status: 202)
        try await analytics.runAndShutDown()
        let services = try await connection(world)
        let button = "location_type=connect_button location_id="
        // An anonymous user looks at it first: there is no status to tell (1.3), and none before that was initial (3.7).
        let expected = [
            "impression \(button)Garden App object_type=connection object_id=\(id)",
            "click location_type=connect_button object_type=works_with_ifttt object_id=button",
            "impression \(button)\(id) object_type=modal object_id=connect_information",
            "click \(button)\(id) object_type=button object_id=\(services.primaryService.name)",
            "click \(button)\(id) object_type=button object_id=\(services.connectingService.name)",
            "click \(button)\(id) object_type=button object_id=\(services.name)",
            "click \(button)\(id) object_type=button object_id=privacy_policy",
            "click \(button)\(id) object_type=button object_id=manage",
            "impression \(button)\(id) object_type=connection_email",
            "click \(button)\(id) object_type=connection_email",
            "click \(button)\(id) object_type=connection object_id=\(id)",
            "statechange object_type=connection object_id=\(id) object_status=enabled state=enabled",
            "pageviewed \(button)\(id)",
            "click \(button)\(id) object_type=connection object_id=\(id) object_status=enabled",
        ]
        for (index, (found, wanted)) in zip(try world.sandbox.iftttLog(.analytics).map(line), expected).enumerated() {
            #expect(found == wanted, "event \(index)")
        }
        #expect(world.sandbox.iftttLog(.analytics).count == expected.count)
        await stop(world, servers)
    }

    @Test("F102: with consent the identifier is in headers and in the web flow's address, in its place")
    func identifier() async throws {
        let world = try await World.start()
        let (analytics, servers) = try await counting(world)
        try await analytics.allow(for: "new")
        let id = try #require(await analytics.anonymousID(of: "new")).rawValue
        let (away, url) = try await servers[0].leave()
        let items = try #require(URLComponents(string: url)?.queryItems)
        let names = ["sdk_return_to", "sdk_version", "sdk_platform", "sdk_anonymous_id", "locale"]
        #expect(items.prefix(5).map(\.name) == names && items[3].value == id)
        #expect(try await servers[0].send(.proceed, away).open == url)
        #expect(identifiers(world).isEmpty == false && identifiers(world).allSatisfy { $0 == id })
        // What is stored between two requests identifies no user: there is nothing to remove when the consent is taken back.
        for key in try await world.vault.keys(of: .activation).keys {
            let record = try #require(try await world.vault.record(key))
            #expect(!String(decoding: record, as: UTF8.self).contains(id))
        }
        await stop(world, servers)
    }

    @Test("W24: consent that is taken back takes the identifier along, also from an address that is opened again")
    func takenBack() async throws {
        let world = try await World.start()
        let (analytics, servers) = try await counting(world, servers: 2)
        try await analytics.allow(for: "new")
        let (away, url) = try await servers[0].leave()
        try await analytics.refuse(for: "new")
        let again = try #require(try await servers[1].send(.proceed, away).open)
        #expect(url.contains("sdk_anonymous_id=") && !again.contains("sdk_anonymous_id"))
        #expect(again.contains("&locale=") && again.contains("sdk_platform="), "the rest is as it was")
        world.sandbox.clearRequests()
        #expect(try await servers[1].count(.footerTapped, away).status == 204)
        _ = try await servers[1].visit(try await world.sandbox.activate(again, as: "new@example.test"))
        try await analytics.runAndShutDown()
        #expect(identifiers(world).isEmpty == false && identifiers(world).allSatisfy { $0 == nil })
        #expect(world.sandbox.iftttLog(.analytics).isEmpty)
        #expect(try await world.vault.keys(of: .analytics).keys.isEmpty)
        await stop(world, servers)
    }

    @Test("what is only counted is about any revision, changes nothing and makes no event stale")
    func revisions() async throws {
        let world = try await World.start()
        let (analytics, servers) = try await counting(world)
        try await analytics.allow(for: "new")
        let (server, old) = (servers[0], try await servers[0].state())
        let email = try await server.send(.turnOn, old)
        #expect(email.revision > old.revision)
        #expect(try await server.count(.footerTapped, old).status == 202)
        #expect(try await server.count(.aboutShown, email).status == 202)
        let now = try await server.state()
        #expect(now.revision == email.revision && now.step == "email")
        #expect(try await server.send(.email("new@example.test"), email).step == "going_to_service")
        await stop(world, servers)
    }

    @Test(
        "what is no page of the user's is not counted",
        arguments: [
            ("cross_site", 403, ["Origin": "https://evil.example"]),
            ("cross_site", 403, ["Sec-Fetch-Site": "same-site"]),
            ("unauthorized", 401, ["Cookie": ""]), ("stale_token", 403, ["Cookie": "user=ada"]),
            ("unsupported_media_type", 415, ["Content-Type": "text/plain"]),
        ])
    func refused(code: String, status: Int, headers: [String: String]) async throws {
        let world = try await World.start()
        let (analytics, servers) = try await counting(world)
        for user in ["new", "ada"] { try await analytics.allow(for: user) }
        let page = try await servers[0].state()
        _ = try await servers[0].state("ada")
        let answer = try await servers[0].count(.footerTapped, page, headers: headers)
        #expect(answer.status == status && answer.code == code)
        try await analytics.runAndShutDown()
        #expect(world.sandbox.iftttLog(.analytics).isEmpty)
        await stop(world, servers)
    }

    @Test("the two routes do not take each other's messages")
    func routes() async throws {
        let world = try await World.start()
        let (analytics, servers) = try await counting(world)
        try await analytics.allow(for: "new")
        let page = try await servers[0].state()
        #expect(try await servers[0].count(.turnOn, page).status == 400)
        #expect(try await servers[0].send(.footerTapped, page).status == 400)
        #expect(try await servers[0].state().step == "connect")
        await stop(world, servers)
    }

    @Test("a page that counts without end is no longer counted, and its user goes on")
    func endless() async throws {
        let world = try await World.start(
            time: TimeSource(now: { 1_735_689_600 }, clock: ContinuousClock()))
        let analytics = try ConnectAnalytics.counting(in: world.vault, to: EventInbox(), hosts: world.hosts())
        var settings = try world.standardSettings()
        settings.analytics = analytics
        let server = try await world.buttons(settings)
        try await analytics.allow(for: "new")
        let page = try await server.state()
        var statuses: [Int] = []
        for _ in 0..<40 { statuses.append(try await server.count(.footerTapped, page).status) }
        #expect(statuses == Array(repeating: 202, count: 30) + Array(repeating: 204, count: 10))
        #expect(try await server.send(.turnOn, page).step == "email")
        await stop(world, [server])
    }

    @Test("analytics that fail delay no user: the attempt continues to its end")
    func broken() async throws {
        let world = try await World.start()
        let (analytics, servers) = try await counting(world, in: VaultWithout(kind: .analytics))
        try await wholeWay(world, servers[0], status: 204)
        try await analytics.runAndShutDown()
        await stop(world, servers)
    }

    /// The connection as the sandbox has it.
    private func connection(_ world: World) async throws -> Connection {
        try await ConnectAPI(at: try world.hosts()).connection(try ConnectionID(id))
    }

    /// An event of the log in a line, its members in the dossier's order.
    private func line(_ event: String) throws -> String {
        let members = try #require(try JSONValue(parsing: Array(event.utf8)).object)
        let properties = try #require(members["properties"]?.object)
        let order = ["location_type", "location_id", "object_type", "object_id", "object_status", "state"]
        #expect(Set(properties.keys).isSubset(of: order))
        let name = try #require(members["name"]?.string)
        let pairs = order.compactMap { key in properties[key]?.string.map { "\(key)=\($0)" } }
        return ([name.replacing("sdk.", with: "")] + pairs).joined(separator: " ")
    }

    @Test("a user who is forgotten is counted no longer, wherever the counts rest, and another one still is")
    func forgotten() async throws {
        let world = try await World.start()
        let (own, shared) = (MemoryVault(), world.vault)
        for vault in [own, shared] as [any Vault] {
            let (analytics, servers) = try await counting(world, in: vault)
            for user in ["new", "ada"] { try await analytics.allow(for: user) }
            let page = try await servers[0].state()
            #expect(try await servers[0].count(.footerTapped, page).status == 202)
            try await servers[0].routes.forget(.init(id: "new"))
            #expect(try await vault.keys(of: .analytics).keys == [CountedUser.key("ada")])
            #expect(await analytics.anonymousID(of: "new") == nil)
            await servers[0].server.stop()
        }
        // Analytics are off now; the earlier consent is still removed.
        let plain = try await world.buttons()
        try await plain.routes.forget(.init(id: "ada"))
        #expect(try await shared.keys(of: .analytics).keys.isEmpty)
        await stop(world, [plain])
    }
}

extension ButtonServer {
    /// What the component says that is only counted, about the answer that the page has.
    func count(
        _ event: ConnectButtonEvent, _ answer: ButtonAnswer, headers: [String: String] = [:]
    ) async throws -> ButtonAnswer {
        let message = ConnectButtonMessage(event, revision: answer.revision, token: answer.token)
        return try ButtonAnswer(
            try await wire.send(
                "POST", "/connect/\(answer.connection ?? "aB3dE5fG")/counts",
                headers: ["Cookie": "user=new", "Content-Type": "application/json"].merging(headers) { $1 },
                body: String(decoding: message.body(), as: UTF8.self)))
    }
}
