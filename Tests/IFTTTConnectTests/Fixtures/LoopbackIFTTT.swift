import IFTTTConnect
import OAuth
import Sandbox
import TestFixtures

/// The kit at the sandbox of this process, over HTTP on loopback.
struct LoopbackIFTTT {
    static let key = "sandbox-service-key-lumen-garden"

    let sandbox: Sandbox
    let hosts: Hosts

    /// Runs a body at a sandbox of its own, and stops it afterwards, also after a failure.
    static func run(_ body: (LoopbackIFTTT) async throws -> Void) async throws {
        let sandbox = try await Sandbox.start()
        do {
            let base = try EndpointURL(sandbox.ifttt.origin, security: .allowingInsecureLoopback)
            try await body(LoopbackIFTTT(sandbox: sandbox, hosts: Hosts(allAt: base)))
        } catch {
            await sandbox.stop()
            throw error
        }
        await sandbox.stop()
    }

    var service: ConnectService { ConnectService(key: Secret(Self.key), at: hosts, time: .hurried()) }
    var anonymous: ConnectAPI { ConnectAPI(at: hosts, time: .hurried()) }

    /// The calls in the name of a user of the sandbox, such as `ada`.
    func api(_ user: String) throws -> ConnectAPI {
        ConnectAPI(.user(try token("utk_sandbox_\(user)")), at: hosts, time: .hurried())
    }

    /// A browser of the sandbox's user.
    func visitor(at address: String) async throws -> WebVisitor {
        try await WebVisitor(origin: sandbox.ifttt.origin, at: address)
    }

    /// A member of every entry of a log, by names with dots between.
    func log(_ log: SandboxConnectLog, _ path: String) throws -> [String] {
        try sandbox.iftttLog(log).map { text in
            let entry = try JSONValue(parsing: Array(text.utf8))
            let value = path.split(separator: ".").reduce(entry as JSONValue?) { $0?.object?[String($1)] }
            return value?.string ?? value?.json ?? ""
        }
    }
}
