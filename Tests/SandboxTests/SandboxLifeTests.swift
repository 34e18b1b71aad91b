import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("A sandbox's life", .heavy)
struct SandboxLifeTests {
    @Test("it starts with five services that answer immediately")
    func starts() async throws {
        for _ in 0..<5 {
            let sandbox = try await Sandbox.start()
            for service in [
                sandbox.sequencing, sandbox.recurseCenter, sandbox.standard, sandbox.ifttt, sandbox.resources,
            ] {
                let answer = try await WireClient(origin: service.origin).send("GET", "/")
                #expect(answer.status == 200)
            }
            await sandbox.stop()
        }
    }

    @Test("several sandboxes beside each other share nothing")
    func besideEachOther() async throws {
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let sandbox = try await Sandbox.start()
                    let steps = try OAuthSteps(sandbox, sandbox.standard)
                    let tokens = try await steps.signIn()
                    let me = try await steps.get("/api/whoami", bearer: tokens.access)
                    #expect(me.status == 200)
                    #expect(sandbox.requests().count == 2)
                    await sandbox.stop()
                    return sandbox.standard.origin
                }
            }
            var origins: Set<String> = []
            for try await origin in group { origins.insert(origin) }
            #expect(origins.count == 6)
        }
    }

    @Test("a given port puts the services on it and the next four")
    func fixedPorts() async throws {
        let (sandbox, base) = try await sandboxOnFixedPorts()
        #expect(sandbox.sequencing.origin == "http://127.0.0.1:\(base)")
        #expect(sandbox.recurseCenter.origin == "http://127.0.0.1:\(base + 1)")
        #expect(sandbox.standard.origin == "http://127.0.0.1:\(base + 2)")
        #expect(sandbox.ifttt.origin == "http://127.0.0.1:\(base + 3)")
        #expect(sandbox.resources.origin == "http://127.0.0.1:\(base + 4)")
        await sandbox.stop()
    }

    @Test("a port that is taken or out of range is an error, and nothing is left listening")
    func takenPorts() async throws {
        let (sandbox, base) = try await sandboxOnFixedPorts()
        for port in [base, base - 2, 65_534, 70_000, -1] {
            await #expect(throws: SandboxError.self) { _ = try await Sandbox.start(.init(port: port)) }
        }
        let taken = await #expect(throws: SandboxError.self) { _ = try await Sandbox.start(.init(port: base)) }
        #expect(
            taken?.description == "The sandbox cannot listen on 127.0.0.1 port \(base): another program uses the port. "
                + "Choose another port, or 0 for any free one.")
        #expect(throws: WireClient.Failure.self) { _ = try WireClient.connected(to: UInt16(base - 2)) }
        await sandbox.stop()
    }

    /// A sandbox on six ports below the range from which the kernel chooses, so that other tests are not in the way.
    private func sandboxOnFixedPorts() async throws -> (Sandbox, Int) {
        for _ in 0..<50 {
            let base = Int.random(in: 20_000..<30_000)
            if let sandbox = try? await Sandbox.start(.init(port: base)) { return (sandbox, base) }
        }
        throw WireClient.Failure(description: "no six free ports in a row")
    }

    @Test("stopping is idempotent, frees the ports and does not wait for endless answers or idle connections")
    func stops() async throws {
        let sandbox = try await Sandbox.start()
        sandbox.inject(try FaultRule(parsing: "/jwks => endless"))
        sandbox.inject(try FaultRule(parsing: "/api/echo => delay 600"))
        let wire = try WireClient(origin: sandbox.standard.origin)
        let idle = try WireClient.connected(to: wire.port)
        async let endless = wire.send("GET", "/jwks")
        async let delayed = wire.exchange(Array("GET /api/echo HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        while sandbox.requests(.standard).count < 2 { await Task.yield() }
        async let first: Void = sandbox.stop()
        async let second: Void = sandbox.stop()
        // Would not return if it waited for the answer without an end.
        _ = await (first, second)
        await sandbox.stop()
        _ = try? await endless
        _ = try? await delayed
        close(idle)
        #expect(throws: WireClient.Failure.self) { _ = try WireClient.connected(to: wire.port) }
    }

    @Test("a sandbox without references stops listening")
    func letGo() async throws {
        func openEndlessAnswer() async throws -> Task<WireClient.Answer, any Error> {
            let sandbox = try await Sandbox.start(.init(faults: [try FaultRule(parsing: "/jwks => endless")]))
            let wire = try WireClient(origin: sandbox.standard.origin)
            let task = Task { try await wire.send("GET", "/jwks") }
            while sandbox.requests().isEmpty { await Task.yield() }
            return task
        }
        let answer = try await openEndlessAnswer().value
        #expect(answer.status == 200)
    }

    @Test("the description names origins, clients and users in a stable order")
    func description() async throws {
        try await withSandbox { sandbox in
            let text = sandbox.descriptionJSON()
            let order = ["sequencing", "recurse-center", "standard", "ifttt", "resources", "mutual-tls"].compactMap {
                text.range(of: "\"\($0)\":")?.lowerBound
            }
            #expect(order.count == 6)
            #expect(order == order.sorted())
            let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let services = try #require(parsed?["services"] as? [String: [String: Any]])
            let standard = try #require(services["standard"])
            #expect(standard["issuer"] as? String == sandbox.standard.origin)
            let client = try #require((services["sequencing"]?["clients"] as? [[String: Any]])?.last)
            #expect(client["id"] as? String == "My Genome App (iPhone)")
            #expect(Set(client.keys).isSuperset(of: ["id", "secret", "kind", "redirect_uris"]))
            let user = try #require((services["recurse-center"]?["users"] as? [[String: Any]])?.first)
            #expect(Set(user.keys).isSuperset(of: ["name", "password", "subject", "display_name"]))
            let answer = try await WireClient(origin: sandbox.sequencing.origin).send("GET", "/_sandbox")
            #expect(answer.text == text)
        }
    }

    @Test("a body beyond one mebibyte is answered with 413, whether its length is announced or not")
    func bodyLimit() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let body = String(repeating: "a", count: (1 << 20) + 1)
            let announced = try await wire.send("POST", "/token", body: body)
            #expect(announced.status == 413)
            let chunked =
                "POST /token HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "100001\r\n\(body)\r\n0\r\n\r\n"
            let answer = try await wire.exchange(Array(chunked.utf8))
            #expect(String(decoding: answer.prefix(12), as: UTF8.self) == "HTTP/1.1 413")
        }
    }

    @Test("the request log names parameters and schemes but holds no secret")
    func log() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing, client: 1)
            let tokens = try await steps.signIn()
            _ = try await steps.get("/DataSourceList?all=true&access_token=\(tokens.access)", bearer: tokens.access)
            let entries = sandbox.requests(.sequencing)
            #expect(entries.map(\.path) == ["/oauth2/token", "/DataSourceList"])
            #expect(entries.first?.grantType == "authorization_code")
            #expect(entries.first?.authorizationScheme == "Basic")
            #expect(entries.first?.formParameterNames == ["code", "code_verifier", "grant_type", "redirect_uri"])
            #expect(entries.last?.queryParameterNames == ["all", "access_token"])
            #expect(entries.map(\.status) == [200, 200])
            let printed = "\(entries)" + (try await steps.control("GET", "/requests").text)
            for secret in [tokens.access, tokens.refresh, OAuthSteps.verifier, steps.client.secret ?? ""] {
                #expect(!printed.contains(secret))
            }
            #expect(sandbox.requests(.standard).isEmpty)
            sandbox.clearRequests()
            #expect(sandbox.requests().isEmpty)
        }
    }

    @Test("a word of Authorization that may be a credential is no scheme in the request log")
    func schemes() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let long = String(repeating: "k", count: 33)
            // The last one is what two fields are together, of which the first has no scheme.
            for field in ["token-1", "\(long) token-1", "Bearer token-1", "token-1, Bearer token-1"] {
                _ = try await wire.send("GET", "/api/whoami", headers: ["Authorization": field])
            }
            #expect(sandbox.requests(.standard).map(\.authorizationScheme) == [nil, nil, "Bearer", nil])
            let read = try await wire.send("GET", "/_sandbox/requests").text
            let printed = "\(sandbox.requests())" + read
            #expect(read.contains("whoami") && !printed.contains("token-1") && !printed.contains(long))
        }
    }
}
