import Foundation
import TestFixtures
import Testing

@testable import load_benchmark

@Suite("The load test's own judgement")
struct LoadRunTests {
    @Test(
        "a run fails when an account is lost, a refresh token was used twice or an expiry had two refreshes, and says how often",
        arguments: [[0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [3, 2, 4, 1]])
    func verdict(_ numbers: [Int]) throws {
        let (lost, reused, early, status) = (numbers[0], numbers[1], numbers[2], Int32(numbers[3]))
        var counts = TokenServer.Counts()
        (counts.refreshes, counts.early, counts.forgiven, counts.reused) = (50, early, 5, reused)
        let verdict = LoadVerdict(lost: lost, counts: counts)
        #expect(verdict.status == status)
        let seen =
            "the service: 50 refreshes, \(early) of them second ones of one expiry, 5 answered again, \(reused) reused; "
        #expect(try #require(verdict.lines.first).hasPrefix(seen))
        let failure =
            "failed: \(lost) accounts did not work when used once more, "
            + "refresh tokens were used twice \(reused) times, "
            + "and accounts were refreshed a second time for one expiry \(early) times"
        #expect(Array(verdict.lines.dropFirst()) == (status == 0 ? [] : [failure]))
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
                ["--accounts", "40", "--processes", "0", "--life", "0.01", "--forgive", "0"] + more
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
