import Foundation
import Handshake
import OAuth
import Sandbox

extension Benchmark {
    static let peers = Benchmark(
        name: "peers", summary: "the same work done by golang.org/x/oauth2, joserfc and Authlib, in turn with ours",
        run: { options in try await Peers.run(options) })
}

/// Ours and theirs, alternately, so that whatever else the machine does falls on both alike. What is not installed is left
/// out with a note.
enum Peers {
    static func run(_ options: Options) async throws -> [Figure] {
        var figures: [Figure] = []
        do {
            let program = try GoProgram(in: options.folder)
            figures += try await added(by: program)
            figures += try await stampede(by: program)
            if options.command == nil {
                note("left out: the command, which needs --command PATH")
            } else {
                figures += try await command(by: program, options)
            }
        } catch let missing as MissingPeer {
            note("left out: \(missing.description)")
        }
        do {
            figures += try await IDTokenPeers(options).figures()
        } catch let missing as MissingPeer {
            note("left out: \(missing.description)")
        }
        guard !figures.isEmpty else { throw Failure("none of the peers is installed") }
        return figures
    }

    private static func added(by program: GoProgram) async throws -> [Figure] {
        var figures: [Figure] = []
        for count in [1, 1_000] {
            let accounts = try await AuthorizedRequest.Accounts(count)
            for tasks in [1, 64] {
                let costs = try await samples(15, warmUp: 2) {
                    Pair(
                        ours: try await accounts.added(tasks: tasks),
                        theirs: try program.ask("added \(tasks) \(count) \(AuthorizedRequest.requests)")[0])
                }
                let what =
                    "added a request, \(tasks == 1 ? "1 task" : "\(tasks) tasks"), "
                    + (count == 1 ? "1 account" : "1,000 accounts")
                figures += Pair.figures(what, "µs", of: costs, peer: "x/oauth2", .atMost(0.7))
            }
        }
        return figures
    }

    private static func stampede(by program: GoProgram) async throws -> [Figure] {
        let sandbox = try await Sandbox.start(
            .init(faults: [try FaultRule(parsing: "recurse-center POST /oauth/token => delay 0.05")]))
        let crowd = try await Crowd(sandbox, vault: MemoryVault())
        let origin = sandbox.recurseCenter.origin
        let refreshToken = try await refreshToken(at: sandbox)
        _ = try program.ask("sign-in \(origin)/oauth/token recurse-public \(refreshToken)")
        let rounds = try await samples(15, warmUp: 2) {
            try await crowd.prepare(.expired)
            let ours = await crowd.play()
            let theirs = try program.ask("stampede 10000")
            guard ours.failures == 0, theirs[1] == 0 else { throw Failure("a request of the stampede failed") }
            return Pair(ours: (ours.end - ours.start) * 1e3, theirs: theirs[0])
        }
        await sandbox.stop()
        return Pair.figures(
            "10,000 requests at an expired token", "ms", of: rounds, peer: "x/oauth2", .atMost(1))
    }

    /// A session of its own for the peer.
    private static func refreshToken(at sandbox: Sandbox) async throws -> String {
        let client = try RecurseCenterAtSandbox.client(origin: sandbox.recurseCenter.origin)
        guard case .described(let server) = client.service.authorizationServer else {
            throw Failure("the sandbox's service is not described")
        }
        let now = Date().timeIntervalSince1970
        let request = try AuthorizationRequest(
            to: server, clientID: client.id, redirectURI: try RedirectURI("http://127.0.0.1:1/callback"), now: now)
        let redirect = try await sandbox.approve(request.url)
        let code = try request.code(from: try AuthorizationResponse(redirectURL: redirect), now: now)
        let exchange = TokenRequest(
            .authorizationCode(code), at: server, clientID: client.id, authentication: .none)
        let answer = try await AsyncHTTPTransport().send(try exchange.message, limits: TransferLimits())
        guard let token = try exchange.response(from: answer, now: now).refreshToken else {
            throw Failure("the sandbox gave no refresh token")
        }
        return token.reveal()
    }

    /// A whole run that prints a token out of an encrypted file.
    private static func command(by program: GoProgram, _ options: Options) async throws -> [Figure] {
        let command = try MeasuredCommand(options)
        let sandbox = try await Sandbox.start()
        try await command.signIn(
            "recurse-center", at: sandbox.recurseCenter.origin, client: "recurse-public", sandbox)
        await sandbox.stop()
        let files = [options.folder + "/sealed", options.folder + "/sealed-key"]
        _ = try MeasuredCommand.milliseconds(program.path, ["seal"] + files, command.environment)
        let times = try await samples(100, warmUp: 5) {
            Pair(
                ours: try command.milliseconds(["token", "recurse-center"]),
                theirs: try MeasuredCommand.milliseconds(program.path, ["open"] + files, command.environment))
        }
        let peaks = try await samples(15) {
            Pair(
                ours: try command.peak(["token", "recurse-center"]) * 1e6 / 1_048_576,
                theirs: try MeasuredCommand.peak(program.path, ["open"] + files, command.environment) * 1e6 / 1_048_576)
        }
        return Pair.figures("token printed from an encrypted file", "ms", of: times, peer: "Go", .atMost(2))
            + Pair.figures("the same, at most resident", "MiB", of: peaks, peer: "Go", .atMost(2))
    }
}

/// What both sides took, or did, in one sample.
struct Pair {
    let ours: Double
    let theirs: Double

    /// Three lines: the ratio, which has a reach, and the two sides.
    static func figures(
        _ what: String, _ unit: String, of pairs: [Pair], peer: String, _ reach: Reach
    ) -> [Figure] {
        [
            Figure("\(what): ours by \(peer)'s", "×", reach, samples: pairs.map { $0.ours / $0.theirs }),
            Figure("\(what): ours", unit, samples: pairs.map(\.ours)),
            Figure("\(what): \(peer)'s", unit, samples: pairs.map(\.theirs)),
        ]
    }
}

/// A peer that this machine does not have.
struct MissingPeer: Error, CustomStringConvertible {
    let description: String
}

/// `Peers/oauth2`, built here. Used by one thread at a time.
final class GoProgram {
    let path: String
    private let process: ChildProcess

    init(in folder: String) throws {
        path = folder + "/oauth2"
        let environment = [
            // Where Debian puts packages of Go.
            "GOPATH": "/usr/share/gocode", "GO111MODULE": "off", "GOCACHE": folder + "/cache", "HOME": folder,
            "PATH": "/usr/local/go/bin:/usr/bin:/bin",
        ]
        let source = "Peers/oauth2/main.go"
        guard FileManager.default.fileExists(atPath: source) else {
            throw Failure("\(source) is not here: run this in the folder Benchmarks")
        }
        let (_, ending) = try ChildProcess.run(
            "/usr/bin/env", ["go", "build", "-o", path, source], environment: environment)
        guard ending.status == 0 else {
            throw MissingPeer(description: "x/oauth2, which needs golang-go and golang-golang-x-oauth2-dev")
        }
        process = try ChildProcess(path, [])
    }

    deinit {
        process.kill()
        _ = process.wait()
    }

    /// The numbers that it answers an order with.
    func ask(_ order: String) throws -> [Double] {
        process.write(order)
        guard let line = process.readLine() else { throw Failure("the program of x/oauth2 ended early") }
        return line.split(separator: " ").compactMap { Double($0) }
    }
}
