import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox

extension Benchmark {
    static let command = Benchmark(
        name: "command", summary: "a whole run of the statically linked command, from its start to its end",
        run: { options in try await Command.run(options) })
}

/// The command is signed in once, to a sandbox, and then asked for its token again and again while that is valid.
private enum Command {
    private static let runs = 100

    static func run(_ options: Options) async throws -> [Figure] {
        guard let path = options.command else {
            throw Failure("command needs --command PATH; the README says how to build it")
        }
        let environment = ["HANDSHAKE_HOME": options.folder + "/home", "HOME": options.folder, "PATH": "/usr/bin:/bin"]
        let sandbox = try await Sandbox.start()
        try await signIn(path, environment, sandbox)
        await sandbox.stop()
        try check(path, environment)
        // Taken in turn, so that whatever else the machine does falls on all three alike.
        let times = try await samples(runs, warmUp: 5) {
            (
                version: try time(path, ["--version"], environment),
                token: try time(path, ["token", account], environment),
                nothing: try time("/bin/true", [], environment)
            )
        }
        return [
            Figure("--version", "ms", .atMost(8), samples: times.map(\.version)),
            Figure("token, cached in a file vault", "ms", .atMost(12), samples: times.map(\.token)),
            Figure("/bin/true", "ms", samples: times.map(\.nothing)),
            try await peak("token, at most resident", path, ["token", account], environment, .atMost(30)),
            try await peak("--version, at most resident", path, ["--version"], environment, nil),
            try await peak("/bin/true, at most resident (its starter's included)", "/bin/true", [], environment, nil),
        ]
    }

    private static let account = "recurse-center"

    /// Drives `login`: reads the address that it prints, answers the sandbox's pages, and visits the redirect as a browser would.
    private static func signIn(_ path: String, _ environment: [String: String], _ sandbox: Sandbox) async throws {
        let child = SharedChild(
            try ChildProcess(
                path,
                [
                    "login", account, "--base-url", sandbox.recurseCenter.origin, "--client-id", "recurse-public",
                    "--browser", "print", "--timeout", "30",
                ], environment: environment))
        guard let page = try await blocking({ child.process.readLine() }) else {
            throw Failure("login printed no address")
        }
        let redirect = try EndpointURL(try await sandbox.approve(page), security: .allowingInsecureLoopback)
        _ = try await AsyncHTTPTransport().send(RequestMessage(.get, redirect), limits: TransferLimits())
        guard try await blocking({ child.process.wait() }).status == 0 else { throw Failure("login failed") }
    }

    /// Used by one thread at a time.
    private struct SharedChild: @unchecked Sendable {
        let process: ChildProcess

        init(_ process: ChildProcess) {
            self.process = process
        }
    }

    /// What is timed must also be right: the sandbox is gone by now, so the token can only come from the vault.
    private static func check(_ path: String, _ environment: [String: String]) throws {
        let child = try ChildProcess(path, ["token", account], environment: environment)
        let lines = child.readLines()
        guard child.wait().status == 0, lines.count == 1, lines[0].utf8.count == 43 else {
            throw Failure("token did not print one token")
        }
    }

    /// The milliseconds of one run.
    private static func time(_ path: String, _ arguments: [String], _ environment: [String: String]) throws -> Double {
        let (seconds, ending) = try ChildProcess.run(path, arguments, environment: environment)
        guard ending.status == 0 else { throw Failure("\(path) \(arguments.joined(separator: " ")) failed") }
        return seconds * 1e3
    }

    /// The most that a run has resident, in MiB, started from a small process: a program's peak is never told to be less than its
    /// starter's own.
    private static func peak(
        _ what: String, _ path: String, _ arguments: [String], _ environment: [String: String], _ reach: Reach?
    ) async throws -> Figure {
        let peaks = try await samples(15) {
            let part = ChildPart.weigh(path: path, arguments: arguments)
            let child = try ChildProcess(ChildProcess.ourselves, part.arguments, environment: environment)
            let line = child.readLine()
            guard child.wait().status == 0, let bytes = line.flatMap(Double.init) else {
                throw Failure("\(path) failed")
            }
            return bytes / 1_048_576
        }
        return Figure(what, "MiB", reach, samples: peaks)
    }
}
