import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import Logging
import OAuth
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Who is counted when a device wants to join", .heavy)
struct CircleCallerTests {
    private static let body =
        #"{"challenge":"\#(Base64URL.encode(MemberCircle.digest(String(repeating: "v", count: 43))))"}"#

    private func attempts(_ count: Int, _ wire: WireClient, forwarded: String? = nil) async throws -> [Int] {
        var headers = ["Content-Type": "application/json"]
        headers["X-Forwarded-For"] = forwarded
        var statuses: [Int] = []
        for _ in 0..<count {
            let answer = try await wire.send("POST", "/rc/v1/attempts", headers: headers, body: Self.body)
            statuses.append(answer.status)
        }
        return statuses
    }

    #if os(Linux)
    @Test("CI35: a flood of attempts from one address stops no other, and six from two addresses are all taken")
    func twoAddresses() async throws {
        try await CircleWorld.with { world in
            let other = try WireClient(origin: world.server.origin, from: 0x7F00_0002)
            #expect(try await attempts(3, world.wire) == [201, 201, 201])
            #expect(try await attempts(3, other) == [201, 201, 201])
            let flood = try await attempts(20, world.wire)
            #expect(flood == [201, 201] + Array(repeating: 429, count: 18))
            #expect(try await attempts(2, other) == [201, 201])
        }
    }
    #endif

    @Test("CI35: behind a proxy the address that it adds counts, and not what the caller writes before it")
    func proxy() async throws {
        let lines = LogLines(.warning)
        try await CircleWorld.with(log: lines.logger, caller: CircleRoutes.forwardedAddress) { world in
            var statuses: [Int] = []
            for number in 0..<6 {
                statuses += try await attempts(1, world.wire, forwarded: "10.0.0.\(number), 203.0.113.7")
            }
            #expect(statuses == [201, 201, 201, 201, 201, 429])
            #expect(try await attempts(1, world.wire, forwarded: "203.0.113.8") == [201])
            #expect(lines.all.isEmpty)
            // Without the field there is one bucket, and the log says so once.
            #expect(try await attempts(6, world.wire) == [201, 201, 201, 201, 201, 429])
            #expect(lines.all.count == 1 && lines.all.allSatisfy { $0.contains("RemoteAddressRequestContext") })
        }
    }

    @Test("CI35: neighbours have no limit in common: 80 networks of one /48 and 20 addresses of one /24 all get in")
    func neighbours() async throws {
        try await CircleWorld.with(caller: CircleRoutes.forwardedAddress) { world in
            var statuses: Set<Int> = []
            for number in 0..<80 {
                let address = "2001:db8:1:\(String(number, radix: 16))::1"
                statuses.formUnion(try await attempts(1, world.wire, forwarded: address))
            }
            for number in 0..<20 {
                statuses.formUnion(try await attempts(5, world.wire, forwarded: "192.0.2.\(number)"))
            }
            #expect(statuses == [201])
        }
    }

    @Test("CI35: an attempt leads to the service ten times at most, and sign-ins that were given up are removed")
    func signIns() async throws {
        try await CircleWorld.with { world in
            let abandoned = try await abandon(in: world)
            let id = try await begin(in: world)
            var statuses: [Int] = []
            for _ in 0..<12 {
                statuses.append(try await CircleBrowser(world).send("POST", "/rc/v1/attempts/\(id)/verify").status)
            }
            #expect(statuses == Array(repeating: 303, count: 10) + [410, 410])
            while try await world.accounts.record(abandoned) != nil { await Task.yield() }
            #expect(try await world.accounts.keys(of: .signIn).keys.count == 10)
            let later = try await abandon(in: world)
            world.time.advance(by: CircleAttempts.lifetime)
            _ = try await CircleBrowser(world).send("POST", "/rc/v1/attempts/\(try await begin(in: world))/verify")
            while try await world.accounts.record(later) != nil { await Task.yield() }
        }
    }

    /// Leaves a sign-in that has expired.
    private func abandon(in world: CircleWorld) async throws -> VaultKey {
        let past = TimeSource(now: { 1_700_000_000 }, clock: ManualClock())
        let client = Client.confidential(
            service: .recurseCenter, id: "recurse-app", secret: Secret("recurse-app-secret"),
            redirect: .uri(try RedirectURI("\(CircleWorld.address)/v1/callback")))
        let before = try await world.accounts.keys(of: .signIn).keys
        _ = try await Handshake(client, vault: world.accounts, time: past).beginSignIn()
        return try #require(try await world.accounts.keys(of: .signIn).keys.first { !before.contains($0) })
    }

    private func begin(in world: CircleWorld) async throws -> String {
        try #require(
            try await world.wire.send(
                "POST", "/rc/v1/attempts", headers: ["Content-Type": "application/json"], body: Self.body
            ).string("attempt"))
    }

    @Test("a context that knows no address is told of when the routes are made")
    func unknown() throws {
        let lines = LogLines(.warning)
        _ = CircleCallers<BasicRequestContext>(nil, log: lines.logger)
        #expect(lines.all.count == 1)
        _ = CircleCallers<BasicRequestContext>({ _, _ in "192.0.2.1" }, log: lines.logger)
        _ = CircleCallers<CircleContext>(nil, log: lines.logger)
        #expect(lines.all.count == 1)
    }

    @Test(
        "an IPv6 address is counted by its /64, and IPv4 by the address, in every spelling",
        arguments: [
            ("::ffff:192.0.2.1", "192.0.2.1"), ("192.0.2.1:51234", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"), ("2001:DB8:1:2:0:0:0:9", "2001:db8:1:2::"),
            ("2001:db8::9", "2001:db8:0:0::"), ("fe80::1%eth0", "fe80::"), ("::1", "::"),
            ("1:2:3:4:5:6:7::", "1:2:3:4::"), ("[2001:db8:1:2::9]:51234", "2001:db8:1:2::"),
            ("[2001:db8:1:2::9]", "2001:db8:1:2::"),
        ])
    func spellings(address: String, network: String) throws {
        let network = try #require(CallerNetwork(address: network))
        #expect(CallerNetwork(address: address) == network && network.network(at: 3) == network)
    }

    @Test(
        "networks that two callers have in common: the /32, /48, /56 and /64 of IPv6, the /16 and /24 of IPv4",
        arguments: [
            ("2001:db8:1:2::1", "2001:db9:1:2::1", 0), ("2001:db8:1:2::1", "2001:db8:2:2::1", 1),
            ("2001:db8:1:102::1", "2001:db8:1:202::1", 2), ("2001:db8:1:102::1", "2001:db8:1:103::1", 3),
            ("2001:db8:1:2::1", "2001:db8:1:2::2", 4),
            ("192.0.2.1", "192.1.2.1", 0), ("192.0.2.1", "192.0.3.1", 1), ("192.0.2.1", "192.0.2.2", 2),
            ("192.0.2.1", "192.0.2.1", 4), ("192.0.2.1", "c000:201::", 0), ("0.0.0.0", "::", 0),
        ])
    func levels(one: String, other: String, count: Int) throws {
        let (one, other) = try (#require(CallerNetwork(address: one)), #require(CallerNetwork(address: other)))
        let common = CallerNetwork.levels.map { one.network(at: $0) == other.network(at: $0) }
        #expect(common == Array(repeating: true, count: count) + Array(repeating: false, count: 4 - count))
        #expect((one.name == other.name) == (count == 4) && one.name != CallerNetwork.unknown.name)
    }

    @Test(
        "what is no address has no network",
        arguments: ["unknown", ":::", "[", String(repeating: "x", count: 100_000)])
    func noNetwork(address: String) {
        #expect(CallerNetwork(address: address) == nil)
    }
}
