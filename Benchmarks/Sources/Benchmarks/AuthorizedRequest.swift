import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox

extension Benchmark {
    static let authorizedRequest = Benchmark(
        name: "authorized-request", summary: "what Account.send adds to its transport, with a valid token",
        run: { _ in try await AuthorizedRequest.run() })
}

/// Requests over a transport that answers immediately, with and without an account before it.
///
/// What an account *adds* is processor time: the process's with the account less the process's without it, by the number of requests.
///
/// The *slow-down* is in core time, which counts waiting too: the time on the wall, times the cores that so many tasks can keep busy, by
/// the number of requests. Were there no contention at all, 64 tasks on two cores would cost per request what one task does; behind
/// one global lock they would cost at least twice that. On a machine with other work it shows that work too, as it does for the
/// bare transport beside it.
enum AuthorizedRequest {
    static let requests = 100_032
    private static let tasks = 64
    private static let samplesEach = 15

    static func run() async throws -> [Figure] {
        var figures: [Figure] = []
        for count in [1, 1_000] {
            let accounts = try await Accounts(count)
            let costs = try await samples(samplesEach, warmUp: 2) { try await accounts.costs() }
            figures += self.figures(of: costs, accounts: count == 1 ? "1 account" : "1,000 accounts")
        }
        return figures + (try await overLoopback())
    }

    /// What one sample holds.
    fileprivate struct Costs {
        let bareAlone, accountAlone, bareTogether, accountTogether: Cost
    }

    /// What a request costs, in microseconds.
    fileprivate struct Cost {
        let processor: Double
        let core: Double
    }

    private static func figures(of costs: [Costs], accounts: String) -> [Figure] {
        [
            Figure(
                "added a request, 1 task, \(accounts)", "µs", .atMost(2),
                samples: costs.map { $0.accountAlone.processor - $0.bareAlone.processor }),
            Figure(
                "added a request, \(tasks) tasks, \(accounts)", "µs", .atMost(2),
                samples: costs.map { $0.accountTogether.processor - $0.bareTogether.processor }),
            Figure(
                "slow-down at \(tasks) tasks, \(accounts)", "×", .atMost(2),
                samples: costs.map { $0.accountTogether.core / $0.accountAlone.core }),
            Figure(
                "slow-down of the bare transport, \(accounts)", "×",
                samples: costs.map { $0.bareTogether.core / $0.bareAlone.core }),
            Figure("bare transport, 1 task, \(accounts)", "µs", samples: costs.map(\.bareAlone.processor)),
            Figure("bare transport, \(tasks) tasks, \(accounts)", "µs", samples: costs.map(\.bareTogether.processor)),
        ]
    }

    /// Signed-in accounts over a transport in memory.
    struct Accounts: Sendable {
        private let transport = InstantTransport()
        private let accounts: [Account]
        private let request: RequestMessage

        init(_ count: Int) async throws {
            let root = try EndpointURL("https://service.example/api/")
            let server = AuthorizationServerMetadata(
                issuer: try Issuer("https://service.example"),
                tokenEndpoint: try EndpointURL("https://service.example/token"))
            let service = try Service(name: "example", authorizationServer: .described(server), apiRoot: root)
            let client = Client.confidential(service: service, id: "benchmark", secret: Secret("not a secret"))
            let handshake = try Handshake(client, vault: MemoryVault(), transport: transport)
            var accounts: [Account] = []
            for number in 0..<count { accounts.append(try await handshake.signInAsClient(as: "user-\(number)")) }
            self.accounts = accounts
            request = RequestMessage(.get, try EndpointURL("https://service.example/api/things/1"))
        }

        /// What the account adds to a request, in microseconds of processor time.
        func added(tasks: Int) async throws -> Double {
            let bare = try await bare(tasks: tasks).processor
            return try await authorized(tasks: tasks).processor - bare
        }

        fileprivate func costs() async throws -> Costs {
            Costs(
                bareAlone: try await bare(tasks: 1), accountAlone: try await authorized(tasks: 1),
                bareTogether: try await bare(tasks: tasks), accountTogether: try await authorized(tasks: tasks))
        }

        private func bare(tasks: Int) async throws -> Cost {
            let transport: any Transport = transport
            let request = request
            return try await cost(tasks: tasks, requests: requests) { _ in
                _ = try await transport.send(request, limits: TransferLimits())
            }
        }

        private func authorized(tasks: Int) async throws -> Cost {
            let accounts = accounts
            let request = request
            return try await cost(tasks: tasks, requests: requests) { number in
                _ = try await accounts[number % accounts.count].send(request)
            }
        }
    }

    /// What a request costs when `tasks` tasks share them.
    private static func cost(
        tasks: Int, requests: Int, _ send: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Cost {
        let share = requests / tasks
        let processor = processorSeconds()
        let time = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask { for number in 0..<share { try await send(number &* tasks &+ task) } }
                }
                try await group.waitForAll()
            }
        }
        let cores = min(tasks, ProcessInfo.processInfo.activeProcessorCount)
        let requests = Double(share * tasks) / 1e6
        return Cost(processor: (processorSeconds() - processor) / requests, core: time * Double(cores) / requests)
    }

    /// The same over HTTP to a sandbox in this process, whose own work is in the figures.
    private static func overLoopback() async throws -> [Figure] {
        let sandbox = try await Sandbox.start()
        let origin = sandbox.recurseCenter.origin
        let transport = AsyncHTTPTransport()
        let handshake = try Handshake(
            try RecurseCenterAtSandbox.client(origin: origin), vault: MemoryVault(), transport: transport)
        let account = try await handshake.signIn(through: SandboxUserAgent(sandbox: sandbox))
        let request = try RecurseCenterAtSandbox.request(origin: origin)
        var bare = request
        bare.head.headerFields[.authorization] = "Bearer \(try await account.accessToken().reveal())"
        let authorized = bare
        var figures: [Figure] = []
        for tasks in [1, tasks] {
            let rates = try await samples(10, warmUp: 2) {
                let bare = try await rate(tasks: tasks) {
                    try await transport.send(authorized, limits: TransferLimits())
                }
                return (bare: bare, account: try await rate(tasks: tasks) { try await account.send(request) })
            }
            let name = tasks == 1 ? "1 task" : "\(tasks) tasks"
            figures.append(Figure("over HTTP to the sandbox, \(name)", "a second", samples: rates.map(\.account)))
            figures.append(Figure("the same without account, \(name)", "a second", samples: rates.map(\.bare)))
        }
        await sandbox.stop()
        return figures
    }

    private static func rate(
        tasks: Int, _ send: @escaping @Sendable () async throws -> ResponseMessage
    ) async throws -> Double {
        let requests = 1_024
        let time = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<tasks {
                    group.addTask {
                        for _ in 0..<(requests / tasks) {
                            guard try await send().head.status == .ok else { throw Failure("the sandbox refused") }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        return Double(requests) / time
    }
}

/// Answers immediately: a token to a POST, and a short JSON text to every other request.
private struct InstantTransport: Transport {
    private let token = ResponseMessage(
        head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
        content: Array(
            #"{"access_token":"0123456789abcdef0123456789abcdef","token_type":"Bearer","expires_in":86400}"#.utf8))
    private let answer = ResponseMessage(
        head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
        content: Array(#"{"id":1,"name":"a thing"}"#.utf8))

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        request.head.method == .post ? token : answer
    }
}
