import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization

extension Benchmark {
    static let stampede = Benchmark(
        name: "stampede",
        summary: "10,000 concurrent requests when the token has expired; the token endpoint takes 50 ms",
        run: { options in try await Stampede.run(options) })
}

/// The token is refreshed over HTTP at a sandbox whose token endpoint answers after 50 ms. The API is in memory and answers
/// immediately, so that no connection to it is waited for: what is measured is how requests wait for one refresh.
enum Stampede {
    private static let requests = 10_000
    private static let rounds = 15

    /// Why the token is of no use.
    enum Trigger: String, CaseIterable {
        /// Its time has passed.
        case expired
        /// The API answers 401 to it.
        case refused
    }

    /// What one round did.
    struct Round {
        let start: Double
        let end: Double
        let failures: Int
    }

    static func run(_ options: Options) async throws -> [Figure] {
        let sandbox = try await Sandbox.start(
            .init(faults: [try FaultRule(parsing: "recurse-center POST /oauth/token => delay 0.05")]))
        var figures: [Figure] = []
        let alone = try await Crowd(sandbox, vault: MemoryVault())
        for trigger in Trigger.allCases {
            figures += try await measure("\(trigger.rawValue), 1 process", at: sandbox) {
                try await alone.prepare(trigger)
                return await alone.play()
            }
        }
        figures += try await measure("expired, 1 process, 1 task group", at: sandbox) {
            try await alone.prepare(.expired)
            return await alone.playInGroup()
        }
        figures += try await together(sandbox, folder: options.folder)
        figures += try await alone.compare()
        await sandbox.stop()
        return figures
    }

    /// Plays rounds and counts, from the sandbox's own log, how often each asked for a token.
    private static func measure(
        _ name: String, at sandbox: Sandbox, _ round: () async throws -> Round
    ) async throws -> [Figure] {
        let played = try await samples(rounds, warmUp: 2) {
            sandbox.clearRequests()
            let round = try await round()
            let refreshes = sandbox.requests(.recurseCenter).count { $0.grantType == "refresh_token" }
            return (round, refreshes)
        }
        return [
            Figure(name, "ms", .atMost(200), samples: played.map { ($0.0.end - $0.0.start) * 1e3 }),
            Figure("\(name): token requests", "", .exactly(1), samples: played.map { Double($0.1) }),
            Figure("\(name): failures", "", .exactly(0), samples: played.map { Double($0.0.failures) }),
        ]
    }

    /// Two processes with half of the requests each, and one file vault between them.
    private static func together(_ sandbox: Sandbox, folder: String) async throws -> [Figure] {
        let origin = sandbox.recurseCenter.origin
        let handshake = try Handshake(
            try RecurseCenterAtSandbox.client(origin: origin), vault: try vault(in: folder))
        _ = try await handshake.signIn(through: SandboxUserAgent(sandbox: sandbox))
        let part = ChildPart.stampede(origin: origin, folder: folder, requests: requests / 2)
        let pair = ChildPair(try part.start(), try part.start())
        var figures: [Figure] = []
        for trigger in Trigger.allCases {
            figures += try await measure("\(trigger.rawValue), 2 processes", at: sandbox) {
                try await blocking { try pair.round(trigger) }
            }
        }
        return figures
    }

    /// The part of a child: one crowd, and a round for each line of input.
    static func playChild(origin: String, folder: String, requests: Int) async throws {
        let crowd = try await Crowd(origin: origin, vault: vault(in: folder), requests: requests)
        print("ready")
        fflush(nil)
        while let line = try await blocking({ readLine() }), let trigger = Trigger(rawValue: line) {
            try await crowd.prepare(trigger)
            print("prepared")
            fflush(nil)
            guard try await blocking({ readLine() }) != nil else { return }
            let round = await crowd.play()
            print(round.start, round.end, round.failures)
            fflush(nil)
        }
    }

    private static func vault(in folder: String) throws -> FileVault {
        try FileVault(directory: folder + "/vault", keyFile: folder + "/key")
    }

    /// The children, asked in step. Used by one thread at a time.
    private final class ChildPair: @unchecked Sendable {
        private let children: [ChildProcess]

        init(_ children: ChildProcess...) {
            self.children = children
        }

        deinit {
            for child in children { child.kill() }
            for child in children { _ = child.wait() }
        }

        func round(_ trigger: Trigger) throws -> Round {
            try tell(trigger.rawValue)
            for child in children { child.write("go") }
            let results = try children.map { child in
                let words = try answer(child).split(separator: " ").compactMap { Double($0) }
                guard words.count == 3 else { throw Failure("a child said something else") }
                return Round(start: words[0], end: words[1], failures: Int(words[2]))
            }
            return Round(
                start: results.map(\.start).min() ?? 0, end: results.map(\.end).max() ?? 0,
                failures: results.reduce(0) { $0 + $1.failures })
        }

        /// Has every child prepare a round; each says so.
        private func tell(_ line: String) throws {
            for child in children { child.write(line) }
            for child in children { while try answer(child) != "prepared" {} }
        }

        private func answer(_ child: ChildProcess) throws -> String {
            guard let line = child.readLine() else { throw Failure("a child ended early") }
            return line
        }
    }
}

/// One account and everyone who sends requests with it.
struct Crowd: Sendable {
    private let account: Account
    private let request: RequestMessage
    private let requests: Int
    private let transport: SplitTransport
    private let clock: MovedClock

    /// Signs in.
    init(_ sandbox: Sandbox, vault: any Vault) async throws {
        let origin = sandbox.recurseCenter.origin
        try await self.init(origin: origin, requests: 10_000) { client, transport, time in
            let handshake = try Handshake(client, vault: vault, transport: transport, time: time)
            return try await handshake.signIn(through: SandboxUserAgent(sandbox: sandbox))
        }
    }

    /// Finds the account in a vault.
    init(origin: String, vault: any Vault, requests: Int) async throws {
        try await self.init(origin: origin, requests: requests) { client, transport, time in
            let handshake = try Handshake(client, vault: vault, transport: transport, time: time)
            guard let account = try await handshake.account() else { throw Failure("the account is not in the vault") }
            return account
        }
    }

    private init(
        origin: String, requests: Int, account: (Client, SplitTransport, TimeSource) async throws -> Account
    ) async throws {
        clock = MovedClock()
        transport = SplitTransport()
        self.requests = requests
        request = try RecurseCenterAtSandbox.request(origin: origin)
        self.account = try await account(try RecurseCenterAtSandbox.client(origin: origin), transport, clock.source)
    }

    /// Makes the present token useless.
    func prepare(_ trigger: Stampede.Trigger) async throws {
        switch trigger {
        case .expired:
            transport.api.refuse(nil)
            clock.advance(by: 7_200)
        case .refused: transport.api.refuse(try await account.accessToken().reveal())
        }
    }

    /// Sends all requests concurrently, each in a task of its own, and awaits all answers.
    func play() async -> Stampede.Round {
        let start = monotonicSeconds()
        let senders = (0..<requests).map { _ in Task { await succeeds() } }
        let timer = Task {
            try await Task.sleep(for: Self.timeout)
            for sender in senders { sender.cancel() }
        }
        var failures = 0
        for sender in senders where await !sender.value { failures += 1 }
        timer.cancel()
        return Stampede.Round(start: start, end: monotonicSeconds(), failures: failures)
    }

    /// A request that has no answer by then is given up, and has failed.
    private static let timeout = Duration.seconds(10)

    /// The same with the children of one task group, which takes each off its list when it ends.
    func playInGroup() async -> Stampede.Round {
        let start = monotonicSeconds()
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<requests { group.addTask { await succeeds() } }
            return await group.reduce(into: 0) { if !$1 { $0 += 1 } }
        }
        return Stampede.Round(start: start, end: monotonicSeconds(), failures: failures)
    }

    private func succeeds() async -> Bool {
        (try? await account.send(request))?.head.status == .ok
    }

    /// What the parts cost by themselves: one refresh, and as many requests with a token that is good.
    func compare() async throws -> [Figure] {
        transport.api.refuse(nil)
        let refreshes = try await samples(10) { try await seconds { try await account.refresh() } }
        let requests = await samples(10) { await play() }
        return [
            Figure("one refresh and no request", "ms", samples: refreshes.map { $0 * 1e3 }),
            Figure("10,000 requests and no refresh", "ms", samples: requests.map { ($0.end - $0.start) * 1e3 }),
        ]
    }
}

/// To the token endpoint over the network, to the API in memory.
private struct SplitTransport: Transport {
    let network = AsyncHTTPTransport()
    let api = InMemoryAPI()

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        request.head.method == .post
            ? try await network.send(request, limits: limits) : api.answer(to: request)
    }
}

/// An API that accepts every token but one.
private final class InMemoryAPI: Sendable {
    private let refused = Mutex<String?>(nil)

    func refuse(_ token: String?) {
        refused.withLock { $0 = token.map { "Bearer " + $0 } }
    }

    func answer(to request: RequestMessage) -> ResponseMessage {
        let isRefused = refused.withLock { $0 != nil && $0 == request.head.headerFields[.authorization] }
        return ResponseMessage(head: HTTPResponse(status: isRefused ? .unauthorized : .ok))
    }
}
