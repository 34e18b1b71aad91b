import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@Suite("Streamed answers", .heavy)
struct StreamTests {
    /// What a receiver got.
    private final class Received: Sendable {
        private let pieces = Mutex<[[UInt8]]>([])
        var count: Int { pieces.withLock { $0.count } }
        var bytes: [UInt8] { pieces.withLock { $0.flatMap(\.self) } }

        func add(_ piece: [UInt8]) {
            pieces.withLock { $0.append(piece) }
        }
    }

    private struct Enough: Error {}

    @Test("the platform's transport hands over what send would have returned")
    func sameContent() async throws {
        let sandbox = try await Sandbox.start()
        let transport = PlatformTransport()
        let request = RequestMessage(
            .get, try EndpointURL(sandbox.sequencing.origin + "/_sandbox", security: .allowingInsecureLoopback))
        let whole = try await transport.send(request, limits: TransferLimits())
        let received = Received()
        let head = try await transport.stream(request, limits: TransferLimits()) { _, piece in received.add(piece) }
        #expect(head.status == .ok)
        #expect(received.bytes == whole.content)
        await sandbox.stop()
    }

    @Test("a stream longer than its limit is an error, and so is what the receiver throws")
    func limits() async throws {
        let sandbox = try await Sandbox.start()
        let transport = PlatformTransport()
        let request = RequestMessage(
            .get, try EndpointURL(sandbox.sequencing.origin + "/_sandbox", security: .allowingInsecureLoopback))
        await #expect(throws: TransportError.tooLarge(host: request.head.authority ?? "", limit: 10)) {
            _ = try await transport.stream(request, limits: TransferLimits(maximumContentLength: 10)) { _, _ in }
        }
        await #expect(throws: Enough.self) {
            _ = try await transport.stream(request, limits: TransferLimits()) { _, _ in throw Enough() }
        }
        await sandbox.stop()
    }

    @Test("a refused token is refreshed and nothing of the refusal is handed over")
    func refresh() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        world.sandbox.expireAccessTokens(.recurseCenter)
        let received = Received()
        let response = try await account.stream(RequestMessage(.get, try account.resolve("profiles/me"))) {
            head, piece in
            #expect(head.status == .ok)
            received.add(piece)
        }
        #expect(response.head.status == .ok)
        #expect(response.content.isEmpty)
        #expect(try JSONValue(parsing: received.bytes).object?["id"] != nil)
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("a refusal that says so with status 200 is not mistaken for content")
    func unauthorizedMessage() async throws {
        let world = try await World()
        let refusals = Mutex(1)
        let transport = TappedTransport { request, base, limits in
            let isRefused =
                request.head.path == "/api/v1/file"
                && refusals.withLock { count in
                    defer { count -= 1 }
                    return count > 0
                }
            if isRefused {
                return ResponseMessage(
                    head: HTTPResponse(status: .ok), content: Array(#"{"message":"unauthorized"}"#.utf8))
            }
            if request.head.path == "/api/v1/file" {
                return ResponseMessage(head: HTTPResponse(status: .ok), content: [1, 2])
            }
            return try await base.send(request, limits: limits)
        }
        let (_, account) = try await world.signedIn(transport: transport)
        let received = Received()
        _ = try await account.stream(RequestMessage(.get, try account.resolve("file"))) { _, piece in
            received.add(piece)
        }
        #expect(received.bytes == [1, 2])
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("an answer that is no success comes back whole and is not handed over")
    func failure() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        try world.inject("GET /api/v1/profiles/me => status 404 x1")
        let received = Received()
        let response = try await account.stream(RequestMessage(.get, try account.resolve("profiles/me"))) { _, piece in
            received.add(piece)
        }
        #expect(response.head.status == .notFound)
        #expect(received.count == 0)
        await world.sandbox.stop()
    }

    @Test("a foreign origin is refused before anything is sent")
    func foreignOrigin() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        let request = RequestMessage(.get, try EndpointURL("https://evil.example/"))
        #expect(await handshakeError { try await account.stream(request) { _, _ in } }?.code == "foreign_origin")
        await world.sandbox.stop()
    }
}
