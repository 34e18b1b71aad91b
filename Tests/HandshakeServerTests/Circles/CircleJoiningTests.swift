import Beacons
import Circles
import Foundation
import Handshake
import Logging
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Joining a circle", .heavy)
struct CircleJoiningTests {
    private func post(
        _ world: CircleWorld, _ path: String, _ body: String, bearer: String? = nil
    ) async throws -> WireClient.Answer {
        var headers = ["Content-Type": "application/json"]
        headers["Authorization"] = bearer.map { "Bearer \($0)" }
        return try await world.wire.send("POST", "/rc/v1/\(path)", headers: headers, body: body)
    }

    /// Begins an attempt, and says yes in the browser.
    private func approved(_ world: CircleWorld, verifier: String) async throws -> String {
        let challenge = Base64URL.encode(MemberCircle.digest(verifier))
        let attempt = try await post(world, "attempts", #"{"challenge":"\#(challenge)"}"#)
        #expect(attempt.status == 201 && attempt.number("expires_in") == 600 && attempt.number("interval") == 3)
        try await CircleBrowser(world).walk(
            try #require(attempt.string("verify_url")), code: try #require(attempt.string("code")),
            as: "ada@example.test", answer: "yes")
        return try #require(attempt.string("attempt"))
    }

    private static let verifier = String(repeating: "v", count: 43)

    @Test("a member of the community joins with name, batch and photo; the table has the other members")
    func joins() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let zoe = CircleDevice(world)
            let circle = try await ada.join()
            #expect(try await circle.summary().number.value == 759)
            #expect(try await circle.members().isEmpty)
            let other = try await zoe.join(as: "zoe@example.test")
            #expect(try await other.members().map(\.name) == ["Ada Example"])
            try await circle.synchronize()
            let member = try #require(try await circle.members().first)
            #expect(
                member.name == "Zoë Ångström" && member.trust == .circle && member.isPublishing && member.takesWaves)
            #expect(try await other.introduce(try UserNumber(759))?.name == "Ada Example")
            #expect(try await other.photo(of: try UserNumber(759)) == [0xFF, 0xD8, 0xFF] + Array("photo of 759".utf8))
            let found = try #require(try await zoe.recognizes(ada, other))
            #expect(found.person.value == 759 && found.trust == .circle)
        }
    }

    @Test(
        "CI24: who is no member is told so, on the page and on the device, and the server stores nothing of that user")
    func notAMember() async throws {
        let vault = MemoryVault()
        let isMember: @Sendable (Int64) -> Bool = { $0 != 759 }
        try await CircleWorld.with(vault: vault, isMember: isMember) { world in
            let before = try await vault.keys(of: .circle).keys.count
            let device = CircleDevice(world)
            await #expect(throws: NearbyError.circle(.notAMember)) { try await device.join() }
            #expect(try await vault.keys(of: .circle).keys.count == before)
            #expect(await world.circle.members.isEmpty)
            #expect(try await JoinedCircle.all(in: device.environment).isEmpty)
            #expect(try await world.accounts.keys(of: .account).keys.isEmpty)
        }
    }

    @Test("who declines in the browser does not join, and nothing is stored")
    func declined() async throws {
        try await CircleWorld.with { world in
            let device = CircleDevice(world)
            await #expect(throws: NearbyError.circle(.notAMember)) { try await device.join(answer: "no") }
            #expect(await world.circle.members.isEmpty)
        }
    }

    @Test("a server that gives a number which no person has is refused, and nothing of the circle stays")
    func impossibleNumber() async throws {
        try await CircleWorld.with { world in
            let device = CircleDevice(world)
            let token = String(repeating: "t", count: 43)
            device.transport.replace(
                with: #"{"token":"\#(token)","number":4294967295,"name":"Ada","expires_at":1769817900}"#
            ) { $0.hasPrefix("POST") && $0.hasSuffix("/token") }
            await #expect(throws: NearbyError.circle(.malformed("the membership"))) { try await device.join() }
            let left = try await device.vault.keys(of: .circle).keys
            #expect(left.isEmpty)
        }
    }

    @Test(
        "CI59: who has signed out everywhere joins again, also after a renewal, and is unverified to those who knew the old identity",
        arguments: [false, true])
    func joinsAgain(isRenewed: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            if isRenewed {
                world.time.advance(by: 26 * CircleWorld.day)
                try await adas.synchronize()
                try await zoes.synchronize()
                _ = try await ada.join()
            }
            let stored = StoredPeople(in: ada.vault, community: "recurse-center")
            _ = try await stored.forgetEveryone()
            await stored.deliverFarewells(over: ada.transport, at: world.now)
            let again = try await ada.join()
            #expect(try await again.members().map(\.name) == ["Zoë Ångström"])
            try await zoes.synchronize()
            let found = try #require(try await zoe.recognizes(ada, zoes))
            #expect(found.person.value == 759 && found.trust == .unverified)
        }
    }

    @Test("who joins again after the bearer has expired keeps the identity; before that there is nothing to join")
    func bearerExpired() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            let identity = try #require(await world.circle.members[759]?.identity)
            await #expect(throws: NearbyError.circle(.alreadyJoined)) { try await ada.join() }
            world.time.advance(by: 31 * CircleWorld.day)
            await #expect(throws: NearbyError.circle(.signedOut)) { try await adas.synchronize() }
            let again = try await ada.join()
            #expect(await world.circle.members[759]?.identity == identity)
            #expect(await world.circle.members[759]?.hasKeys == true)
            #expect(try await again.synchronize() == 0)
        }
    }

    @Test("CI59: from five days before its end on, a sign-in is renewed by joining again, and the identity stays")
    func renewed() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            let before = try await adas.summary()
            let identity = try #require(await world.circle.members[759]?.identity)
            world.time.advance(by: 24 * CircleWorld.day)
            await #expect(throws: NearbyError.circle(.alreadyJoined)) { try await ada.join() }
            world.time.advance(by: 1.5 * CircleWorld.day)
            let again = try await ada.join()
            let after = try await again.summary()
            #expect(after.expires >= before.expires + 25 * CircleWorld.day)
            #expect(await world.circle.members[759]?.identity == identity)
        }
    }

    /// Two devices in a circle, the first of which can renew its sign-in.
    private func pairBeforeEnd(in world: CircleWorld) async throws -> (ada: CircleDevice, adas: JoinedCircle) {
        let (ada, adas, _, _) = try await world.pair()
        world.time.advance(by: 26 * CircleWorld.day)
        try await adas.synchronize()
        return (ada, adas)
    }

    @Test("CI59: a renewal after which nothing is fetched keeps the members and their pins")
    func renewedWithoutTable() async throws {
        try await CircleWorld.with { world in
            let (ada, adas) = try await pairBeforeEnd(in: world)
            ada.transport.intercept { line, pass in
                if line.hasPrefix("GET /rc/v1/members") { throw TransportError.timedOut(host: "circle.example") }
                return try await pass()
            }
            let again = try await ada.join()
            _ = try await StoredPeople(in: ada.vault, community: "recurse-center").expire(at: world.now)
            #expect(try await again.members().map(\.name) == ["Zoë Ångström"])
            ada.transport.intercept(with: nil)
            #expect(try await adas.synchronize() == 1)
        }
    }

    @Test("CI59: a renewal after which nothing is published leaves the published keys, and what is sent")
    func renewedWithoutKeys() async throws {
        try await CircleWorld.with { world in
            let (ada, adas) = try await pairBeforeEnd(in: world)
            let before = try await adas.summary()
            ada.transport.intercept { line, pass in
                if line == "PUT /rc/v1/me/keys" { throw TransportError.timedOut(host: "circle.example") }
                return try await pass()
            }
            let after = try await ada.join().summary()
            #expect(after.expires > before.expires)
            #expect(!after.isSilent && after.keysEnd == before.keysEnd)
            let scopes = try await OwnScopes(in: ada.vault, community: "recurse-center", at: world.timestamp)
            #expect(scopes.sent.count == 1)
        }
    }

    @Test(
        "CI59: a renewal that fails late takes nothing back that was decided meanwhile",
        arguments: [
            "hidden", "paused", "left", "left without a network", "left before the network was back",
            "left while signing out",
        ])
    func renewedInVain(decision: String) async throws {
        try await CircleWorld.with { world in
            let (ada, adas) = try await pairBeforeEnd(in: world)
            let before = try #require(try await adas.records.state())
            ada.transport.intercept { line, pass in
                let isAway =
                    switch decision {
                    case "left without a network": line.hasPrefix("DELETE ")
                    case "left before the network was back": line == "DELETE /rc/v1/me"
                    case "left while signing out": line == "DELETE /rc/v1/me" || line == "PUT /rc/v1/me/member"
                    default: false
                    }
                let decides = decision == "left while signing out" ? "DELETE /rc/v1/me/token" : "PUT /rc/v1/me/member"
                guard line == decides || isAway else { return try await pass() }
                switch decision {
                case _ where isAway: break
                case "hidden": _ = try await adas.hide(try UserNumber(65_535))
                case "paused": _ = try await adas.pause()
                default: _ = try await adas.leave()
                }
                throw TransportError.timedOut(host: "circle.example")
            }
            await #expect(throws: NearbyError.self) { _ = try await ada.join() }
            ada.transport.intercept(with: nil)
            let stored = try await adas.records.state()
            switch decision {
            case "hidden", "paused":
                let after = try #require(stored)
                #expect(after.isPaused == (decision == "paused"))
                let hidden: Set<UInt32> = decision == "hidden" ? [65_535] : []
                #expect(after.hidden == hidden)
                #expect((after.seed == before.seed) == (decision == "paused"))
                #expect(after.bearer == before.bearer && after.expires == before.expires)
                try await adas.synchronize()
            default:
                #expect(stored == nil)
                await ada.deliverFarewells()
                #expect(await world.circle.members[759]?.identity == nil, "the server is told of leaving")
            }
        }
    }

    @Test("CI59: who leaves while a first join fails has left at the server too")
    func leftWhileJoining() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            ada.transport.intercept { line, pass in
                let isAway = line == "DELETE /rc/v1/me"
                guard line == "PUT /rc/v1/me/member" || isAway else { return try await pass() }
                if !isAway {
                    _ = try await pass()
                    let circle = try #require(try await JoinedCircle.all(in: ada.environment).first)
                    _ = try await circle.leave()
                }
                throw TransportError.timedOut(host: "circle.example")
            }
            await #expect(throws: NearbyError.self) { _ = try await ada.join() }
            ada.transport.intercept(with: nil)
            #expect(await world.circle.members[759]?.identity != nil)
            await ada.deliverFarewells()
            #expect(await world.circle.members[759]?.identity == nil)
            let left = try await JoinedCircle.all(in: ada.environment)
            #expect(left.isEmpty)
        }
    }

    @Test("CI59: who joins again while a first join fails stays a member")
    func joinedWhileJoining() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            ada.transport.intercept { line, pass in
                guard line == "PUT /rc/v1/me/member" else { return try await pass() }
                _ = try await pass()
                let circle = try #require(try await JoinedCircle.all(in: ada.environment).first)
                _ = try await circle.leave()
                _ = try await CircleDevice(world, vault: ada.vault).join()
                throw TransportError.timedOut(host: "circle.example")
            }
            await #expect(throws: NearbyError.self) { _ = try await ada.join() }
            ada.transport.intercept(with: nil)
            let joined = try await JoinedCircle.all(in: ada.environment)
            #expect(joined.count == 1)
            let circle = try #require(joined.first)
            try await circle.synchronize()
            #expect(await world.circle.members[759]?.hasKeys == true)
        }
    }

    /// Something happens right after a circle's state is read, once.
    private final class InterruptedVault: Vault {
        private let base: any Vault
        private let event = Mutex<(@Sendable () async throws -> Void)?>(nil)

        init(_ base: any Vault) {
            self.base = base
        }

        func interrupt(by body: @escaping @Sendable () async throws -> Void) { event.withLock { $0 = body } }

        func record(_ key: VaultKey) async throws -> [UInt8]? {
            let contents = try await base.record(key)
            guard key.kind == .circle, key.components.last == "state" else { return contents }
            let body = event.withLock(\.self)
            event.withLock { $0 = nil }
            try await body?()
            return contents
        }

        func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await base.keys(of: kind) }

        func update<Result: Sendable>(
            _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
        ) async throws -> Result {
            try await base.update(key, body)
        }
    }

    @Test("CI59: what another process decides while a sign-in is renewed stays", arguments: [true, false])
    func decidedMeanwhile(isHidden: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas) = try await pairBeforeEnd(in: world)
            let vault = InterruptedVault(ada.vault)
            let renewing = CircleDevice(world, vault: vault)
            let joining = try await CircleJoining.begin(at: CircleWorld.address, in: renewing.environment)
            try await CircleBrowser(world).walk(
                joining.page, code: joining.code, as: "ada@example.test", answer: "yes")
            vault.interrupt {
                if isHidden {
                    _ = try await adas.hide(try UserNumber(65_535))
                } else {
                    _ = try await adas.pause()
                }
            }
            let after = try await joining.finish().state()
            let hidden: Set<UInt32> = isHidden ? [65_535] : []
            #expect(after.isPaused != isHidden)
            #expect(after.hidden == hidden)
        }
    }

    @Test("CI59: a synchronisation that a renewal overtakes goes on with the new bearer, and leaves no trouble")
    func overtaken() async throws {
        try await CircleWorld.with { world in
            let (ada, adas) = try await pairBeforeEnd(in: world)
            let watch = CircleDevice(world, vault: ada.vault)
            let count = Mutex(0)
            watch.transport.intercept { line, pass in
                guard line.hasPrefix("GET /rc/v1/members") else { return try await pass() }
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { _ = try await ada.join() }
                return try await pass()
            }
            // The renewal has ended the bearer that the first request has.
            #expect(try await JoinedCircle(adas.records, watch.environment).synchronize() == 1)
            let after = try await adas.summary()
            #expect(after.trouble == nil && !after.mustJoinAgain)
        }
    }

    @Test("CI59: why a synchronisation failed which a renewal has overtaken is no trouble of the new sign-in")
    func overtakenInVain() async throws {
        try await CircleWorld.with { world in
            let (ada, adas) = try await pairBeforeEnd(in: world)
            let watch = CircleDevice(world, vault: ada.vault)
            let lost = TransportError.timedOut(host: "circle.example")
            watch.transport.intercept { line, pass in
                guard line.hasPrefix("GET /rc/v1/members") else { return try await pass() }
                _ = try await ada.join()
                throw lost
            }
            await #expect(throws: NearbyError.circle(.network(lost))) {
                try await JoinedCircle(adas.records, watch.environment).synchronize()
            }
            #expect(try await adas.summary().trouble == nil)
        }
    }

    @Test("CI59: a renewal after a wrong clock was put right fetches what that clock had refused")
    func renewedAfterClock() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            world.time.advance(by: 26 * CircleWorld.day)
            try await adas.synchronize()
            // What Zoë publishes looks as if it were from the future.
            try await zoes.hide(UserNumber(70_000))
            world.time.advance(by: 60)
            let slow = CircleDevice(world, vault: ada.vault, clockError: -3_600)
            await #expect(throws: NearbyError.circle(.clock(seconds: -3_600))) {
                try await JoinedCircle(adas.records, slow.environment).synchronize()
            }
            let again = try await ada.join()
            #expect(try await ada.recognizes(zoe, again)?.person.value == 65_535)
        }
    }

    @Test(
        "CI25: who interrupts joining before the identity is confirmed is a member all the same after the next synchronisation",
        arguments: [false, true])
    func interrupted(isSent: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, zoe) = (CircleDevice(world), CircleDevice(world))
            let zoes = try await zoe.join(as: CircleDevice.zoe)
            ada.transport.intercept { line, pass in
                guard line == "PUT /rc/v1/me/member" else { return try await pass() }
                if isSent { _ = try await pass() }
                withUnsafeCurrentTask { $0?.cancel() }
                throw CancellationError()
            }
            // A task of its own: the test's must go on.
            let joining = Task { try await ada.join() }
            await #expect(throws: CancellationError.self) { _ = try await joining.value }
            ada.transport.intercept(with: nil)
            // An identity that is signed later is another record, which the server would refuse.
            world.time.advance(by: 60)
            let adas = try #require(try await JoinedCircle.all(in: ada.environment).first)
            try await adas.synchronize()
            try await zoes.synchronize()
            #expect(try await zoes.members().map(\.name) == ["Ada Example"])
            #expect(try await zoe.recognizes(ada, zoes)?.person.value == 759)
        }
    }

    @Test("CI24: a circle whose members have their numbers from another service is refused before a sign-in")
    func otherService() async throws {
        try await CircleWorld.with { world in
            let device = CircleDevice(world)
            let environment = CircleEnvironment(
                vault: device.vault, community: "acme", transport: device.transport, time: world.time.source)
            let problem = CircleProblem.otherService("recurse-center", circle: "Recurse Center", community: "acme")
            await #expect(throws: NearbyError.circle(problem)) {
                _ = try await CircleJoining.begin(at: CircleWorld.address, in: environment)
            }
            #expect(device.transport.sent == ["GET /rc/v1"])
        }
    }

    /// Lets a device be in another circle.
    private func addHub(
        to device: CircleDevice, number: UInt32, of service: String = "recurse-center"
    ) async throws -> CircleRecords {
        let address = "https://hub.example"
        let hub = CircleRecords(
            in: device.vault, community: "recurse-center", scope: CircleScope(circleAt: address))
        try await hub.change { state in
            state = CircleRecords.State(
                address: address, circle: "Hub", service: service, number: number, name: "Ada", batch: "",
                bearer: "bearer", expires: .max, keys: Data())
        }
        return hub
    }

    @Test(
        "CI24: a circle is not joined in which the user has another number than in another circle",
        arguments: [36, 759] as [UInt32])
    func otherNumber(known: UInt32) async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let hub = try await addHub(to: ada, number: known)
            guard known != 759 else {
                _ = try await ada.join()
                #expect(try await JoinedCircle.all(in: ada.environment).count == 2)
                return
            }
            let problem = CircleProblem.otherNumber(759, circle: "Recurse Center", known: 36, in: "Hub")
            await #expect(throws: NearbyError.circle(problem)) { _ = try await ada.join() }
            #expect(try await JoinedCircle.all(in: ada.environment).map(\.records.scope) == [hub.scope])
            #expect(await world.circle.members[759]?.hasRow == false)
            #expect(await world.circle.members[759]?.bearers.isEmpty == true)
        }
    }

    @Test(
        "CI24: who is in a circle joins it again also beside one with another number, which an earlier version joined",
        arguments: [false, true])
    func otherNumberOfEarlierVersion(isReplacing: Bool) async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            _ = try await addHub(to: ada, number: 36, of: "hub")
            world.time.advance(by: 31 * CircleWorld.day)
            let before = try #require(try await adas.records.state())
            _ = try await ada.join(replacing: isReplacing)
            let after = try #require(try await adas.records.state())
            #expect(after.bearer != before.bearer && !after.mustJoinAgain(at: world.now))
            #expect((after.keys == before.keys) == !isReplacing)
        }
    }

    @Test(
        "CI24: a sign-out after a refused join that the server failed to process is sent again later",
        arguments: [false, true])
    func refusedInVain(isInCircle: Bool) async throws {
        let vault = FailingVault()
        try await CircleWorld.with(vault: vault) { world in
            let ada = CircleDevice(world)
            let adas: JoinedCircle? = try await isInCircle ? ada.join() : nil
            if !isInCircle { _ = try await addHub(to: ada, number: 36) }
            ada.transport.interceptSignOut { pass in
                vault.fail()
                defer { vault.recover() }
                return try await pass()
            }
            let problem: CircleProblem =
                isInCircle ? .alreadyJoined : .otherNumber(65_535, circle: "Recurse Center", known: 36, in: "Hub")
            await #expect(throws: NearbyError.circle(problem)) {
                _ = try await ada.join(as: CircleDevice.zoe, replacing: isInCircle)
            }
            ada.transport.intercept(with: nil)
            #expect(await world.circle.members[65_535]?.bearers.count == 1)
            if let adas {
                // What this member tells the server later takes no other member's place.
                ada.transport.fail(.timedOut(host: "circle.example"))
                #expect(try await adas.leave() == .pending)
                ada.transport.fail(nil)
            }
            await ada.deliverFarewells()
            #expect(await world.circle.members[65_535]?.bearers.isEmpty == true)
            let left = try await ada.vault.keys(of: .circle).keys
            #expect(!left.contains { $0.components.contains("farewell") })
        }
    }

    private static let refusal = CircleProblem.otherNumber(759, circle: "Recurse Center", known: 36, in: "Hub")

    @Test("CI24: a sign-out after a refused join is sent later also where the user interrupts the join")
    func refusedAndInterrupted() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            _ = try await addHub(to: ada, number: 36)
            ada.transport.interceptSignOut { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                throw CancellationError()
            }
            // A task of its own: the test's must go on.
            let joining = Task { try await ada.join() }
            await #expect(throws: NearbyError.circle(Self.refusal)) { _ = try await joining.value }
            ada.transport.intercept(with: nil)
            #expect(await world.circle.members[759]?.bearers.count == 1)
            await ada.deliverFarewells()
            #expect(await world.circle.members[759]?.bearers.isEmpty == true)
        }
    }

    @Test("CI24: why a join is refused is told also where its sign-out can be neither sent nor stored")
    func refusedWithoutStorage() async throws {
        try await CircleWorld.with { world in
            let vault = FailingVault()
            let ada = CircleDevice(world, vault: vault)
            _ = try await addHub(to: ada, number: 36)
            ada.transport.interceptSignOut { _ in
                vault.fail()
                throw TransportError.timedOut(host: "circle.example")
            }
            await #expect(throws: NearbyError.circle(Self.refusal)) { _ = try await ada.join() }
        }
    }

    @Test("CI24: the sign-outs after two joins that are refused in the same second are both sent later")
    func refusedTwice() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            _ = try await addHub(to: ada, number: 36)
            ada.transport.interceptSignOut { _ in
                throw TransportError.timedOut(host: "circle.example")
            }
            for user in [CircleDevice.zoe, CircleDevice.quentin] {
                await #expect(throws: NearbyError.self) { _ = try await ada.join(as: user) }
            }
            ada.transport.intercept(with: nil)
            let numbers: [UInt32] = [65_535, 70_000]
            for number in numbers { #expect(await world.circle.members[number]?.bearers.count == 1) }
            await ada.deliverFarewells()
            for number in numbers { #expect(await world.circle.members[number]?.bearers.isEmpty == true) }
        }
    }

    @Test("CI25: who has left without a network joins again, because the server is told of that first")
    func joinsAfterLeavingOffline() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            let identity = try #require(await world.circle.members[759]?.identity)
            ada.transport.fail(.timedOut(host: "circle.example"))
            #expect(try await adas.leave() == .pending)
            ada.transport.fail(nil)
            _ = try await ada.join()
            #expect(await world.circle.members[759]?.identity != identity)
            #expect(await world.circle.members[759]?.hasKeys == true)
            let names = try await ada.vault.keys(of: .circle).keys.map(\.components.last)
            #expect(names.contains("state") && !names.contains("farewell"))
        }
    }

    @Test("CI25: a join whose answer is lost can be repeated, because the server is told of the lost identity first")
    func lostAnswer() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            ada.transport.intercept { line, pass in
                switch line {
                case "PUT /rc/v1/me/member":
                    _ = try await pass()
                    throw TransportError.timedOut(host: "circle.example")
                case "DELETE /rc/v1/me/token": throw TransportError.timedOut(host: "circle.example")
                default: return try await pass()
                }
            }
            await #expect(throws: NearbyError.circle(.network(.timedOut(host: "circle.example")))) {
                _ = try await ada.join()
            }
            #expect(await world.circle.members[759]?.identity != nil)
            ada.transport.intercept(with: nil)
            _ = try await ada.join()
            #expect(await world.circle.members[759]?.hasKeys == true)
        }
    }

    @Test("CI25: the token is handed over once, and to the device that began alone")
    func verifier() async throws {
        try await CircleWorld.with { world in
            let attempt = try await approved(world, verifier: Self.verifier)
            let other = String(repeating: "w", count: 43)
            let stolen = try await post(world, "attempts/\(attempt)/token", #"{"verifier":"\#(other)"}"#)
            #expect(stolen.status == 403 && stolen.string("code") == "wrong_verifier")
            let body = #"{"verifier":"\#(Self.verifier)"}"#
            let first = try await post(world, "attempts/\(attempt)/token", body)
            #expect(first.status == 200 && first.string("token")?.utf8.count == 43 && first.number("number") == 759)
            let second = try await post(world, "attempts/\(attempt)/token", body)
            #expect(second.status == 410 && second.string("code") == "attempt_gone")
            #expect(try await post(world, "attempts/unknown/token", body).status == 410)
        }
    }

    @Test("CI25: two attempts for which a new browser signs in at the same time are both approved in it")
    func twoTabs() async throws {
        try await CircleWorld.with { world in
            let (browser, tab) = (CircleBrowser(world), CircleBrowser(world))
            let (site, challenge) = ("https://circle.example", Base64URL.encode(MemberCircle.digest(Self.verifier)))
            var begun: [(id: String, place: String)] = []
            // Each form is sent before the answer to the other one has come.
            for one in [browser, tab] {
                let attempt = try await post(world, "attempts", #"{"challenge":"\#(challenge)"}"#)
                let page = try #require(attempt.string("verify_url"))
                let away = try await one.send("POST", String(page.dropFirst(site.count)))
                begun.append((try #require(attempt.string("attempt")), try #require(away["Location"])))
            }
            browser.take(from: tab)
            for (id, place) in begun {
                let back = try await world.sandbox.approve(place, as: "ada@example.test")
                let asked = try await browser.send("GET", String(back.dropFirst(site.count)))
                let token = try #require(CircleBrowser.token(asked.text))
                _ = try await browser.send("POST", "/rc/v1/join", body: "token=\(token)&answer=yes")
                let answer = try await post(world, "attempts/\(id)/token", #"{"verifier":"\#(Self.verifier)"}"#)
                #expect(answer.status == 200)
            }
        }
    }

    @Test("CI25: an approval that the vault could not take is there when the device asks again")
    func unadmitted() async throws {
        let vault = FailingVault()
        try await CircleWorld.with(vault: vault) { world in
            let attempt = try await approved(world, verifier: Self.verifier)
            let body = #"{"verifier":"\#(Self.verifier)"}"#
            vault.fail()
            #expect(try await post(world, "attempts/\(attempt)/token", body).status >= 500)
            vault.recover()
            let again = try await post(world, "attempts/\(attempt)/token", body)
            #expect(again.status == 200 && again.string("token")?.utf8.count == 43)
        }
    }

    @Test("an attempt waits with 202 until the user has decided, and expires after ten minutes")
    func pending() async throws {
        try await CircleWorld.with { world in
            let challenge = Base64URL.encode(MemberCircle.digest(Self.verifier))
            let attempt = try await post(world, "attempts", #"{"challenge":"\#(challenge)"}"#)
            let id = try #require(attempt.string("attempt"))
            let body = #"{"verifier":"\#(Self.verifier)"}"#
            #expect(try await post(world, "attempts/\(id)/token", body).status == 202)
            world.time.advance(by: 601)
            #expect(try await post(world, "attempts/\(id)/token", body).status == 410)
            #expect(try await world.wire.send("GET", "/rc/v1/attempts/\(id)/verify").status == 410)
        }
    }

    @Test("CI26: after a join neither the service's token nor the bearer is in the server's records or its log")
    func records() async throws {
        let vault = MemoryVault()
        let lines = LogLines(.trace)
        let tokens = Mutex<[String]>([])
        let seen: @Sendable (Account) async throws -> Void = { account in
            let token = try await account.accessToken().reveal()
            tokens.withLock { $0.append(token) }
        }
        try await CircleWorld.with(vault: vault, log: lines.logger, asking: seen) { world in
            let device = CircleDevice(world)
            _ = try await device.join()
            let state = try #require(
                try await CircleRecords.all(in: device.vault, community: "recurse-center").first?.state())
            let token = try #require(tokens.withLock(\.self).first)
            #expect(tokens.withLock(\.self).count == 1, "the service is asked once")
            let bearer = try #require(Base64URL.decode(state.bearer))
            // As they are, and in base64 of both kinds.
            let texts = [token, state.bearer].flatMap { [$0, Data($0.utf8).base64EncodedString()] }
            let needles = (texts + [Data(bearer).base64EncodedString()]).map { Data($0.utf8) } + [Data(bearer)]
            var count = 0
            for kind in VaultKey.Kind.allCases {
                for key in try await vault.keys(of: kind).keys {
                    count += 1
                    let record = Data(try await vault.record(key) ?? []) + Data(key.components.joined().utf8)
                    #expect(needles.allSatisfy { record.range(of: $0) == nil }, "\(key)")
                }
            }
            #expect(count >= 2, "the circle's and the member's")
            let log = Data(lines.all.joined(separator: "\n").utf8)
            #expect(needles.allSatisfy { log.range(of: $0) == nil })
            // What the server has of the bearer is a digest, by which it still knows it.
            #expect(try await world.circle.owner(ofBearer: state.bearer).number == 759)
            // The service has revoked its token.
            let answer = try await WireClient(origin: world.sandbox.recurseCenter.origin)
                .send("GET", "/api/v1/profiles/me", headers: ["Authorization": "Bearer \(token)"])
            #expect(answer.status == 401)
            for kind in VaultKey.Kind.allCases {
                #expect(try await world.accounts.keys(of: kind).keys.isEmpty, "\(kind)")
            }
        }
    }

    @Test("another browser, another site and another attempt's form cannot join in a user's name")
    func forged() async throws {
        try await CircleWorld.with { world in
            let challenge = Base64URL.encode(MemberCircle.digest(Self.verifier))
            let attempt = try await post(world, "attempts", #"{"challenge":"\#(challenge)"}"#)
            let target = "/rc/v1/attempts/\(try #require(attempt.string("attempt")))/verify"
            let browser = CircleBrowser(world)
            let asked = try await browser.approve(target, as: "ada@example.test")
            let token = try #require(CircleBrowser.token(asked.text))
            let body = "token=\(token)&answer=yes"
            let stranger = try await CircleBrowser(world).send("POST", "/rc/v1/join", body: body)
            #expect(stranger.status == 410)
            let changed = try await browser.send("POST", "/rc/v1/join", body: "token=\(token)x&answer=yes")
            #expect(changed.status == 410)
            let site = try await world.wire.send(
                "POST", "/rc/v1/join",
                headers: ["Content-Type": "application/x-www-form-urlencoded", "Origin": "https://evil.example"],
                body: body)
            #expect(site.status == 403)
            #expect(try await browser.send("POST", "/rc/v1/join", body: body).status == 200)
            #expect(try await browser.send("POST", "/rc/v1/join", body: body).status == 410)
        }
    }

    @Test("the pages let browsers say where their forms come from: without a referrer that would be “null”")
    func origins() async throws {
        try await CircleWorld.with { world in
            let challenge = Base64URL.encode(MemberCircle.digest(Self.verifier))
            let attempt = try await post(world, "attempts", #"{"challenge":"\#(challenge)"}"#)
            let target = "/rc/v1/attempts/\(try #require(attempt.string("attempt")))/verify"
            let first = try await world.wire.send("GET", target)
            let asked = try await CircleBrowser(world).approve(target, as: "ada@example.test")
            for page in [first, asked] {
                #expect(page.status == 200 && page.text.contains("<form method=\"post\""))
                #expect(page["Referrer-Policy"] == "strict-origin")
                #expect(page.text.contains(#"<meta name="referrer" content="strict-origin">"#))
            }
        }
    }

    @Test("a name with markup is text on the page, and control characters are not stored")
    func hostileNames() async throws {
        let naming: @Sendable (String) -> String = { _ in "<script>\"'&\u{1B}\u{202E}" }
        try await CircleWorld.with(naming: naming) { world in
            let challenge = Base64URL.encode(MemberCircle.digest(Self.verifier))
            let attempt = try await post(world, "attempts", #"{"challenge":"\#(challenge)"}"#)
            let id = try #require(attempt.string("attempt"))
            let browser = CircleBrowser(world)
            let asked = try await browser.approve("/rc/v1/attempts/\(id)/verify", as: "ada@example.test")
            #expect(asked.text.contains("<h1>Join as &lt;script&gt;&quot;&#39;&amp;"))
            #expect(!asked.text.contains("<script"))
            let token = try #require(CircleBrowser.token(asked.text))
            _ = try await browser.send("POST", "/rc/v1/join", body: "token=\(token)&answer=yes")
            let joined = try await post(world, "attempts/\(id)/token", #"{"verifier":"\#(Self.verifier)"}"#)
            #expect(joined.string("name") == "<script>\"'&")
        }
    }

    @Test(
        "CI35: beyond its rate a device is told when to ask again: 61 reads in a minute, six attempts from one address")
    func rates() async throws {
        try await CircleWorld.with { world in
            let bearer = try await bearer(world)
            var statuses: [Int] = []
            for _ in 0..<61 {
                let answer = try await world.wire.send(
                    "GET", "/rc/v1/me", headers: ["Authorization": "Bearer \(bearer)"])
                statuses.append(answer.status)
                if answer.status == 429 { #expect(answer["Retry-After"] == "60") }
            }
            #expect(statuses == Array(repeating: 200, count: 60) + [429])
            let challenge = Base64URL.encode(MemberCircle.digest(Self.verifier))
            var attempts: [Int] = []
            for _ in 0..<6 {
                attempts.append(try await post(world, "attempts", #"{"challenge":"\#(challenge)"}"#).status)
            }
            // The one by which the bearer was got does not count.
            #expect(attempts == [201, 201, 201, 201, 201, 429])
        }
    }

    private func bearer(_ world: CircleWorld) async throws -> String {
        let attempt = try await approved(world, verifier: Self.verifier)
        let answer = try await post(world, "attempts/\(attempt)/token", #"{"verifier":"\#(Self.verifier)"}"#)
        return try #require(answer.string("token"))
    }

    @Test(
        "what is no request of a member is refused before it is read",
        arguments: [
            ("GET", "me", nil, 401), ("GET", "members", "Bearer x", 401), ("GET", "members", "Basic abc", 401),
            ("PUT", "me/keys", nil, 401), ("GET", "nothing", nil, 404), ("DELETE", "members", nil, 405),
        ] as [(String, String, String?, Int)])
    func strangers(method: String, path: String, authorization: String?, status: Int) async throws {
        try await CircleWorld.with { world in
            var headers: [String: String] = [:]
            headers["Authorization"] = authorization
            let answer = try await world.wire.send(method, "/rc/v1/\(path)", headers: headers)
            #expect(answer.status == status || (status == 405 && answer.status == 404))
            if status == 401 { #expect(answer["WWW-Authenticate"] == "Bearer" && answer.string("type") == "error") }
        }
    }

    @Test("bodies that are too long, of another type or no JSON are refused with the right status")
    func bodies() async throws {
        try await CircleWorld.with { world in
            let bearer = try await bearer(world)
            func put(_ path: String, _ type: String, _ body: String) async throws -> Int {
                let headers = ["Authorization": "Bearer \(bearer)", "Content-Type": type]
                return try await world.wire.send("PUT", "/rc/v1/\(path)", headers: headers, body: body).status
            }
            #expect(try await put("me/keys", "application/octet-stream", String(repeating: "x", count: 2_049)) == 413)
            #expect(try await put("me/keys", "application/json", "{}") == 415)
            #expect(try await put("me/keys", "application/octet-stream", "x") == 422)
            #expect(try await put("me/settings", "application/json", "[]") == 400)
            #expect(try await put("me/hidden/0", "application/json", "{}") == 404)
            for limit in ["0", "1001", "x", "-1"] {
                let answer = try await world.wire.send(
                    "GET", "/rc/v1/members?limit=\(limit)", headers: ["Authorization": "Bearer \(bearer)"])
                #expect(answer.status == 400)
            }
        }
    }
}
