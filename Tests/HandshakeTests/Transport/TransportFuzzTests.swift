import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

/// The transport and a crowd of accounts against seeded hostile bytes.
///
/// `Tests/Fuzz/Transport/run SECONDS [SEED]` runs the same tests for longer: it sets `HANDSHAKE_FUZZ_SECONDS` and
/// `HANDSHAKE_FUZZ_SEED`.
@Suite("Hostile bytes", .serialized, .heavy)
struct TransportFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// How long a run by hand takes; nil in `swift test`, where the number of cases is fixed.
    private static let seconds = environment["HANDSHAKE_FUZZ_SECONDS"].flatMap(Double.init)
    private static let seed = environment["HANDSHAKE_FUZZ_SEED"].flatMap(UInt64.init) ?? 1

    /// Whether a run that has made `count` cases goes on.
    private static func goesOn(_ count: UInt64, of fixed: UInt64, since start: ContinuousClock.Instant) -> Bool {
        seconds.map { start.duration(to: .now) < .seconds($0) } ?? (count < fixed)
    }

    @Test("C9: any bytes end in a response with an HTTP status or in a typed error, and the transport goes on working")
    func anyBytes() async throws {
        let server = try RawServer { request in
            let target = String(decoding: request, as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
            guard let number = UInt64(target.dropFirst()) else { return [.send("HTTP/1.1 204 No Content\r\n\r\n")] }
            var bytes = HostileBytes(seed: Self.seed, number: number)
            return bytes.steps(around: "{\"a\":1}")
        }
        defer { server.stop() }
        let transport = PlatformTransport()
        let limits = TransferLimits(maximumContentLength: 1 << 16, timeout: .milliseconds(500))
        let start = ContinuousClock.now
        var number: UInt64 = 0
        while Self.goesOn(number, of: 480, since: start) {
            await withTaskGroup(of: Void.self) { group in
                for case_ in number..<number + 16 {
                    group.addTask {
                        do {
                            let response = try await transport.send(
                                Self.request(server, "/\(case_)"), limits: limits)
                            #expect((200...599).contains(response.head.status.code), "case \(case_)")
                            #expect(response.content.count <= limits.maximumContentLength, "case \(case_)")
                        } catch {
                            #expect(error is TransportError, "case \(case_): \(error)")
                        }
                    }
                }
            }
            number += 16
        }
        let last = try await transport.send(Self.request(server, "/good"), limits: TransferLimits())
        #expect(last.head.status == .noContent)
        if Self.seconds != nil { print("\(number) cases, seed \(Self.seed)") }
    }

    private static func request(_ server: RawServer, _ path: String) throws -> RequestMessage {
        RequestMessage(.get, try EndpointURL(server.origin + path, security: .allowingInsecureLoopback))
    }

    @Test("1,000 accounts at a strict server that misbehaves in every way lose no session")
    func crowd() async throws {
        let (time, vault) = (AdjustableTime(), MemoryVault())
        let provider = StrictProvider(seed: Self.seed, now: time.source.now)
        let server = try RawServer { provider.steps(for: $0) }
        defer { server.stop() }
        let reached = Mutex(0)
        let elsewhere = try RawServer { request in
            let text = String(decoding: request, as: UTF8.self)
            // Only where the API has led may go there, and not the token.
            if !text.hasPrefix("GET /api ") || text.contains("-user") { reached.withLock { $0 += 1 } }
            return [.close]
        }
        defer { elsewhere.stop() }
        provider.open(at: server.origin, leadingTo: elsewhere.origin)
        let app = try Self.app(at: server, time: time, vault: vault, timeout: .seconds(5))
        var accounts: [Account] = []
        for number in 0..<1_000 {
            accounts.append(try await app.adopt(try provider.firstGrant(of: "user\(number)"), as: "user\(number)"))
        }
        // After the first round, which opens the connections and fills their buffers.
        var before = 0
        let start = ContinuousClock.now
        var round: UInt64 = 0
        while Self.goesOn(round, of: 2, since: start) {
            await withTaskGroup(of: Void.self) { group in
                for (number, account) in accounts.enumerated() {
                    let (part, isFirst) = (Part(of: number), round == 0)
                    group.addTask { await Self.turn(of: account, part, isFirst: isFirst, at: server.origin) }
                }
            }
            // The tokens expire, and the server signs with a new key.
            time.advance(by: 120)
            provider.rotateKeys()
            if round == 0 { before = Self.residentBytes() }
            round += 1
        }
        provider.recover()
        let patient = try Self.app(at: server, time: time, vault: vault, timeout: .seconds(3_600))
        // Twice: the first refresh may repeat a token whose answer was lost, the second one must not.
        for round in 0..<2 {
            for number in accounts.indices where Part(of: number) != .leaves {
                let account = try #require(try await patient.account("user\(number)"))
                // A wrong grant that could not be checked yet is refused now, once.
                if round == 0 { _ = await handshakeError { try await account.accessToken() } }
                let token = try await account.accessToken().reveal()
                #expect(provider.isCurrent(token, of: "user\(number)"))
                #expect(account.status.identity?.subject == "user\(number)")
            }
            time.advance(by: 120)
        }
        for number in accounts.indices where Part(of: number) == .leaves {
            // What could not be revoked meanwhile is revoked now.
            if let account = try await patient.account("user\(number)") {
                #expect(try await account.signOut().isForgotten)
            }
            #expect(try await patient.account("user\(number)") == nil)
        }
        #expect(provider.reused == [])
        #expect(reached.withLock { $0 } == 0)
        #expect(provider.faults == Set(ProviderFault.allCases))
        #expect(provider.rotations > 1_000)
        let growth = Self.residentBytes() - before
        #expect(growth < Self.maximumGrowth)
        if Self.seconds != nil {
            print("\(provider.rotations) rotations, \(growth >> 20) MiB more resident, seed \(Self.seed)")
        }
    }

    /// How much more resident memory the process may have after the rounds than after the first one, in bytes.
    ///
    /// A run by hand has the process for itself. In `swift test` other tests allocate in it meanwhile.
    private static let maximumGrowth = seconds == nil ? 1 << 30 : 256 << 20

    /// What an account of the crowd does beside asking for its token.
    private enum Part {
        case refreshes
        /// Asks who its user is, and sends a request to the API.
        case asks
        /// Signs out, and again until it is forgotten.
        case leaves

        init(of number: Int) {
            self =
                switch number % 10 {
                case 3: .asks
                case 7: .leaves
                default: .refreshes
                }
        }
    }

    /// What an account does in one round. It may fail, but keeps its session and tells no secret.
    private static func turn(of account: Account, _ part: Part, isFirst: Bool, at origin: String) async {
        var errors: [HandshakeError?] = []
        if part != .leaves || isFirst {
            errors.append(
                await handshakeError {
                    let token = try await account.accessToken().reveal()
                    #expect(token.hasPrefix("token-\(account.id.name)-"), "another user's token")
                })
        }
        switch part {
        case .refreshes: break
        case .asks:
            errors.append(
                await handshakeError {
                    let subject = try await account.identity().subject
                    #expect(subject == account.id.name, "another user")
                })
            let limits = TransferLimits(maximumContentLength: 1 << 16, timeout: .seconds(5))
            errors.append(await handshakeError { try await account.send(.get, origin + "/api", limits: limits) })
        case .leaves:
            errors.append(await handshakeError { try await account.signOut() })
            errors.append(await handshakeError { try await account.accessToken() })
            guard case .signInRequired = errors.removeLast() else {
                Issue.record("\(account.id) gives a token after its sign-out")
                break
            }
        }
        for error in errors.compactMap({ $0 }) {
            if case .signInRequired = error { Issue.record("\(account.id) lost its session: \(error)") }
            let text = "\(error)"
            #expect(!text.contains("refresh-user") && !text.contains("token-user"), "a secret: \(text)")
        }
    }

    private static func app(
        at server: RawServer, time: AdjustableTime, vault: MemoryVault, timeout: Duration
    ) throws -> Handshake {
        let security = TransportSecurity.allowingInsecureLoopback
        var metadata = AuthorizationServerMetadata(
            issuer: try Issuer(server.origin, security: security),
            tokenEndpoint: try EndpointURL(server.origin + "/token", security: security), security: security)
        metadata.keysEndpoint = try EndpointURL(server.origin + "/jwks", security: security)
        metadata.revocationEndpoint = try EndpointURL(server.origin + "/revoke", security: security)
        let service = try Service(
            name: "hostile", authorizationServer: .described(metadata),
            apiRoot: try EndpointURL(server.origin + "/", security: security),
            identityEndpoint: Service.IdentityEndpoint(
                url: try EndpointURL(server.origin + "/userinfo", security: security), subjectMember: "sub",
                nameMembers: []))
        let client = Client(
            service: service, id: "app", redirect: .uri(try RedirectURI("com.example.app:/callback")))
        return try Handshake(
            client, vault: vault, time: time.source,
            limits: TransferLimits(maximumContentLength: 1 << 16, timeout: timeout))
    }

    /// The process's resident memory, from `/proc`; 0 where there is none.
    private static func residentBytes() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
