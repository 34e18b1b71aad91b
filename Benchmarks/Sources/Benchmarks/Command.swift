import Sandbox

extension Benchmark {
    static let command = Benchmark(
        name: "command", summary: "a whole run of the statically linked command, from its start to its end",
        needsCommand: true, run: { options in try await Command.run(options) })
}

/// The command is signed in once, to a sandbox, and then asked for its token again and again while that is valid.
private enum Command {
    private static let runs = 100

    static func run(_ options: Options) async throws -> [Figure] {
        let command = try MeasuredCommand(options)
        let sandbox = try await Sandbox.start()
        try await command.signIn(account, at: sandbox.recurseCenter.origin, client: "recurse-public", sandbox)
        await sandbox.stop()
        try check(command)
        // Taken in turn, so that whatever else the machine does falls on all three alike.
        let times = try await samples(runs, warmUp: 5) {
            (
                version: try command.milliseconds(["--version"]),
                token: try command.milliseconds(["token", account]),
                nothing: try MeasuredCommand.milliseconds("/bin/true", [], command.environment)
            )
        }
        return [
            Figure("--version", "ms", .atMost(8), samples: times.map(\.version)),
            Figure("token, cached in a file vault", "ms", .atMost(8), samples: times.map(\.token)),
            Figure("/bin/true", "ms", samples: times.map(\.nothing)),
            try await peak("token, at most resident", .atMost(16)) { try command.peak(["token", account]) },
            try await peak("--version, at most resident", nil) { try command.peak(["--version"]) },
            try await peak("/bin/true, at most resident (its starter's included)", nil) {
                try MeasuredCommand.peak("/bin/true", [], command.environment)
            },
        ]
    }

    private static let account = "recurse-center"

    /// What is timed must also be right: the sandbox is gone by now, so the token can only come from the vault.
    private static func check(_ command: MeasuredCommand) throws {
        let lines = try command.lines(["token", account])
        guard lines.count == 1, lines[0].utf8.count == 43 else { throw Failure("token did not print one token") }
    }

    /// In MiB.
    private static func peak(_ what: String, _ reach: Reach?, _ weigh: () throws -> Double) async throws -> Figure {
        let peaks = try await samples(15) { try weigh() * 1e6 / 1_048_576 }
        return Figure(what, "MiB", reach, samples: peaks)
    }
}
