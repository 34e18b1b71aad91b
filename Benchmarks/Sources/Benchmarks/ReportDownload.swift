import Foundation
import Sandbox

extension Benchmark {
    static let reportDownload = Benchmark(
        name: "report-download", summary: "a report's file of 200 MiB to disk, by the statically linked command",
        needsCommand: true, run: { options in try await ReportDownload.run(options) })
}

/// `sequencing report-file` saves files of two sizes from a sandbox in this process, which makes them as it sends them. What it
/// has resident is its own process's peak.
private enum ReportDownload {
    private static let account = "sequencing"
    /// The sandbox's reports of so many KiB have this number and more.
    private static let generated = 1_000_000_000

    static func run(_ options: Options) async throws -> [Figure] {
        let command = try MeasuredCommand(options)
        let sandbox = try await Sandbox.start()
        try await command.signIn(account, at: sandbox.sequencing.origin, client: "my-genome-app", sandbox)
        let file = options.folder + "/report.pdf"
        func arguments(_ mebibytes: Int) -> [String] {
            ["sequencing", "report-file", "\(generated + mebibytes << 10)", "--output", file, "--force"]
        }
        func peak(_ mebibytes: Int) async throws -> [Double] {
            try await samples(7) {
                let peak = try command.peak(arguments(mebibytes))
                try check(file, mebibytes)
                return peak
            }
        }
        let small = try await peak(1)
        let large = try await peak(200)
        let times = try await samples(5) { try command.milliseconds(arguments(200)) / 1e3 }
        let token = try await samples(7) { try command.peak(["token", account]) }
        await sandbox.stop()
        return [
            Figure("200 MiB, at most resident", "MB", .atMost(32), samples: large),
            Figure("1 MiB, at most resident", "MB", samples: small),
            Figure("token, at most resident", "MB", samples: token),
            Figure("200 MiB, the whole run", "s", samples: times),
        ]
    }

    /// What is measured must also be right: the file is as long as it should be, and has its end.
    private static func check(_ path: String, _ mebibytes: Int) throws {
        guard let file = FileHandle(forReadingAtPath: path), try file.seekToEnd() == UInt64(mebibytes << 20) else {
            throw Failure("the report is not \(mebibytes) MiB long")
        }
        try file.seek(toOffset: UInt64(mebibytes << 20 - 6))
        guard try file.readToEnd() == Data("%%EOF\n".utf8) else { throw Failure("the report has another end") }
    }
}
