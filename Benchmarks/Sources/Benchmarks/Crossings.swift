import Foundation
import Geofences
import HTTPTypes
import Handshake
import IFTTTConnect
import OAuth
import Synchronization

extension Benchmark {
    static let crossings = Benchmark(
        name: "crossings", summary: "10,000 crossings of areas that wait in a file vault are uploaded",
        run: { options in try await Crossings.run(options) })
}

/// A queue that a device filled while it was offline is uploaded to a service that takes 5 ms for each answer. Beside it, as many
/// requests of that service without a queue.
private enum Crossings {
    private static let count = 10_000
    private static let latency = Duration.milliseconds(5)
    private static let subscription = "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002"

    static func run(_ options: Options) async throws -> [Figure] {
        let full = MemoryVault()
        let recorder = try await synchronizer(full, SlowService())
        let start = Date.now.timeIntervalSince1970 - Double(count)
        for number in 0..<count {
            try await recorder.record(
                RegionCrossing(
                    .exit, of: "ifttt_" + subscription, at: Date(timeIntervalSince1970: start + Double(number))))
        }
        let keys = try await full.keys(of: .crossings).keys
        var round = 0
        let rounds = try await samples(5) {
            round += 1
            let name = "\(options.folder)/\(round)"
            let vault = try FileVault(directory: name, keyFile: name + ".key")
            let service = SlowService()
            let synchronizer = try await synchronizer(vault, service)
            for key in keys {
                let record = try await full.record(key) ?? []
                try await vault.update(key) { try await $0.replace(with: record) }
            }
            service.forget()
            let queue = await seconds { _ = await synchronizer.synchronize(.crossing) }
            let requests = service.requests
            guard try await synchronizer.waiting().isEmpty else { throw Failure("some crossings still wait") }
            let bare = try await seconds { for _ in 0..<requests { try await service.upload() } }
            return (queue: queue, requests: Double(requests), records: Double(service.records), bare: bare)
        }
        return [
            Figure("10,000 crossings, uploaded", "s", .atMost(3), samples: rounds.map(\.queue)),
            Figure("crossings that arrived", "", .exactly(Double(count)), samples: rounds.map(\.records)),
            Figure("requests", "", samples: rounds.map(\.requests)),
            Figure("as many requests without a queue", "s", samples: rounds.map(\.bare)),
        ]
    }

    /// A synchronizer whose connection has been fetched.
    private static func synchronizer(_ vault: any Vault, _ service: SlowService) async throws -> PlacesSynchronizer {
        let synchronizer = PlacesSynchronizer(
            of: "ifttt", api: ConnectAPI(.user(try token()), transport: service), vault: vault)
        try await synchronizer.activate([ConnectionID("aB3dE5fG")])
        guard try await synchronizer.regions.count == 1 else { throw Failure("the connection was not fetched") }
        return synchronizer
    }

    private static func token() throws -> UserToken {
        guard let token = UserToken(Secret("utk_benchmark_9f2c")) else { throw Failure("the token is none") }
        return token
    }

    /// IFTTT, which takes its time over each answer.
    private final class SlowService: Transport {
        private let counts = Mutex((requests: 0, records: 0))

        var requests: Int { counts.withLock(\.requests) }
        var records: Int { counts.withLock(\.records) }

        func forget() { counts.withLock { $0 = (0, 0) } }

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            guard request.head.method == .post else {
                return ResponseMessage(
                    head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                    content: Array((request.head.path == "/v2/me" ? Crossings.user : Crossings.connection).utf8))
            }
            if case .bytes(let bytes) = request.content {
                let records = try JSONValue(parsing: bytes).array?.count ?? 0
                counts.withLock { $0 = ($0.requests + 1, $0.records + records) }
            }
            try await upload()
            return ResponseMessage(head: HTTPResponse(status: .noContent))
        }

        func upload() async throws { try await Task.sleep(for: Crossings.latency) }
    }

    private static let user = #"{"type":"me","authentication_level":"user","user_login":"edsger_i"}"#

    private static let connection = """
        {"type":"connection","id":"aB3dE5fG","name":"Water the balcony","description":"Starts the drip line.",
        "url":"https://ifttt.com/connections/aB3dE5fG","user_status":"enabled","services":[{"service_id":"lumen_garden",
        "service_name":"Lumen Garden","service_short_name":"Lumen","is_primary":true,
        "monochrome_icon_url":"https://a.example/i.png","brand_color":"#2b8a3e","url":"https://ifttt.com/lumen_garden"}],
        "user_connection":{"user_features":[{"id":"u0","feature_id":"ft01","enabled":true,"user_fields":[],
        "user_feature_queries":[],"user_feature_actions":[],"user_feature_triggers":[{"id":"\(subscription)",
        "feature_trigger_id":"tr01","user_fields":[{"field_id":"location","field_type":"LOCATION_EXIT",
        "value":{"lat":52.52,"lng":13.4,"radius":100,"address":"A","description":"B","zoom":16}}]}]}]}}
        """
}
