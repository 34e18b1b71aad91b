import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox

/// The statically linked release build of `handshake`, with a home of its own.
struct MeasuredCommand {
    let path: String
    let environment: [String: String]

    init(_ options: Options) throws {
        guard let path = options.command else {
            throw Failure("this needs --command PATH; the README says how to build it")
        }
        self.path = path
        environment = ["HANDSHAKE_HOME": options.folder + "/home", "HOME": options.folder, "PATH": "/usr/bin:/bin"]
    }

    /// Drives `login`: reads the address that it prints, answers the sandbox's pages, and visits the redirect as a browser would.
    func signIn(_ service: String, at origin: String, client: String, _ sandbox: Sandbox) async throws {
        let child = SharedChild(
            try ChildProcess(
                path,
                [
                    "login", service, "--base-url", origin, "--client-id", client, "--browser", "print", "--timeout",
                    "30",
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

    /// The lines that a run prints; it must end with 0.
    func lines(_ arguments: [String]) throws -> [String] {
        let child = try ChildProcess(path, arguments, environment: environment)
        let lines = child.readLines()
        guard child.wait().status == 0 else { throw Failure("\(arguments.joined(separator: " ")) failed") }
        return lines
    }

    /// The milliseconds of one run.
    func milliseconds(_ arguments: [String]) throws -> Double {
        try Self.milliseconds(path, arguments, environment)
    }

    static func milliseconds(
        _ path: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> Double {
        let (seconds, ending) = try ChildProcess.run(path, arguments, environment: environment)
        guard ending.status == 0 else { throw Failure("\(path) \(arguments.joined(separator: " ")) failed") }
        return seconds * 1e3
    }

    /// The most that a run has resident, in millions of bytes.
    func peak(_ arguments: [String]) throws -> Double {
        try Self.peak(path, arguments, environment)
    }

    /// The same for any program, started from a small process: a program's peak is never reported as less than its starter's own.
    static func peak(
        _ path: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> Double {
        let part = ChildPart.weigh(path: path, arguments: arguments)
        let child = try ChildProcess(ChildProcess.ourselves, part.arguments, environment: environment)
        let line = child.readLine()
        guard child.wait().status == 0, let bytes = line.flatMap(Double.init) else { throw Failure("\(path) failed") }
        return bytes / 1e6
    }
}
