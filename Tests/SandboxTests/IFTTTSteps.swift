import Foundation
import Sandbox
import TestFixtures
import Testing

/// The steps of apps, partners and people at the IFTTT stand-in as a test writes them.
struct IFTTTSteps: Sendable {
    static let key = "sandbox-service-key-lumen-garden"
    static let orchardKey = "sandbox-service-key-quiet-orchard"
    static let leaving = "/v2/connections/aB3dE5fG"
    static let many = "/v2/connections/mAnyFt05"

    let sandbox: Sandbox
    let wire: WireClient

    init(_ sandbox: Sandbox) throws {
        self.sandbox = sandbox
        wire = try WireClient(origin: sandbox.ifttt.origin)
    }

    /// Who asks.
    enum Caller: Sendable {
        case anonymous
        case user(String)
        case partner(String)

        static let ada = user("utk_sandbox_ada")
        static let garden = partner(IFTTTSteps.key)

        var headers: [String: String] {
            switch self {
            case .anonymous: [:]
            case .user(let token): ["Authorization": "Bearer \(token)"]
            case .partner(let key): ["IFTTT-Service-Key": key]
            }
        }
    }

    func send(
        _ method: String, _ target: String, as caller: Caller = .anonymous, headers: [String: String] = [:],
        body: String = ""
    ) async throws -> IFTTTAnswer {
        var fields = caller.headers.merging(headers) { $1 }
        if !body.isEmpty { fields["Content-Type"] = "application/json" }
        return IFTTTAnswer(wire: try await wire.send(method, target, headers: fields, body: body))
    }

    /// The entries of a log as parsed objects.
    func log(_ log: SandboxConnectLog) throws -> [[String: Any]] {
        try sandbox.iftttLog(log).map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// The events of the webhooks so far.
    func webhooks() throws -> [String] {
        try log(.webhooks).map { try #require($0["event"] as? String) }
    }
}

/// An answer with its JSON taken apart.
struct IFTTTAnswer {
    let wire: WireClient.Answer

    var status: Int { wire.status }

    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(wire.body)) as? [String: Any]) ?? [:]
    }

    /// A value inside, by names and indices with dots between: `user_connection.user_features.0.id`.
    subscript(path: String) -> Any? {
        path.split(separator: ".").reduce(object as Any?) { value, step in
            if let index = Int(step) {
                let list = value as? [Any] ?? []
                return list.indices.contains(index) ? list[index] : nil
            }
            return (value as? [String: Any])?[String(step)]
        }
    }

    func text(_ path: String) -> String? { self[path] as? String }
    func number(_ path: String) -> Double? { (self[path] as? NSNumber)?.doubleValue }
    func list(_ path: String) -> [[String: Any]] { self[path] as? [[String: Any]] ?? [] }

    /// Status, code and pointers of an error, as one text for tables; the status alone for anything else.
    var outcome: String {
        guard text("type") == "error", text("message")?.isEmpty == false, self["details"] is [Any] else {
            return "\(status)"
        }
        let pointers = list("details").compactMap { $0["parameter"] as? String }
        return (["\(status)", text("code") ?? ""] + pointers).joined(separator: " ")
    }
}
