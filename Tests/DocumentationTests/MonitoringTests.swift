import CoreMetrics
import Foundation
import HandshakeServer
import Hummingbird
import TestFixtures
import Testing
import Tracing

@testable import Handshake

/// `Documentation/Monitoring.md`, the dashboard and the alerts.
@Suite("The page of figures")
struct MonitoringTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    }

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /handshake_[a-z_]+/).map { String($0.output) })
    }

    @Test("has every figure of the sources, and no other")
    func figures() throws {
        let sources = try Repository.files(below: ["Sources/Handshake", "Sources/HandshakeServer"], ending: ["swift"])
        var told: Set<String> = []
        for file in sources {
            let text = try Self.text(file)
            told.formUnion(text.matches(of: /"(handshake_[a-z_]+)"/).map { String($0.output.1) })
        }
        let page = try Self.text("Documentation/Monitoring.md")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `handshake_") }
        let described = Set(rows.compactMap { Self.names(in: String($0)).first })
        #expect(told == described && told.count >= 13)
    }

    @Test("the dashboard and the alerts ask for figures that there are", arguments: ["dashboard.json", "alerts.yml"])
    func queries(_ file: String) throws {
        let text = try Self.text("Documentation/Monitoring/\(file)")
        let page = Self.names(in: try Self.text("Documentation/Monitoring.md"))
        let asked = Self.names(in: text).map { name in
            ["_bucket", "_count", "_sum"].reduce(name) { $0.hasSuffix($1) ? String($0.dropLast($1.count)) : $0 }
        }
        #expect(asked.count >= 6)
        for name in asked { #expect(page.contains(name), "\(name)") }
        if file.hasSuffix("json") {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
        }
    }

    @Test("the time before a process is killed is the sum of what a keeper and a server wait for")
    func shutdown() throws {
        // A refresh that is on its way, and then answers that are in memory: Handshake.finishRefreshes().
        let refreshes = Int(2 * (TransferLimits().timeout / .seconds(1)))
        let keeper = refreshes + Int(KeeperHook.maximumRequestTime)
        let page = try Self.text("Documentation/Monitoring.md")
        let routes = try Self.text("Sources/HandshakeServer/Health/HealthRoutes.swift")
        #expect(page.contains("Give a process \(keeper + refreshes) s between SIGTERM and SIGKILL"))
        #expect(page.contains("The keeper takes up to \(keeper) s"))
        #expect(page.contains("then takes up to \(refreshes) s"))
        #expect(routes.contains("Give such a process \(keeper + refreshes) s before it is killed"))
        #expect(routes.contains("then up to \(refreshes) s for `HandshakeService`"))
        let server = try Self.text("Sources/HandshakeServer/Keeping/HandshakeService.swift")
        #expect(server.contains("give the process \(refreshes) s before it is killed"))
    }

    @Test("says what to do about each alert")
    func alerts() throws {
        let page = try Self.text("Documentation/Monitoring.md")
        let alerts = try Self.text("Documentation/Monitoring/alerts.yml").matches(of: /alert: (\w+)/)
        #expect(alerts.count >= 6)
        let tests = try Self.text(Promtool.tests)
        for alert in alerts {
            #expect(page.contains("\n| \(alert.output.1) | "))
            #expect(tests.contains("alertname: \(alert.output.1)\n"), "no test lets \(alert.output.1) fire")
        }
    }

    @Test(
        "the alerts fire on a first burst and after a restart, and not on less", .heavy,
        .enabled(if: Promtool.path != nil, "promtool is not installed (Debian: prometheus)"))
    func rules() async throws {
        let folder = try TemporaryFolder()
        _ = FileManager.default.createFile(atPath: folder.path + "/log", contents: nil)
        let process = Process()
        process.executableURL = URL(filePath: try #require(Promtool.path))
        process.arguments = ["test", "rules", Repository.root.appending(path: Promtool.tests).path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(forWritingAtPath: folder.path + "/log")
        process.standardError = process.standardOutput
        let status = try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { ended.resume(throwing: error) }
        }
        let output = try String(contentsOfFile: folder.path + "/log", encoding: .utf8)
        #expect(status == 0, "\(output)")
    }
}

/// The program that evaluates rules of Prometheus.
private enum Promtool {
    static let tests = "Tests/DocumentationTests/Monitoring/alerts-test.yml"

    static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/promtool" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}

/// The code of the page. It is compiled, and not run: a process chooses its figures once.
private func chooseBackends(
    _ figures: any MetricsFactory, _ tracer: any Tracer, _ client: Client, _ vault: any Vault
) throws -> Handshake {
    MetricsSystem.bootstrap(figures)  // swift-prometheus, swift-otel, …
    InstrumentationSystem.bootstrap(tracer)
    let handshake = try Handshake(client, vault: vault)
    return handshake
}

private func application(_ router: Router<BasicRequestContext>, _ handshake: Handshake) -> some ApplicationProtocol {
    var app = Application(router: router)
    app.addServices(HandshakeService(handshake))
    return app
}
