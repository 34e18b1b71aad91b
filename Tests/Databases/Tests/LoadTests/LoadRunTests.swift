import Foundation
import TestFixtures
import Testing

@testable import load_benchmark

@Suite("The load test's own judgement")
struct LoadRunTests {
    @Test(
        "a run fails when an account is lost, a token is used twice, an expiry has two refreshes or a kept token ends",
        arguments: [
            [0, 0, 0, 0, 0], [1, 0, 0, 0, 1], [0, 1, 0, 0, 1], [0, 0, 1, 0, 1], [0, 0, 0, 1, 1], [3, 2, 4, 5, 1],
        ])
    func verdict(_ numbers: [Int]) throws {
        let (lost, reused, early, lapsed) = (numbers[0], numbers[1], numbers[2], numbers[3])
        let status = Int32(numbers[4])
        var counts = TokenServer.Counts()
        (counts.refreshes, counts.early, counts.forgiven, counts.reused) = (50, early, 5, reused)
        let verdict = LoadVerdict(lost: lost, counts: counts, lapsed: lapsed)
        #expect(verdict.status == status)
        let seen =
            "the service: 50 refreshes, \(early) of them second ones of one expiry, 5 answered again, \(reused) reused; "
        #expect(try #require(verdict.lines.first).hasPrefix(seen))
        let failure =
            "failed: \(lost) accounts did not work when used once more, "
            + "refresh tokens were used twice \(reused) times, "
            + "and accounts were refreshed a second time for one expiry \(early) times"
            + "; \(lapsed) tokens ended before a keeper had refreshed them"
        #expect(Array(verdict.lines.dropFirst()) == (status == 0 ? [] : [failure]))
    }

    @Test("the service counts a token that ended without a refresh once, also when the refresh comes later")
    func lapses() throws {
        let now = Guarded(1_000.0)
        let server = TokenServer(accounts: 3, life: 100, forgiving: 0, isKept: true) { now.withLock { $0 } }
        func lapsed() throws -> Int {
            try JSONDecoder().decode(TokenServer.Counts.self, from: Data(server.answer("S", "-").utf8)).lapsed
        }
        let ends = (0..<3).map { TokenServer.firstLife(of: $0, 100, isKept: true) }
        #expect(ends.allSatisfy { (25..<100).contains($0) })
        now.withLock { $0 += 20 }
        #expect(server.answer("R", "0.0").hasPrefix("200 "))
        #expect(try lapsed() == 0)
        // The tokens of the two others end, and that of the first, which was refreshed, lives.
        now.withLock { $0 += 85 }
        #expect(try lapsed() == 2)
        #expect(server.answer("R", "1.0").hasPrefix("200 "))
        #expect(try lapsed() == 2)
    }

    @Test("the first tokens begin to live when the accounts are stored, however long that takes")
    func begins() throws {
        let now = Guarded(1_000.0)
        let server = TokenServer(accounts: 3, life: 100, forgiving: 0, isKept: true) { now.withLock { $0 } }
        now.withLock { $0 += 500 }
        #expect(server.answer("B", "-") == "200")
        now.withLock { $0 += 20 }
        let counts = try JSONDecoder().decode(TokenServer.Counts.self, from: Data(server.answer("S", "-").utf8))
        #expect(counts.lapsed == 0)
        #expect(server.answer("A", "0.0") == "200")
        now.withLock { $0 += 100 }
        #expect(server.answer("A", "0.0") == "401")
    }

    @Test("the times of requests that waited for a refresh stand apart from those of the others")
    func times() {
        var told = LoadWorker.Told()
        #expect(LoadWorker.Told.quantile(0.5, of: told.times) == .infinity)
        for _ in 0..<10 { told.count(100, isRefreshed: false) }
        for _ in 0..<20 { told.count(10_000, isRefreshed: true) }
        #expect(told.requests == 30)
        #expect((0.1...0.12).contains(LoadWorker.Told.quantile(0.99, of: told.times)))
        #expect((10...12).contains(LoadWorker.Told.quantile(0.01, of: told.refreshTimes)))
        told.refreshes = 20
        // Tests/Interop/test_scale.py has the same line.
        #expect(
            LoadRun.Line(alone: 10).text(told, seconds: 10, kills: 0)
                == "1 processes, 1 tasks each: 3 requests a second, those without a refresh p50 0.11 ms, p99 0.11 ms; "
                + "2 refreshes a second, requests with one p50 11.22 ms, p99 11.22 ms; "
                + "0 processes killed, 0 restarts; ended 0; failures [:]")
    }

    @Test(
        "a run of keepers says what they did and how many tokens ended meanwhile", .heavy,
        .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func keepers() async throws {
        let (status, lines) = try await Self.run("--keepers", "1", "--life", "600", "--seconds", "20", "--kill", "0")
        let report = try #require(lines.first { $0.hasPrefix("keeper 1: ") })
        #expect(report.hasSuffix(" failed") && report.contains(" refreshed, "))
        #expect(lines.contains("0 tokens ended before a keeper had refreshed them"))
        #expect(status == 0)
    }

    @Test(
        "a run whose last look refreshes every account counts those refreshes, and ends with status 0", .heavy,
        .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func passes() async throws {
        let (status, lines) = try await Self.run("--cut", "0")
        #expect(lines.contains("40 accounts used once more: every one alive"))
        let last = try #require(lines.last).split(separator: " ")
        // On a slow machine a token may have ended before its first use, and is refreshed once more.
        #expect(last.prefix(2) == ["the", "service:"] && last.count > 3 && last[3] == "refreshes,")
        #expect(try #require(last.dropFirst(2).first.flatMap { Int($0) }) >= 40)
        #expect(status == 0)
    }

    @Test(
        "a run whose last look loses every answer of a service that forgives no repeat ends with status 1", .heavy,
        .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func fails() async throws {
        let (status, lines) = try await Self.run("--cut", "1")
        let failure =
            "failed: 40 accounts did not work when used once more, refresh tokens were used twice 40 times, "
        #expect(lines.last?.hasPrefix(failure) == true)
        #expect(status == 1)
    }

    /// Runs the program without processes that use the accounts: it stores them, and uses each once.
    private static func run(_ more: String...) async throws -> (status: Int32, lines: [String]) {
        let program = try #require(program)
        return try await PostgresServer.blocking {
            let process = Process()
            process.executableURL = program
            process.arguments =
                ["--accounts", "40", "--processes", "0", "--life", "0", "--forgive", "0"] + more
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let output = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
            return (process.terminationStatus, lines)
        }
    }

    /// The program, which is built beside the tests.
    private static var program: URL? {
        let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let built = folder.appending(path: "load-benchmark")
        let package = FileManager.default.currentDirectoryPath + "/.build/debug/load-benchmark"
        return [built, URL(filePath: package)].first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
