import Foundation
import Sandbox
import TestFixtures
import Testing

/// The steps of the Sequencing.com API as a test writes them, one signed-in user at a time.
struct SequencingSteps: Sendable {
    let oauth: OAuthSteps
    let token: String

    init(_ sandbox: Sandbox, as user: String? = nil, scope: String = "demo external") async throws {
        oauth = try OAuthSteps(sandbox, sandbox.sequencing)
        token = try await oauth.signIn(["scope": scope], as: user).access
    }

    func get(_ target: String) async throws -> WireClient.Answer {
        try await oauth.get(target, bearer: token)
    }

    func post(_ path: String, _ body: String) async throws -> WireClient.Answer {
        let headers = ["Authorization": "Bearer \(token)", "Content-Type": "application/json"]
        return try await oauth.wire.send("POST", path, headers: headers, body: body)
    }

    /// Starts a chain and gives the job result object.
    func start(_ chain: String, on file: String) async throws -> Job {
        try Job(try await post("/v2/StartApp", Self.call(chain, file)).value())
    }

    func poll(_ job: Job, path: String = "/v2/GetAppResults") async throws -> Job {
        try Job(try await get("\(path)?idJob=\(job.id)").value())
    }

    /// The names of the result properties with their values, of a chain run to its end.
    func result(_ chain: String, on file: String) async throws -> [String: String] {
        var job = try await start(chain, on: file)
        for _ in 0..<10 where job.succeeded == nil { job = try await poll(job) }
        return job.values
    }

    static func call(_ chain: String, _ file: String) -> String {
        #"{"AppCode":"\#(chain)","Pars":[{"Name":"dataSourceId","Value":"\#(file)"}]}"#
    }
}

/// A job result object as it came.
struct Job {
    let id: Int
    let status: String
    let succeeded: Bool?
    let properties: [[String: Any]]

    init(_ value: Any) throws {
        let object = try #require(value as? [String: Any])
        let status = try #require(object["Status"] as? [String: Any])
        id = try #require(status["IdJob"] as? Int)
        self.status = try #require(status["Status"] as? String)
        succeeded = status["CompletedSuccesfully"] as? Bool
        properties = try #require(object["ResultProps"] as? [[String: Any]])
    }

    var values: [String: String] {
        properties.reduce(into: [:]) { $0[$1["Name"] as? String ?? ""] = $1["Value"] as? String }
    }

    /// Status and success as one word for tables: `Completed true`, `Pending`.
    var outcome: String {
        status + (succeeded.map { " \($0)" } ?? "")
    }
}

extension WireClient.Answer {
    /// The body as JSON of any kind.
    func value() throws -> Any {
        try JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed)
    }

    /// The elements of a JSON array of objects.
    func objects() throws -> [[String: Any]] {
        try #require(try value() as? [[String: Any]], "\(text)")
    }

    /// Status, and for errors the code, as one text for tables.
    var refusal: String {
        "\(status)" + (string("Error").map { " \($0)" } ?? "")
    }
}
