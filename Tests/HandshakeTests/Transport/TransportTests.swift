import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@Suite("The transport", .heavy)
struct TransportTests {
    private static let url = "/api/v1/profiles/me"

    private func request(_ sandbox: Sandbox, path: String = url) throws -> RequestMessage {
        RequestMessage(
            .get, try EndpointURL(sandbox.recurseCenter.origin + path, security: .allowingInsecureLoopback))
    }

    private func failure(
        _ request: RequestMessage, _ limits: TransferLimits = TransferLimits(),
        through transport: PlatformTransport = PlatformTransport()
    ) async -> TransportError? {
        do {
            _ = try await transport.send(request, limits: limits)
            return nil
        } catch {
            return error as? TransportError
        }
    }

    /// A fault, the limits under which it is met, and what it has to be called.
    struct Row: Sendable, CustomTestStringConvertible {
        let fault: String
        var limits = TransferLimits()
        let code: String
        let mayHaveArrived: Bool
        var testDescription: String { "\(fault) is \(code)" }
    }

    /// Every deadline here is missed on a fast machine as on a busy one: the connection is open before it begins to count.
    @Test(
        "C9: every content is bounded and every exchange has a deadline",
        arguments: [
            Row(fault: "huge 2000000", code: "response_too_large", mayHaveArrived: true),
            Row(
                fault: "endless", limits: TransferLimits(timeout: .milliseconds(300)), code: "timed_out",
                mayHaveArrived: true),
            Row(
                fault: "delay 30", limits: TransferLimits(timeout: .milliseconds(300)), code: "timed_out",
                mayHaveArrived: true),
            Row(fault: "drop", code: "connection_cut", mayHaveArrived: true),
            Row(fault: "cut 3", code: "connection_cut", mayHaveArrived: true),
        ])
    func limits(_ row: Row) async throws {
        let sandbox = try await Sandbox.start()
        let transport = PlatformTransport()
        _ = try await transport.send(try request(sandbox), limits: TransferLimits())
        sandbox.inject(try FaultRule(parsing: "GET \(Self.url) => \(row.fault)"))
        let error = try #require(await failure(try request(sandbox), row.limits, through: transport))
        #expect(error.code == row.code)
        #expect(error.mayHaveArrived == row.mayHaveArrived)
        await sandbox.stop()
    }

    @Test("C8: no redirect is followed, and the second address hears nothing", arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        let sandbox = try await Sandbox.start()
        let other = try await Sandbox.start()
        sandbox.inject(
            try FaultRule(parsing: "GET \(Self.url) => redirect \(other.standard.origin)/api/whoami \(status)"))
        let response = try await PlatformTransport().send(try request(sandbox), limits: TransferLimits())
        #expect(response.head.status.code == status)
        #expect(other.requests().isEmpty)
        await other.stop()
        await sandbox.stop()
    }

    @Test("a refused connection is known never to have been made")
    func refused() async throws {
        // A port of the kernel's choice could be another test's by now; nothing listens at port 1.
        let address = try EndpointURL("http://127.0.0.1:1/", security: .allowingInsecureLoopback)
        let error = try #require(await failure(RequestMessage(.get, address)))
        #expect(error.code == "unreachable")
        #expect(!error.mayHaveArrived)
    }

    @Test("a host without an address is told from one that does not answer")
    func unknownHost() async throws {
        // A label of more than 63 characters cannot be looked up (RFC 1035, section 2.3.4), so no name server is asked.
        let host = String(repeating: "a", count: 64) + ".example"
        let error = try #require(await failure(RequestMessage(.get, try EndpointURL("https://\(host)/"))))
        #expect(error == .unknownHost(host: host))
        #expect(!error.mayHaveArrived)
    }

    @Test("cancelling ends an exchange immediately")
    func cancellation() async throws {
        let sandbox = try await Sandbox.start()
        sandbox.inject(try FaultRule(parsing: "GET \(Self.url) => endless"))
        let request = try request(sandbox)
        let task = Task { try await PlatformTransport().send(request, limits: TransferLimits(timeout: .seconds(60))) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await sandbox.stop()
    }

    #if os(Linux)
    @Test("C7: an untrusted certificate is rejected, and distinguished from a network failure")
    func untrustedCertificate() async throws {
        let server = try await UntrustedServer.start()
        let request = RequestMessage(.get, try EndpointURL("https://127.0.0.1:\(server.port)/"))
        let error = try #require(await failure(request))
        #expect(error.code == "tls_failed")
        #expect(!error.mayHaveArrived)
        #expect(!"\(error)".contains(".swift"), "no source path of the library that failed")
        try await server.stop()
    }

    @Test("C7: a TLS record that breaks after the request was sent does not say that nothing was sent")
    func brokenRecord() async throws {
        let server = try await CertificateServer.start()
        let transport = try AsyncHTTPTransport(trusting: Array(TestCertificates.authority.utf8))
        let request = RequestMessage(.post, try EndpointURL(server.issuer + "/broken"))
        let error = await #expect(throws: TransportError.self) {
            _ = try await transport.send(request, limits: TransferLimits())
        }
        #expect(error?.mayHaveArrived == true && error?.code != "tls_failed", "\(String(describing: error))")
        try await server.stop()
    }

    @Test("C7: a peer that does not speak TLS is refused")
    func noTLS() async throws {
        let sandbox = try await Sandbox.start()
        let request = RequestMessage(
            .get, try EndpointURL(sandbox.standard.origin.replacing("http://", with: "https://")))
        #expect(await failure(request)?.code == "tls_failed")
        await sandbox.stop()
    }
    #endif
}
