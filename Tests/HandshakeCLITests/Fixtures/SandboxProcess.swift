import Foundation
import TestFixtures
import Testing

/// `handshake sandbox` as a process of its own; it ends with this value.
final class SandboxProcess: Sendable {
    /// The token that the Recurse Center's stand-in always accepts.
    static let personalToken = "sandbox-personal-access-token-759"

    private let running: RunningCommand
    private let origins: [String: String]
    /// The private key of the standard server's client that signs, as a JWK.
    let clientKey: String

    init(_ command: Command) async throws {
        running = try command.start(["sandbox", "--print-json"])
        let line = try #require(await running.line())
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let services = try #require(object?["services"] as? [String: [String: Any]])
        origins = services.compactMapValues { $0["origin"] as? String }
        let clients = services["standard"]?["clients"] as? [[String: Any]] ?? []
        clientKey = try #require(clients.compactMap { $0["private_key"] as? String }.first)
    }

    func origin(_ service: String) throws -> String {
        try #require(origins[service])
    }

    /// Makes requests to a service fail by a rule, such as `/revoke => status 503`.
    func fault(_ service: String, _ rule: String) async throws {
        let answer = try await WireClient(origin: try origin(service))
            .send("POST", "/_sandbox/faults", body: "\(service) \(rule)")
        #expect(answer.status < 300, "\(answer.text)")
    }
}

extension Command {
    /// Signs in to the sandbox's Recurse Center with its personal token.
    func signIn(
        at sandbox: SandboxProcess, _ options: String..., environment: [String: String] = [:]
    ) async throws -> FinishedCommand {
        try await start(
            [
                "login", "recurse-center", "--base-url", try sandbox.origin("recurse-center"), "--token-file", "-",
            ] + options, input: SandboxProcess.personalToken + "\n", environment: environment
        ).finish()
    }
}
