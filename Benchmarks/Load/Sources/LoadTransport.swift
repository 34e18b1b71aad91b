import Foundation
import HTTPTypes
import Handshake
import OAuth
import PostgresVault
import Synchronization

/// Brings requests to the token server over one connection. The measurement is of accounts and vaults, not of an HTTP client.
final class LoadTransport: Transport {
    private let descriptor: Int32
    /// The share of refreshes whose answer is lost.
    private let cut: Double
    private let waiting = Mutex<(next: UInt64, all: [UInt64: CheckedContinuation<String, Never>])>((0, [:]))
    private let writing = Mutex(())

    init(to path: String, cut: Double = 0) throws {
        self.cut = cut
        descriptor = try UnixSocket.connect(to: path)
        Thread.detachNewThread { self.read() }
    }

    /// Sends a line and waits for its answer, without the number.
    func ask(_ text: String) async -> String {
        await withCheckedContinuation { continuation in
            let number = waiting.withLock { waiting in
                waiting.next += 1
                waiting.all[waiting.next] = continuation
                return waiting.next
            }
            writing.withLock { _ in UnixSocket.write("\(number) \(text)\n", to: descriptor) }
        }
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        if case .bytes(let form) = request.content {
            let fields = String(decoding: form, as: UTF8.self).split(separator: "&")
            let token = fields.first { $0.hasPrefix("refresh_token=") }?.dropFirst(14) ?? ""
            let answer = await ask("R \(token)").split(separator: " ")
            guard answer.count == 3 else { return Self.json(400, #"{"error":"invalid_grant"}"#) }
            guard Double.random(in: 0..<1) >= cut else {
                throw TransportError.cut(host: "load.example", reason: "the load test loses this answer")
            }
            return Self.json(
                200,
                #"{"access_token":"\#(answer[1])","token_type":"Bearer","expires_in":\#(answer[2]),"refresh_token":"\#(answer[1])"}"#
            )
        }
        let token = request.head.headerFields[.authorization]?.dropFirst(7) ?? ""
        return Self.json(Int(await ask("A \(token)")) ?? 500, "{}")
    }

    private static func json(_ status: Int, _ content: String) -> ResponseMessage {
        ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"]),
            content: Array(content.utf8))
    }

    private func read() {
        var reader = LineReader(descriptor)
        while let lines = reader.next() {
            for line in lines {
                let parts = line.split(separator: " ", maxSplits: 1)
                guard let number = parts.first.flatMap({ UInt64($0) }) else { continue }
                let continuation = waiting.withLock { $0.all.removeValue(forKey: number) }
                continuation?.resume(returning: parts.count > 1 ? String(parts[1]) : "")
            }
        }
    }
}

/// The app that every process of the load test is.
enum LoadApp {
    private static func handshake(_ vault: any Vault, _ transport: LoadTransport, delay: Double) throws -> Handshake {
        let metadata = AuthorizationServerMetadata(
            issuer: try Issuer("https://load.example"), tokenEndpoint: try EndpointURL("https://load.example/token"))
        let service = try Service(
            name: "load", authorizationServer: .described(metadata),
            apiRoot: try EndpointURL("https://load.example/"), defaultScopes: [])
        let client = Client(service: service, id: "app", redirect: .uri(try RedirectURI("com.example.app:/callback")))
        let system = TimeSource.system
        let time = TimeSource(now: { system.now() - delay }, clock: system.clock)
        return try Handshake(client, vault: vault, transport: transport, time: time)
    }

    private static func vault(_ place: Place) async throws -> PostgresVault {
        var options = PostgresVault.Options()
        options.connections = place.connections
        for _ in 0..<120 {
            do {
                return try await PostgresVault.open(place.connection, keyFolder: place.keys, options: options)
            } catch VaultError.unavailable {
                // The server is being restarted. A supervisor would start the process again.
                try await Task.sleep(for: .milliseconds(250))
            }
        }
        return try await PostgresVault.open(place.connection, keyFolder: place.keys, options: options)
    }

    /// Where the parts of a load test find each other.
    struct Place: Codable {
        let connection: String
        let keys: String
        let socket: String
        let accounts: Int
        let life: Double
        let connections: Int
        let cut: Double
        var tasks = 32
        /// How long the accounts were stored, in seconds. The apps' clocks are behind by as much: tokens begin to live when all are stored.
        var delay = 0.0

        /// The app, with connections of its own.
        func handshake() async throws -> Handshake {
            let transport = try LoadTransport(to: socket, cut: cut)
            return try LoadApp.handshake(try await LoadApp.vault(self), transport, delay: delay)
        }
    }
}
