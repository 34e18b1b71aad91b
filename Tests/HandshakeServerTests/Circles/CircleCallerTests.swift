import Foundation
import HTTPTypes
import Hummingbird
import Logging
import OAuth
import Synchronization
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
        let lines = WarningLines()
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

    @Test("CI35: of one /48 no more than 64 attempts run, from however many /64 they come, and another /48 gets in")
    func site() async throws {
        try await CircleWorld.with(caller: CircleRoutes.forwardedAddress) { world in
            var statuses: [Int] = []
            for number in 0..<80 {
                let address = "2001:db8:1:\(String(number, radix: 16))::1"
                statuses += try await attempts(1, world.wire, forwarded: address)
            }
            #expect(statuses == Array(repeating: 201, count: 64) + Array(repeating: 429, count: 16))
            for other in ["2001:db8:2::1", "192.0.2.1"] {
                #expect(try await attempts(1, world.wire, forwarded: other) == [201])
            }
            world.time.advance(by: CircleAttempts.lifetime)
            #expect(try await attempts(1, world.wire, forwarded: "2001:db8:1:ffff::1") == [201])
        }
    }

    @Test("CI35: a flood from all networks of one /48 leaves the table to others, and says when to try again")
    func oneSiteLeavesRoom() throws {
        let attempts = CircleAttempts(random: .system, capacity: 256)
        func begin(_ site: String, at now: Double) throws(RequestRefusal) {
            _ = try attempts.begin(challenge: [], isReplacing: false, from: site, at: now)
        }
        var refusals: Set<Int?> = []
        for _ in 0..<1_000 {
            do {
                try begin("2001:db8:1::/48", at: 100)
            } catch {
                refusals.insert(error.status == .tooManyRequests ? error.retryAfter : nil)
            }
        }
        #expect(refusals == [600])
        // Four sites fill this table, and 64 that of a server.
        for site in 1..<4 {
            for _ in 0..<CircleAttempts.maximumPerSite { try begin("\(site)", at: 101) }
        }
        #expect(throws: RequestRefusal.busy) { try begin("4", at: 101) }
        // The attempts of the first one are over.
        #expect(throws: Never.self) { try begin("4", at: 700) }
    }

    @Test("a context that knows no address is told of when the routes are made")
    func unknown() throws {
        let lines = WarningLines()
        _ = CircleCallers<BasicRequestContext>(nil, log: lines.logger)
        #expect(lines.all.count == 1)
        _ = CircleCallers<BasicRequestContext>({ _, _ in "192.0.2.1" }, log: lines.logger)
        _ = CircleCallers<CircleContext>(nil, log: lines.logger)
        #expect(lines.all.count == 1)
    }

    @Test(
        "an IPv6 address is counted by its /64 and its /48, and IPv4 by the address and its /24, in every spelling",
        arguments: [
            ("192.0.2.1", "192.0.2.1", "192.0.2.0/24"), ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.0/24"),
            ("192.0.2.1:51234", "192.0.2.1", "192.0.2.0/24"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
            ("2001:db8:1:2::9", "2001:db8:1:2::/64", "2001:db8:1::/48"),
            ("2001:DB8:1:2:0:0:0:9", "2001:db8:1:2::/64", "2001:db8:1::/48"),
            ("2001:db8::9", "2001:db8:0:0::/64", "2001:db8:0::/48"),
            ("fe80::1%eth0", "fe80:0:0:0::/64", "fe80:0:0::/48"),
            ("::1", "0:0:0:0::/64", "0:0:0::/48"), ("::", "0:0:0:0::/64", "0:0:0::/48"),
            ("1:2:3:4:5:6:7::", "1:2:3:4::/64", "1:2:3::/48"),
            ("[2001:db8:1:2::9]:51234", "2001:db8:1:2::/64", "2001:db8:1::/48"),
            ("[2001:db8:1:2::9]", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ])
    func networks(address: String, own: String, site: String) {
        #expect(CircleCallers<CircleContext>.networks(of: address) == .init(own: own, site: site))
    }

    @Test(
        "what is no address has no network",
        arguments: ["unknown", ":::", "[", String(repeating: "x", count: 100_000)])
    func noNetwork(address: String) {
        #expect(CircleCallers<CircleContext>.networks(of: address) == nil)
    }
}

/// Collects the warnings of a log.
final class WarningLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock(\.self) }

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: WarningLines
        var logLevel = Logger.Level.warning
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.lines.withLock { $0.append("\(event.message)") } }
    }
}
