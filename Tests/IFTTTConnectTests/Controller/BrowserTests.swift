import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import IFTTTConnect

/// A device's other apps, as the test says they are. One that opens sends this app to the background.
private final class ScriptedApps: InstalledApps {
    private let installed: Set<String>
    private let opens: Bool
    private let addresses = Mutex<[String]>([])
    private let (stream, departure) = AsyncStream<Void>.makeStream()

    init(_ installed: Set<String>, opens: Bool = true) {
        self.installed = installed
        self.opens = opens
    }

    var opened: [String] { addresses.withLock(\.self) }

    func canOpen(_ address: String) async -> Bool { installed.contains { address.hasPrefix($0 + ":") } }

    func open(_ address: String) async -> Bool {
        addresses.withLock { $0.append(address) }
        if opens { departure.yield() }
        return opens
    }

    func backgroundEntries() -> AsyncStream<Void> { stream }
}

/// A browser of the floor below, as a closure.
private struct ScriptedPages: Browser {
    let visit: @Sendable (SignInPage) async throws -> String?

    func show(_ page: SignInPage) async throws -> String? { try await visit(page) }

    /// The redirect that answers a page.
    static func redirect(_ page: SignInPage) -> String {
        let state = page.url.split(separator: "state%3D").last?.prefix { $0 != "&" } ?? ""
        return page.redirectURI.string + "?state=\(state)&next_step=complete"
    }
}

@Suite("A device's browser and its other apps")
struct BrowserTests {
    private let path = "/v2/connections/aB3dE5fG"

    private func controller(_ environment: ConnectEnvironment) throws -> ConnectController {
        let ifttt = ScriptedIFTTT([
            "GET \(path)": [.json(Balcony.json(status: "null", userConnection: nil)), .json(Balcony.json())],
            "GET /v2/account/find": [.status(204)],
        ])
        return ConnectController(
            ConnectActivation(try Player.configuration()), tokens: nil, environment: environment,
            through: .init(transport: ifttt, time: TimeSource(now: { 1_000 }, clock: HurriedClock())))
    }

    /// Runs until a state has been reached or the button is free again, and connects on the way; every activation that was told.
    private func run(
        _ controller: ConnectController, until isOver: (ConnectActivation) throws -> Bool
    ) async throws -> [ConnectActivation] {
        let updates = controller.updates()
        let running = Task { await controller.run() }
        defer { running.cancel() }
        controller.send(.appeared)
        var seen: [ConnectActivation] = []
        var (hasConnected, isUnderWay) = (false, false)
        for await case .activation(let activation) in updates {
            seen.append(activation)
            if try isOver(activation) || (isUnderWay && activation.state == .initial) { return seen }
            isUnderWay = hasConnected && activation.state != .initial
            if activation.state == .initial, !hasConnected {
                hasConnected = true
                controller.connect()
            }
            if case .enteringEmail(let entry) = activation.state { controller.send(.confirmEmail(entry.text)) }
        }
        throw CancellationError()
    }

    @Test("F022, F023, F035: the IFTTT app is opened by its address, and the button is free then")
    func opensTheApp() async throws {
        let apps = ScriptedApps(["ifttt-handoff-v1", "ymail", "message"])
        let environment = ConnectEnvironment(
            pages: ScriptedPages { _ in throw HandshakeError.signInAbandoned(.closed) }, apps: apps, tokens: .redirect)
        #expect(await environment.mailClients().map(\.rawValue) == ["message://", "ymail://"])
        let controller = try controller(environment)
        let seen = try await run(controller) { $0.state == .initial && !apps.opened.isEmpty }
        #expect(seen.contains { $0.state == .goingToService(.app) })
        let address = try #require(apps.opened.first)
        #expect(apps.opened.count == 1 && address.hasPrefix("ifttt-handoff-v1://connections/aB3dE5fG?"))
    }

    @Test("F022: where the app is not installed nothing opens it")
    func notInstalled() async throws {
        let apps = ScriptedApps([])
        let controller = try controller(
            ConnectEnvironment(pages: ScriptedPages { ScriptedPages.redirect($0) }, apps: apps, tokens: .redirect))
        let seen = try await run(controller) { [.connected, .goingToService(.app)].contains($0.state) }
        #expect(apps.opened.isEmpty && seen.contains { $0.state == .goingToService(.web) })
    }

    @Test("F034: when the app cannot be opened, that is told and IFTTT's pages take its place")
    func fallsBack() async throws {
        let apps = ScriptedApps(["ifttt-handoff-v1"], opens: false)
        let controller = try controller(
            ConnectEnvironment(pages: ScriptedPages { ScriptedPages.redirect($0) }, apps: apps, tokens: .redirect))
        let seen = try await run(controller) { $0.state == .connected }
        #expect(apps.opened.count == 1)
        var states: [ConnectActivation.State] = []
        for activation in seen where states.last != activation.state { states.append(activation.state) }
        let entry = ConnectActivation.State.enteringEmail(.init("ada@example.com"))
        #expect(
            states == [
                .idle, .loading, .initial, .verifying, .goingToService(.app), entry, .verifying, .goingToService(.web),
                .connecting, .connected,
            ])
        #expect(seen.filter { $0.failure == .appNotOpened }.map(\.state) == [entry])
    }

    @Test("F032: closing ends the page that is open, and the next one opens")
    func closes() async throws {
        let (shown, showing) = AsyncStream<Void>.makeStream()
        let browser = PageBrowser(
            ScriptedPages { _ in
                showing.yield()
                let (silence, silent) = AsyncStream<Void>.makeStream()
                defer { silent.finish() }
                for await _ in silence {}
                try Task.checkCancellation()
                return "never"
            })
        var player = try Player()
        player.play(.appeared)
        player.connect()
        player.play(.confirmEmail("ada@example.com"))
        let destination = try #require(player.destination)
        var showings = shown.makeAsyncIterator()
        for _ in 0..<2 {
            let opening = Task { try await browser.open(destination) }
            await showings.next()
            await browser.close()
            await #expect(throws: HandshakeError.signInAbandoned(.closed)) { try await opening.value }
        }
        await browser.close()
    }

    @Test(
        "5, 12: a page comes back to whatever address IFTTT knows, also to a scheme without a period",
        arguments: [
            ("gardenapp://connect_callback", RedirectURI.Kind.privateScheme),
            ("com.example.garden:/connect", .privateScheme), ("https://garden.example/connect", .claimed),
            ("http://127.0.0.1:8123/connect", .loopback),
        ])
    func redirects(_ address: String, _ kind: RedirectURI.Kind) throws {
        let redirect = try CallbackURL(address).redirectURI
        #expect(redirect.string == address && redirect.kind == kind)
    }

    @Test(
        "F006: a network is back when it is there after the first look",
        arguments: [[false, true], [true, true], [true, false, true], [false, false, true]])
    func networkReturns(_ looks: [Bool]) async {
        let (stream, look) = AsyncStream<Bool>.makeStream()
        for hasNetwork in looks { look.yield(hasNetwork) }
        // Never finished: it returns by itself.
        await NetworkReturn.wait(stream)
    }

    @Test("F006: a network that stays as it is does not come back", arguments: [[true], [true, false], [false], []])
    func networkStays(_ looks: [Bool]) async {
        let (stream, look) = AsyncStream<Bool>.makeStream()
        let hasReturned = Mutex(false)
        let waiting = Task {
            await NetworkReturn.wait(stream)
            if !Task.isCancelled { hasReturned.withLock { $0 = true } }
        }
        for hasNetwork in looks { look.yield(hasNetwork) }
        for _ in 0..<100 { await Task.yield() }
        waiting.cancel()
        await waiting.value
        #expect(!hasReturned.withLock { $0 })
    }
}
