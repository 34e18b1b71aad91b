import Foundation
import HTTPTypes
import Handshake
import HandshakeServer
import Hummingbird
import Logging
import OAuth

extension Benchmark {
    static let webhooks = Benchmark(
        name: "webhooks", summary: "IFTTT's webhooks, each handed over once, with a file vault",
        run: { options in try await Webhooks.run(options) })
}

/// Webhooks over HTTP, one after the other, at a server that remembers none and at one that remembers 20,000, and beside
/// each sample as many plain writes to the same vault.
private enum Webhooks {
    private static let remembered = 20_000
    private static let count = 200
    private static let key = "benchmark-service-key"

    static func run(_ options: Options) async throws -> [Figure] {
        let empty = try vault(options, "empty")
        let full = try vault(options, "full")
        let size = try await fill(full)
        let (few, many) = (try await Server.start(empty), try await Server.start(full))
        let rounds = try await samples(15) {
            (
                empty: try await seconds { try await few.deliver(count) },
                full: try await seconds { try await many.deliver(count) },
                write: try await seconds { try await write(to: full, bytes: size) }
            )
        }
        await few.stop()
        await many.stop()
        func rates(_ times: [Double]) -> [Double] { times.map { Double(count) / $0 } }
        return [
            Figure("with 20,000 remembered", "a second", samples: rates(rounds.map(\.full))),
            Figure("with none remembered at first", "a second", samples: rates(rounds.map(\.empty))),
            Figure("plain writes to the vault, \(size) bytes", "a second", samples: rates(rounds.map(\.write))),
            Figure("slow-down by 20,000 remembered", "×", .atMost(1.5), samples: rounds.map { $0.full / $0.empty }),
            Figure("what a webhook costs", "plain writes", .atMost(4), samples: rounds.map { $0.full / $0.write }),
        ]
    }

    private static func vault(_ options: Options, _ name: String) throws -> FileVault {
        try FileVault(directory: "\(options.folder)/\(name)", keyFile: "\(options.folder)/\(name).key")
    }

    /// Has 20,000 webhooks remembered: in memory first, which is quick, and then copied.
    ///
    /// - Returns: the mean size of a record.
    private static func fill(_ vault: FileVault) async throws -> Int {
        let memory = MemoryVault()
        let server = try await Server.start(memory)
        try await server.deliver(remembered)
        await server.stop()
        let keys = try await memory.keys(of: .delivery).keys
        var size = 0
        for key in keys {
            guard let record = try await memory.record(key) else { throw Failure("a record is missing") }
            size += record.count
            try await vault.update(key) { try await $0.replace(with: record) }
        }
        return size / max(keys.count, 1)
    }

    private static func write(to vault: FileVault, bytes: Int) async throws {
        let contents = [UInt8](repeating: 0x20, count: bytes)
        for number in 0..<count {
            try await vault.update(VaultKey(.registration, ["\(number % 256)"])) {
                try await $0.replace(with: contents)
            }
        }
    }

    /// A server with the route, and IFTTT at its door.
    private struct Server {
        let url: EndpointURL
        let transport = PlatformTransport()
        let task: Task<Void, Never>

        static func start(_ vault: any Vault) async throws -> Server {
            let router = Router()
            let routes = try WebhookRoutes<BasicRequestContext>(serviceKey: Secret(key), vault: vault) { _ in }
            routes.add(to: router)
            let (ports, bound) = AsyncStream<Int>.makeStream()
            var log = Logger(label: "benchmark")
            log.logLevel = .critical
            let application = Application(
                router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { bound.yield($0.localAddress?.port ?? 0) }, logger: log)
            let task = Task {
                do { try await application.run() } catch { note("the server ended: \(error)") }
                bound.finish()
            }
            for await port in ports {
                let url = try EndpointURL(
                    "http://127.0.0.1:\(port)/ifttt/v1/webhooks/connection/enabled",
                    security: .allowingInsecureLoopback)
                return Server(url: url, task: task)
            }
            throw Failure("the server did not start")
        }

        func stop() async {
            task.cancel()
            await task.value
        }

        func deliver(_ count: Int) async throws {
            var headers: HTTPFields = [.contentType: "application/json"]
            guard let serviceKey = HTTPField.Name("IFTTT-Service-Key"), let requestID = HTTPField.Name("X-Request-ID")
            else { throw Failure("no such header") }
            headers[serviceKey] = key
            for _ in 0..<count {
                headers[requestID] = UUID().uuidString
                let body =
                    #"{"sent_at":\#(Int(Date().timeIntervalSince1970 * 1000)),"data":{"connection_id":"aB3dE5fG","#
                    + #""user_id":"garden-1001"},"event_data":{}}"#
                let request = RequestMessage(.post, url, headers: headers, content: .bytes(Array(body.utf8)))
                let answer = try await transport.send(request, limits: TransferLimits())
                guard answer.head.status == .ok else { throw Failure("a webhook got status \(answer.head.status)") }
            }
        }
    }
}
