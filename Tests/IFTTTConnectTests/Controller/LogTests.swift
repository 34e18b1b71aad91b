import Geofences
import Handshake
import Logging
import OAuth
import TestFixtures
import Testing

@testable import IFTTTConnect

@Suite("What the kit logs")
struct LogTests {
    private static let secrets = [
        "utk_sandbox_9f2c", "ada@example.test", "gardenapp", "http", "state=", "user_token", "52.5", "code=",
    ]

    private func controller(
        _ ifttt: ScriptedIFTTT, _ lines: LogLines, _ redirect: String
    ) throws -> ConnectController {
        let client = Client(
            service: .ifttt, id: "lumen_garden", redirect: .uri(try RedirectURI("com.example.garden:/connect")))
        let tokens = UserTokens(in: try Handshake(client, vault: MemoryVault(), transport: ifttt))
        let browser = ScriptedBrowser { ScriptedBrowser.redirect($0, redirect) }
        return ConnectController(
            ConnectActivation(try Player.configuration()), tokens: tokens,
            environment: ConnectEnvironment(browser: browser, tokens: .redirect),
            through: .init(transport: ifttt, time: TimeSource(now: { 1_000 }, clock: HurriedClock())), log: lines.logger
        )
    }

    private func outcome(of controller: ConnectController) async throws -> ConnectActivation.Outcome {
        let updates = controller.updates()
        let running = Task { await controller.run() }
        defer { running.cancel() }
        controller.send(.appeared)
        for await update in updates {
            switch update {
            case .activation(let activation):
                if activation.state == .initial, activation.failure == nil { controller.connect() }
                if case .enteringEmail = activation.state { controller.send(.confirmEmail("ada@example.test")) }
            case .outcome(let outcome, _): return outcome
            case .refused(let refusal): throw refusal
            case .problem: break
            }
        }
        throw CancellationError()
    }

    @Test("F105: a connection's log has a label of its own, which an app can switch")
    func label() throws {
        for connection in ["aB3dE5fG", "cAl3nDar"] {
            let configuration = ConnectActivation.Configuration(
                try ConnectionID(connection), callback: try CallbackURL("gardenapp://connect_callback"))
            let controller = ConnectController(
                ConnectActivation(configuration), tokens: nil,
                environment: ConnectEnvironment(browser: ScriptedBrowser { _ in nil }, tokens: .redirect))
            #expect(controller.log.label == "handshake.connect.\(connection)")
        }
    }

    @Test("F105: each state and the outcome of an attempt, and nothing that is anyone's")
    func states() async throws {
        let lines = LogLines()
        let path = "/v2/connections/aB3dE5fG"
        let ifttt = ScriptedIFTTT([
            "GET \(path)": [
                .json(Balcony.json(status: "null", userConnection: nil)), .json(Balcony.json()),
            ],
            "GET /v2/account/find": [.status(404)],
        ])
        let controller = try controller(ifttt, lines, "next_step=complete&user_token=utk_sandbox_9f2c")
        _ = try await outcome(of: controller)
        controller.open("gardenapp://connect_callback?state=wrong&next_step=complete&user_token=utk_sandbox_9f2c")
        for await _ in controller.updates() { break }
        let log = lines.all
        #expect(log.contains("debug state from=idle to=loading"))
        #expect(log.contains("debug state from=loading to=initial"))
        #expect(log.contains { $0.hasPrefix("info ended outcome=connected") }, "\(log)")
        for line in log {
            for secret in Self.secrets { #expect(!line.contains(secret), "\(line)") }
        }
    }

    @Test("F105: a failure is logged by its code, and what the service writes about it cannot forge a line")
    func failures() async throws {
        let lines = LogLines()
        let ifttt = ScriptedIFTTT([
            "GET /v2/connections/aB3dE5fG": [.json(Balcony.json(status: "null", userConnection: nil))],
            "GET /v2/account/find": [.status(404)],
        ])
        let controller = try controller(
            ifttt, lines, "next_step=error&error_type=bad%20info%20ended%20outcome%3Dconnected")
        guard case .failed = try await outcome(of: controller) else {
            Issue.record("\(lines.all)")
            return
        }
        let warnings = lines.all.filter { $0.hasPrefix("warning failed code=") }
        #expect(warnings == ["warning failed code=bad info ended outcome=connected"], "\(lines.all)")
        #expect(!lines.all.contains { $0.hasPrefix("info ended") }, "\(lines.all)")
    }

    @Test("F105: a redirect with a line break is refused, and the log has none of it")
    func lineBreak() async throws {
        let lines = LogLines()
        let ifttt = ScriptedIFTTT([
            "GET /v2/connections/aB3dE5fG": [.json(Balcony.json(status: "null", userConnection: nil))],
            "GET /v2/account/find": [.status(404)],
        ])
        let controller = try controller(
            ifttt, lines, "next_step=error&error_type=bad%0Ainfo%20ended%20outcome%3Dconnected")
        await #expect(throws: RedirectRefusal.unreadable) { try await outcome(of: controller) }
        #expect(!lines.all.contains { $0.contains("\n") || $0.contains("outcome=connected") }, "\(lines.all)")
    }

    @Test("F105: places are logged without a place")
    func places() async throws {
        let lines = LogLines()
        let bench = PlacesBench([PlacesBench.upload: [.status(503), .status(204)]])
        let synchronizer = try bench.synchronizer(log: lines.logger)
        try await synchronizer.activate([try ConnectionID(Balcony.id)])
        try await synchronizer.record(.exit, of: "ifttt_\(PlacesBench.exit)", at: PlacesBench.now - 5)
        _ = await synchronizer.synchronize()
        try await synchronizer.permissionChanged(canMonitorRegions: false)
        for wanted in [
            "debug a crossing was recorded", "debug a crossing was uploaded", "info areas are monitored",
            "info no areas are monitored",
        ] {
            #expect(lines.all.contains { $0.hasPrefix(wanted) }, "\(wanted) is not in \(lines.all)")
        }
        for line in lines.all {
            for secret in Self.secrets + [PlacesBench.exit, "13.4"] { #expect(!line.contains(secret), "\(line)") }
        }
    }
}
