import Foundation
import HTTPTypes
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

#if os(Linux)
import NIOCore
import NIOPosix
#endif

@Suite("Addresses that documents name")
struct AddressCheckTests {
    private static func request(_ host: String, namedBy namer: String?) throws -> RequestMessage {
        var url = try EndpointURL("https://\(host)/x")
        if let namer { url = url.named(by: try EndpointURL("https://\(namer)/").origin) }
        return RequestMessage(.get, url)
    }

    /// Each name with its addresses.
    private static func resolver(_ names: [String: [String]]) -> HostResolver {
        HostResolver { host in names[host] ?? [host] }
    }

    @Test("C9, M902: a caller that is cancelled does not wait for silent name servers")
    func silence() async throws {
        let asked = AsyncStream<Void>.makeStream()
        let silence = DispatchSemaphore(value: 0)
        defer { silence.signal() }
        let check = AddressCheck(
            resolver: HostResolver(blocking: { _ in
                asked.continuation.yield()
                // A caller that does wait gets an address in the end.
                _ = silence.wait(timeout: .now() + 600)
                return ["93.184.216.34"]
            }))
        let request = try Self.request("token.example", namedBy: "as.example")
        let lookup = Task { try await check.addresses(for: request) }
        for await _ in asked.stream.prefix(1) { lookup.cancel() }
        await #expect(throws: CancellationError.self) { try await lookup.value }
    }

    @Test(
        "M902, M901: a name that any inward address stands for is refused, in whatever spelling",
        arguments: [
            ["93.184.216.34", "10.0.0.1"], ["127.0.0.1"], ["::1"], ["::ffff:10.0.0.1"], ["64:ff9b::a00:1"],
            ["2002:a00:1::"], ["169.254.169.254"], ["100.64.0.1"], ["fd00::1"], ["fe80::1%eth0"], ["0.0.0.0"], ["::"],
            ["224.0.0.1"], ["198.18.0.1"], ["not an address"],
        ])
    func inward(_ addresses: [String]) async throws {
        let check = AddressCheck(
            resolver: Self.resolver(["as.example": ["93.184.216.34"], "token.example": addresses]))
        let request = try Self.request("token.example", namedBy: "as.example")
        await #expect(throws: TransportError.privateAddress(host: "token.example")) {
            try await check.addresses(for: request)
        }
        let typed = try Self.request("token.example", namedBy: nil)
        #expect(try await check.addresses(for: typed) == nil, "what the user has given is not examined")
    }

    @Test(
        "M901: a literal in a document is what it resolves to",
        arguments: ["10.0.0.1", "127.1", "0x7f.1", "2130706433", "localhost.", "[::1]"])
    func literals(_ host: String) async throws {
        let check = AddressCheck(resolver: .system)
        let request = try Self.request(host, namedBy: "93.184.216.34")
        do {
            _ = try await check.addresses(for: request)
            Issue.record("it was accepted")
        } catch {
            // `localhost.` is unknown to some resolvers, and then nothing is sent either.
            let found = error as? TransportError
            #expect([TransportError.privateAddress(host: host), .unknownHost(host: host)].contains(found))
        }
    }

    @Test(
        "M903: a private server that the user has named leads to private and public ones, a public one to public ones alone"
    )
    func zones() async throws {
        let check = AddressCheck(
            resolver: Self.resolver([
                "corp.example": ["10.0.0.5"], "inner.example": ["10.0.0.9"], "as.example": ["93.184.216.34"],
                "other.example": ["93.184.216.35", "2606:2800:220:1::1"], "gone.example": [],
                "both.example": ["93.184.216.34", "10.0.0.1"],
            ]))
        func addresses(_ host: String, _ namer: String) async throws -> [String]? {
            try await check.addresses(for: Self.request(host, namedBy: namer))
        }
        #expect(try await addresses("inner.example", "corp.example") == ["10.0.0.9"])
        #expect(try await addresses("other.example", "corp.example") == ["93.184.216.35", "2606:2800:220:1::1"])
        #expect(try await addresses("other.example", "as.example") == ["93.184.216.35", "2606:2800:220:1::1"])
        await #expect(throws: TransportError.privateAddress(host: "inner.example")) {
            try await addresses("inner.example", "as.example")
        }
        await #expect(
            throws: TransportError.privateAddress(host: "inner.example"), "an inward address beside a public one"
        ) {
            try await addresses("inner.example", "both.example")
        }
        await #expect(throws: TransportError.privateAddress(host: "127.0.0.1")) {
            try await addresses("127.0.0.1", "corp.example")
        }
        await #expect(throws: TransportError.unknownHost(host: "gone.example")) {
            try await addresses("gone.example", "as.example")
        }
        #expect(try await addresses("as.example", "as.example") == nil, "a host names itself")
    }

    @Test(
        "M901: whatever a document names carries who named it: endpoints, servers of APIs, redirects; what was given does not"
    )
    func marks() async throws {
        let issuer = try Issuer("https://as.example")
        let json =
            #"{"issuer":"https://as.example","token_endpoint":"https://token.example/t","jwks_uri":"https://as.example/k"}"#
        let server = try AuthorizationServerMetadata(parsing: Array(json.utf8), expected: issuer)
        #expect(server.tokenEndpoint.namedBy?.host == "as.example")
        #expect(server.keysEndpoint?.namedBy == nil)
        #expect(try StoredServer(server).metadata().tokenEndpoint.namedBy?.host == "as.example")
        let named = try AuthorizationServerMetadata(
            parsing: Array(json.utf8), expected: issuer.named(by: EndpointURL("https://api.example/").origin))
        #expect(named.keysEndpoint?.namedBy?.host == "api.example")
        #expect(named.issuer.metadataLocations.allSatisfy { $0.namedBy?.host == "api.example" })
        #expect(issuer.metadataLocations.allSatisfy { $0.namedBy == nil })
        let provider = ScriptedProvider()
        provider.announce(["revocation_endpoint": "https://revoke.example/revoke"])
        let account = try await provider.app().signIn(through: provider.browser)
        provider.answer("/me") { _ in .json(302, [:], [.location: "https://elsewhere.example/x"]) }
        _ = try await account.send(.get, "me")
        #expect(provider.requests.last?.namedBy?.host == "op.example")
        _ = try await account.signOut()
        let revocations = provider.requests.filter { $0.head.path == "/revoke" }
        #expect(revocations.count == 2)
        #expect(revocations.allSatisfy { $0.namedBy?.host == "op.example" })
        #expect(provider.requests.filter { $0.head.path == "/token" }.allSatisfy { $0.namedBy == nil })
    }

    @Test(
        "M901: who named a server's issuer is stored with its metadata, so that a later process asks no further inward")
    func storedNamer() throws {
        let json = #"{"issuer":"https://as.example","token_endpoint":"https://as.example/t"}"#
        let given = try Issuer("https://as.example")
        for issuer in [given, given.named(by: try EndpointURL("https://api.example:8443/").origin)] {
            let server = try AuthorizationServerMetadata(parsing: Array(json.utf8), expected: issuer)
            let bytes = try StoredForm.encode(StoredServer(server))
            let stored: StoredServer = try StoredForm.decode(bytes, what: "a server")
            let again = try stored.metadata()
            #expect(again.tokenEndpoint.namedBy == issuer.url.namedBy)
            #expect(again.issuer.url.namedBy == issuer.url.namedBy)
        }
    }

    @Test("M901: at the host that an address leads to, the next one is named by who named the first")
    func sameHost() async throws {
        func url(_ text: String) throws -> EndpointURL { try EndpointURL(text) }
        let api = try url("https://api.example/").origin
        let token = try url("https://as.example/token").named(by: api)
        #expect(try url("https://as.example/next").named(by: token).namedBy == api)
        #expect(try url("https://other.example/").named(by: token).namedBy?.host == "as.example")
        #expect(try url("https://as.example/next").named(by: url("https://as.example/")).namedBy == nil)
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.answer("/me") { _ in .json(302, [:], [.location: "https://elsewhere.example/a"]) }
        provider.answer("/a") { _ in .json(302, [:], [.location: "https://elsewhere.example/b"]) }
        _ = try await account.send(.get, "me")
        let last = try #require(provider.requests.last)
        #expect(last.head.path == "/b" && last.namedBy?.host == "op.example")
    }

    @Test("M901: a registration's management keeps who named it when it is stored, at its own host and at another one")
    func storedManagement() throws {
        let issuer = try Issuer("https://as.example")
        let service = try Service(name: "as", authorizationServer: .discovered(issuer, security: .httpsOnly))
        for (endpoint, management, namer) in [
            ("https://as.example/register", "https://as.example/m", nil),
            ("https://reg.example/register", "https://reg.example/m", "as.example"),
            ("https://reg.example/register", "https://m.example/m", "reg.example"),
        ] as [(String, String, String?)] {
            var client = Client(service: service, id: "c", redirect: .loopback, scopes: ["a"])
            client.registration = ClientRegistration(
                name: "App", endpoint: try EndpointURL(endpoint), scopes: ["a"], redirect: .loopback,
                redirectURI: try RedirectURI("http://127.0.0.1:8000/callback"), isForDevices: false,
                management: ClientManagement(endpoint: try EndpointURL(management), token: Secret("t")))
            let stored = try Registrations.client(stored: try Registrations.stored(client), as: "App")
            #expect(stored.registration?.management?.endpoint.namedBy?.host == namer, "\(management)")
        }
    }

    @Test("C9, M902: the addresses of a host share the limits of one exchange, and none is tried after its deadline")
    func sharedLimits() async throws {
        let clock = ManualClock()
        let limits = TransferLimits(maximumContentLength: 7, timeout: .seconds(3))
        let given = Mutex<[Duration]>([])
        let start = clock.now
        // The lookup.
        clock.advance(by: .seconds(1))
        let last = try await limits.trying(["a", "b", "c"], since: start, on: clock, repeats: true) {
            address, limits, _ in
            given.withLock { $0.append(limits.timeout) }
            clock.advance(by: .milliseconds(500))
            guard address == "c" else { throw TransportError.unreachable(host: address, reason: "") }
            return limits
        }
        #expect(given.withLock { $0 } == [.seconds(2), .milliseconds(1500), .seconds(1)])
        #expect(last == TransferLimits(maximumContentLength: 7, timeout: .seconds(1)))
        do {
            try await limits.trying(["a", "b", "c"], since: clock.now, on: clock, repeats: true) { address, _, _ in
                clock.advance(by: .seconds(2))
                throw TransportError.unreachable(host: address, reason: "")
            }
            Issue.record("an address answered")
        } catch {
            #expect(error as? TransportError == .unreachable(host: "b", reason: ""))
        }
        // The second attempt might end while it connects.
        let tried = Mutex(0)
        await #expect(throws: TransportError.unreachable(host: "a", reason: "")) {
            try await limits.trying(["a", "b"], since: clock.now, on: clock, repeats: true, connecting: .seconds(4)) {
                address, _, _ in
                tried.withLock { $0 += 1 }
                clock.advance(by: .milliseconds(1500))
                throw TransportError.unreachable(host: address, reason: "")
            }
        }
        #expect(tried.withLock { $0 } == 1)
    }

    @Test("C9, 9.2: the last address of a host has the time of any connection, and those before it have half of it")
    func connectionTime() async throws {
        let clock = ManualClock()
        for (addresses, timeout, expected) in [
            (["a"], 20, [10]), (["a", "b"], 20, [5, 10]), (["a", "b", "c"], 20, [5, 5, 5]), (["a"], 10, [5]),
            (["a", "b"], 4, [2]),
        ] as [([String], Int, [Int])] {
            let given = Mutex<[Duration]>([])
            let limits = TransferLimits(timeout: .seconds(timeout))
            await #expect(throws: TransportError.self) {
                try await limits.trying(
                    addresses, since: clock.now, on: clock, repeats: true, connecting: .seconds(10)
                ) { address, _, connecting in
                    given.withLock { $0.append(connecting) }
                    clock.advance(by: connecting)
                    throw TransportError.unreachable(host: address, reason: "")
                }
            }
            #expect(given.withLock { $0 } == expected.map { Duration.seconds($0) }, "\(addresses) in \(timeout) s")
        }
    }

    #if os(Linux)
    /// Answers whatever comes.
    private final class Greeter: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
            context.channel.writeAndFlush(ByteBuffer(string: answer), promise: nil)
            context.channel.close(promise: nil)
        }
    }

    @Test("M902: the connection goes to the address that was checked, though the name has another one by then")
    func pinned() async throws {
        let seen = Mutex(0)
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                seen.withLock { $0 += 1 }
                return channel.pipeline.addHandler(Greeter())
            }.bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let lookups = Mutex(0)
        let transport = AsyncHTTPTransport(
            resolver: HostResolver { host in
                guard host == "token.example" else { return ["127.0.0.1"] }
                // The second address answers, and the name has none of them at the next lookup.
                let number = lookups.withLock { lookups in
                    lookups += 1
                    return lookups
                }
                return number == 1 ? ["127.0.0.99", "127.0.0.1"] : ["203.0.113.1"]
            })
        var request = RequestMessage(
            head: HTTPRequest(method: .get, scheme: "http", authority: "token.example:\(port)", path: "/"))
        request.namedBy = try EndpointURL("http://localhost/", security: .allowingInsecureLoopback).origin
        let response = try await transport.send(request, limits: TransferLimits(timeout: .seconds(7200)))
        #expect(response.content == Array("ok".utf8))
        #expect(lookups.withLock { $0 } == 1, "no second lookup")
        request.namedBy = try EndpointURL("https://93.184.216.34/").origin
        let refusing = AsyncHTTPTransport(
            resolver: HostResolver { host in host == "token.example" ? ["127.0.0.1"] : [host] })
        await #expect(throws: TransportError.privateAddress(host: "token.example:\(port)")) {
            try await refusing.send(request, limits: TransferLimits())
        }
        #expect(seen.withLock { $0 } == 1, "no connection was made")
        try await server.close()
    }

    @Test("9: the clients of hosts that documents have named are bounded, and one that was forgotten comes back")
    func boundedClients() async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { $0.pipeline.addHandler(Greeter()) }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let transport = AsyncHTTPTransport(resolver: HostResolver { _ in ["127.0.0.1"] })
        let documents = try EndpointURL("http://localhost/", security: .allowingInsecureLoopback).origin
        for number in Array(0...AsyncHTTPTransport.maximumPinned) + [0] {
            var request = RequestMessage(
                head: HTTPRequest(method: .get, scheme: "http", authority: "h\(number).example:\(port)", path: "/"))
            request.namedBy = documents
            let response = try await transport.send(request, limits: TransferLimits(timeout: .seconds(7200)))
            #expect(response.content == Array("ok".utf8))
        }
        #expect(transport.pinnedCount == AsyncHTTPTransport.maximumPinned)
        try await server.close()
    }
    #endif
}
