import Beacons
import Circles
import Foundation
import Handshake
import Nearby
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Members of a circle", .heavy)
struct CircleMemberTests {
    @Test("a member who leaves is gone from the others' tables, and nothing of the circle is left on the device")
    func leave() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, zoes) = try await world.pair()
            #expect(try await adas.leave() == .delivered)
            #expect(try await ada.vault.keys(of: .circle).keys.isEmpty)
            await #expect(throws: NearbyError.circle(.notJoined)) { try await adas.summary() }
            try await zoes.synchronize()
            #expect(try await zoes.members().isEmpty)
            #expect(await world.circle.members[759]?.identity == nil)
            #expect(await world.circle.members[759]?.name == "")
        }
    }

    @Test("who leaves without a network is gone from the device immediately, and the server is told later")
    func leaveOffline() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, zoes) = try await world.pair()
            ada.transport.fail(.timedOut(host: "circle.example"))
            #expect(try await adas.leave() == .pending)
            #expect(ada.transport.timeout == .seconds(5), "later commands do not wait long for a server that is away")
            let keys = try await ada.vault.keys(of: .circle).keys
            #expect(keys.map(\.components.last) == ["farewell"])
            ada.transport.fail(nil)
            await ada.deliverFarewells()
            #expect(try await ada.vault.keys(of: .circle).keys.isEmpty)
            try await zoes.synchronize()
            #expect(try await zoes.members().isEmpty)
        }
    }

    @Test(
        "CI59: who leaves after the sign-in has ended is told that the server does not know, and leaves by joining again",
        arguments: [true, false])
    func leaveSignedOut(isReachable: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            world.time.advance(by: 31 * CircleWorld.day)
            if !isReachable { ada.transport.fail(.timedOut(host: "circle.example")) }
            #expect(try await adas.leave() == .signedOut)
            #expect(try await ada.vault.keys(of: .circle).keys.isEmpty, "nothing can be told later")
            ada.transport.fail(nil)
            #expect(await world.circle.members[759]?.hasRow == true)
            #expect(try await ada.join().leave() == .delivered)
            #expect(await world.circle.members[759]?.hasRow == false)
        }
    }

    @Test("CI49: a watch that runs tells the server of a leave, after a minute, and then at intervals until it knows")
    func leaveWhileWatching() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, zoes) = try await world.pair()
            ada.transport.fail(.timedOut(host: "circle.example"))
            #expect(try await adas.leave() == .pending)
            let before = ada.transport.sent.count
            let clock = CountedClock { pause in
                // The network is back before the third attempt.
                if pause == 3 { ada.transport.fail(nil) }
                if pause == 4 { throw CancellationError() }
            }
            let environment = CircleEnvironment(
                vault: ada.vault, community: "recurse-center", transport: ada.transport,
                time: TimeSource(now: { world.now }, clock: clock), random: { $0.lowerBound })
            await #expect(throws: CancellationError.self) {
                try await CircleFarewell.keepDelivering(in: environment)
            }
            let pauses: [Duration] = [.seconds(60), .seconds(900), .seconds(900), .seconds(10_800)]
            #expect(clock.pauses == pauses)
            let sent = Array(ada.transport.sent.dropFirst(before))
            #expect(sent == ["DELETE /rc/v1/me", "DELETE /rc/v1/me", "DELETE /rc/v1/me"])
            #expect(try await ada.vault.keys(of: .circle).keys.isEmpty)
            try await zoes.synchronize()
            #expect(try await zoes.members().isEmpty)
        }
    }

    @Test("CI49: who leaves a circle whose server knows it immediately leaves what another one must still be told")
    func leaveAnother() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let address = "https://other.example/rc"
            let other = CircleRecords(
                in: ada.vault, community: "recurse-center", scope: CircleScope(circleAt: address))
            try await other.rememberFarewell(
                CircleFarewell(
                    address: address, bearer: "bearer", isLeaving: true, expires: Int64(world.now + CircleWorld.day)))
            #expect(try await adas.leave() == .delivered)
            #expect(try await ada.vault.keys(of: .circle).keys == [other.key("farewell")])
        }
    }

    @Test("CI49: what a server must be told stays when it is stored while an earlier message is on its way")
    func laterFarewell() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            ada.transport.fail(.timedOut(host: "circle.example"))
            #expect(try await adas.leave() == .pending)
            ada.transport.fail(nil)
            let records = adas.records
            let later = CircleFarewell(
                address: CircleWorld.address, bearer: "later", isLeaving: false,
                expires: Int64(world.now + CircleWorld.day))
            ada.transport.intercept { _, pass in
                try await records.rememberFarewell(later)
                return try await pass()
            }
            await ada.deliverFarewells()
            #expect(try await ada.vault.keys(of: .circle).keys == [records.key("farewell")])
        }
    }

    @Test("CI49: signing out everywhere leaves nothing of a circle, and its server refuses the bearer")
    func signOut() async throws {
        try await CircleWorld.with { world in
            let (ada, _, _, _) = try await world.pair()
            let bearer = try #require(
                try await CircleRecords.all(in: ada.vault, community: "recurse-center").first?.state()?.bearer)
            let stored = StoredPeople(in: ada.vault, community: "recurse-center")
            #expect(try await stored.forgetEveryone().records[.circles] == 1)
            await stored.deliverFarewells(over: ada.transport, at: world.now)
            for kind in VaultKey.Kind.allCases { #expect(try await ada.vault.keys(of: kind).keys.isEmpty) }
            let answer = try await world.wire.send("GET", "/rc/v1/me", headers: ["Authorization": "Bearer \(bearer)"])
            #expect(answer.status == 401)
            #expect(await world.circle.members[759]?.gone == nil, "the user stays a member")
        }
    }

    @Test(
        "CI50: after 31 days without use no member, photo or key of a circle remains, and a synchronisation brings them back"
    )
    func expiry() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let stored = StoredPeople(in: ada.vault, community: "recurse-center")
            #expect(try await stored.expire(at: world.now + 29 * CircleWorld.day).records[.circles] == nil)
            #expect(try await adas.members().count == 1)
            #expect(try await stored.expire(at: world.now + 31 * CircleWorld.day).records[.circles] == 1)
            #expect(try await adas.members().isEmpty)
            #expect(try await adas.dayKeys().isEmpty)
            #expect(try await ada.vault.keys(of: .circle).keys.map(\.components.last) == ["state"])
            try await adas.synchronize()
            #expect(try await adas.members().map(\.name) == ["Zoë Ångström"])
        }
    }

    /// A vault of which some records cannot be read.
    private struct FailingVault: Vault {
        let base: any Vault
        let error: VaultError
        let fails: @Sendable ([String]) -> Bool
        /// Which cannot be changed.
        var refuses: @Sendable ([String]) -> Bool = { _ in false }

        func record(_ key: VaultKey) async throws -> [UInt8]? {
            if key.kind == .circle, fails(key.components) { throw error }
            return try await base.record(key)
        }

        func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
            let listing = try await base.keys(of: kind)
            // What is damaged is not listed.
            return VaultListing(keys: listing.keys.filter { !fails($0.components) }, damaged: [error])
        }

        func update<Result: Sendable>(
            _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
        ) async throws -> Result {
            if key.kind == .circle, refuses(key.components) { throw error }
            return try await base.update(key, body)
        }
    }

    @Test(
        "CI50: of a circle whose state or table cannot be read, members go after 30 days and no earlier, and the membership stays",
        arguments: ["state", "table"], [true, false])
    func damaged(record: String, isListed: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let key = try #require(
                try await ada.vault.keys(of: .circle).keys.first { $0.components.last == record })
            let damage = VaultError.damaged(what: "a record", reason: "its contents are truncated")
            var vault: any Vault = ada.vault
            if !isListed { vault = FailingVault(base: ada.vault, error: damage) { $0 == key.components } }
            if isListed, record == "state" { try await ada.vault.replace(key, with: Array("{}".utf8)) }
            if isListed, record == "table" {
                vault = FailingVault(base: ada.vault, error: damage) { $0.count == 5 && $0[2] == "table" }
            }
            let stored = StoredPeople(in: vault, community: "recurse-center")
            #expect(try await stored.expire(at: world.now).records[.circles] == nil)
            let kept = try await ada.vault.keys(of: .circle).keys.map(\.components.last)
            #expect(kept.contains("table") && kept.contains("0"), "what cannot be read now may be readable later")
            #expect(try await stored.expire(at: world.now + 31 * CircleWorld.day).records[.circles] == 1)
            let left = try await ada.vault.keys(of: .circle).keys.map(\.components.last)
            #expect(left.contains("state") && !left.contains("table"))
            #expect(left.count { $0 == "0" } == 0, "nor a part of the table")
            guard record == "table" else { return }
            try await adas.synchronize()
            #expect(try await adas.members().map(\.name) == ["Zoë Ångström"])
        }
    }

    /// Adds a circle that comes first, as a copy of the one that is there.
    ///
    /// - Returns: the error that its state is to be read with.
    private func addUnreadableCircle(to vault: some Vault) async throws -> VaultError {
        for key in try await vault.keys(of: .circle).keys {
            let copy = VaultKey(.circle, [key.components[0], "00"] + key.components.dropFirst(2))
            try await vault.replace(copy, with: try #require(try await vault.record(key)))
        }
        return .denied(what: "a record", reason: "its folder is another user's")
    }

    @Test(
        "CI49: a circle that cannot be removed keeps neither the next one nor what the user is recognised by from going"
    )
    func forgetEveryoneWithFailure() async throws {
        try await CircleWorld.with { world in
            let (ada, _, _, _) = try await world.pair()
            let denial = try await addUnreadableCircle(to: ada.vault)
            let vault = FailingVault(
                base: ada.vault, error: denial, fails: { _ in false },
                refuses: { $0[1] == "00" && $0.last == "state" })
            await #expect(throws: NearbyError.self) {
                _ = try await StoredPeople(in: vault, community: "recurse-center").forgetEveryone()
            }
            let left = try await ada.vault.keys(of: .circle).keys.map(\.components)
            #expect(left.filter { $0[1] != "00" }.map(\.last) == ["farewell"])
            #expect(Set(left.filter { $0[1] == "00" }.map(\.last)) == ["farewell", "state"])
            #expect(try await ada.vault.keys(of: .beaconSeed).keys.isEmpty)
        }
    }

    @Test("CI50: the 30 days begin again when a circle's state could be read in between")
    func readable() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let damage = VaultError.damaged(what: "a record", reason: "its contents are truncated")
            let vault = FailingVault(base: ada.vault, error: damage) { $0.last == "state" }
            let (unreadable, readable) = (
                StoredPeople(in: vault, community: "recurse-center"),
                StoredPeople(in: ada.vault, community: "recurse-center")
            )
            for day in [0.0, 20] { _ = try await unreadable.expire(at: world.now + day * CircleWorld.day) }
            _ = try await readable.expire(at: world.now + 21 * CircleWorld.day)
            #expect(try await !ada.vault.keys(of: .circle).keys.map(\.components.last).contains("unread"))
            for day in [22.0, 40] { _ = try await unreadable.expire(at: world.now + day * CircleWorld.day) }
            #expect(try await adas.members().count == 1)
            #expect(try await unreadable.expire(at: world.now + 53 * CircleWorld.day).records[.circles] == 1)
            // The pins went with the members.
            await #expect(throws: NearbyError.circle(.pinsLost(circle: "Recurse Center"))) {
                try await adas.synchronize()
            }
            #expect(try await adas.members().map(\.name) == ["Zoë Ångström"])
        }
    }

    @Test(
        "CI50: a pack of photos that cannot be read goes, and keeps nothing else from its end",
        arguments: ["forget", "hide", "leave", "synchronize"])
    func damagedPhotos(step: String) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            let pack = try #require(
                try await ada.vault.keys(of: .circle).keys.first { $0.components.contains("photos") })
            try await ada.vault.replace(pack, with: [0xFF])
            let damage = VaultError.damaged(what: "a record", reason: "its contents are truncated")
            let vault = FailingVault(base: ada.vault, error: damage) { $0 == pack.components }
            let environment = CircleEnvironment(
                vault: vault, community: "recurse-center", transport: ada.transport, time: world.time.source)
            let circle = try #require(try await JoinedCircle.all(in: environment).first)
            switch step {
            case "forget":
                let stored = StoredPeople(in: vault, community: "recurse-center")
                #expect(try await stored.forget(zoe).people == [zoe])
            case "hide":
                let before = try await ada.seed()?.reveal()
                _ = try await circle.hide(zoe)
                #expect(try await ada.seed()?.reveal() != before)
            case "leave":
                #expect(try await circle.leave() == .delivered)
            default:
                try await circle.synchronize()
                #expect(try await adas.photo(of: zoe) == CircleWorld.photo(of: 65_535))
                return
            }
            #expect(try await ada.vault.record(pack) == nil)
        }
    }

    @Test("CI50: a circle that cannot be read keeps neither the next one nor what is after it from expiring")
    func failing() async throws {
        try await CircleWorld.with { world in
            let (ada, _, _, _) = try await world.pair()
            let denial = try await addUnreadableCircle(to: ada.vault)
            let vault = FailingVault(base: ada.vault, error: denial) { $0[1] == "00" && $0.last == "state" }
            let stored = StoredPeople(in: vault, community: "recurse-center")
            let later = world.now + 31 * CircleWorld.day
            await #expect(throws: NearbyError.self) { _ = try await stored.expire(at: later) }
            let left = try await ada.vault.keys(of: .circle).keys.map(\.components)
            #expect(left.filter { $0[1] != "00" }.map(\.last) == ["state"])
            #expect(left.count { $0[1] == "00" } > 1, "nothing is deleted because it may not be read now")
        }
    }

    /// What was removed.
    private final class Board: Alerts {
        let withdrawn = Mutex<Set<UserNumber>>([])

        func show(_ alert: Alert) async {}
        func show(_ crowd: CrowdAlert) async {}
        func withdraw(_ people: Set<UserNumber>) async { withdrawn.withLock { $0.formUnion(people) } }
    }

    @Test("CI49: a table that cannot be read keeps neither a person from being forgotten nor an alert on the screen")
    func forgetWithDamage() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            for error in [
                VaultError.denied(what: "a record", reason: "its folder is another user's"),
                .damaged(what: "a record", reason: "its contents are truncated"),
            ] {
                let board = Board()
                let vault = FailingVault(base: ada.vault, error: error) { $0.last == "table" }
                let stored = StoredPeople(in: vault, community: "recurse-center", alerts: board)
                if case .denied = error {
                    await #expect(throws: NearbyError.self) { _ = try await stored.forget(zoe) }
                } else {
                    let deletion = try await stored.forget(zoe)
                    #expect(deletion.people == [zoe] && deletion.unreadableCircles == 1)
                }
                #expect(board.withdrawn.withLock(\.self) == [zoe])
            }
            let lost = NearbyError.circle(.pinsLost(circle: "Recurse Center"))
            await #expect(throws: lost) { try await adas.synchronize() }
            #expect(try await adas.members().isEmpty, "and is not taken again")
        }
    }

    @Test("CI49: while a circle's state cannot be read no person is forgotten, and the command fails")
    func forgetWithoutState() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            let damage = VaultError.damaged(what: "a record", reason: "its contents are truncated")
            let vault = FailingVault(base: ada.vault, error: damage) { $0.last == "state" }
            await #expect(throws: NearbyError.self) {
                _ = try await StoredPeople(in: vault, community: "recurse-center").forget(zoe)
            }
            #expect(try await adas.members().count == 1)
            let deletion = try await StoredPeople(in: ada.vault, community: "recurse-center").forget(zoe)
            #expect(deletion.people == [zoe] && deletion.unreadableCircles == 0)
            try await adas.synchronize()
            #expect(try await adas.members().isEmpty)
        }
    }

    @Test("CI49: a table that is none of this version goes with the person who is forgotten, and photos of others stay")
    func forgetWithOtherTable() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            _ = try await CircleDevice(world).join(as: CircleDevice.quentin)
            try await adas.synchronize()
            let (zoe, quentin) = try (UserNumber(65_535), UserNumber(70_000))
            #expect(try await adas.photo(of: quentin) != nil)
            let part = try #require(
                try await ada.vault.keys(of: .circle).keys.first {
                    $0.components.count == 5 && $0.components[2] == "table"
                })
            try await ada.vault.replace(part, with: Array("{}".utf8))
            let stored = StoredPeople(in: ada.vault, community: "recurse-center")
            let deletion = try await stored.forget(zoe)
            #expect(deletion.people == [zoe] && deletion.unreadableCircles == 1 && deletion.isAboutOnePerson)
            #expect(try await ada.vault.record(part) == nil)
            #expect(try await adas.photo(of: zoe) == nil)
            #expect(try await adas.photo(of: quentin) != nil, "it can be read, and is another member's")
            let unreadable = NearbyError.circle(.unreadableTable(circle: "Recurse Center"))
            #expect(try await KnownPeople(in: ada.environment).damaged == [unreadable], "it is not an empty one")
            let lost = NearbyError.circle(.pinsLost(circle: "Recurse Center"))
            await #expect(throws: lost) { try await adas.synchronize() }
            #expect(try await adas.members().map(\.person) == [quentin], "who is forgotten is not taken again")
            let next = try await stored.forget(quentin)
            #expect(next.people == [quentin] && next.unreadableCircles == 0)
        }
    }

    @Test("forgetting a member removes row, photo and keys, and the next synchronisation does not bring them back")
    func forget() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            #expect(try await adas.photo(of: zoe) != nil)
            let deletion = try await StoredPeople(in: ada.vault, community: "recurse-center").forget(zoe)
            #expect(deletion.people == [zoe] && deletion.records[.circles] == 1)
            #expect(try await adas.photo(of: zoe) == nil)
            try await adas.synchronize()
            #expect(try await adas.members().isEmpty)
            #expect(try await adas.dayKeys().isEmpty)
        }
    }

    @Test("CI49: a member whom the user has forgotten is recognised again after the user has ended that")
    func forgottenIsBack() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, _) = try await world.pair()
            let number = try UserNumber(65_535)
            _ = try await StoredPeople(in: ada.vault, community: "recurse-center").forget(number)
            try await adas.synchronize()
            #expect(try await ada.recognizes(zoe, adas) == nil)
            #expect(try await adas.unhide(number) == .delivered)
            try await adas.synchronize()
            #expect(try await adas.members().map(\.person) == [number])
            #expect(try await ada.recognizes(zoe, adas)?.person == number)
            #expect(try await adas.photo(of: number) != nil)
        }
    }

    @Test("CI57: a member whom the user has forgotten is listed as ignored until that ends, and who is hidden is not")
    func ignored() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let number = try UserNumber(65_535)
            #expect(try await adas.visibility().ignored.isEmpty)
            _ = try await StoredPeople(in: ada.vault, community: "recurse-center").forget(number)
            let forgotten = try await adas.visibility()
            #expect(forgotten.ignored == [number])
            #expect(forgotten.hidden.isEmpty)
            try await adas.unhide(number)
            #expect(try await adas.visibility().ignored.isEmpty)
            try await adas.synchronize()
            try await adas.hide(number)
            // As after a person was forgotten whose circle's table could not be read.
            try await adas.records.changeState { $0.blocked.insert(65_535) }
            let hidden = try await adas.visibility()
            #expect(hidden.hidden == [number])
            #expect(hidden.ignored.isEmpty)
        }
    }

    @Test("CI31, CI32: two who are hidden from each other do not see each other, and old keys recognise neither")
    func hide() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            #expect(try await zoe.recognizes(ada, zoes) != nil)
            try await adas.hide(try UserNumber(65_535))
            // Zoë keeps her old table, and Ada sends the identifiers of another seed.
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            try await zoes.synchronize()
            try await adas.synchronize()
            #expect(try await zoes.members().isEmpty)
            #expect(try await adas.members().isEmpty)
            #expect(try await zoes.dayKeys().isEmpty)
            #expect(try await adas.dayKeys().isEmpty)
            try await adas.unhide(try UserNumber(65_535))
            for circle in [adas, zoes] { try await circle.synchronize() }
            #expect(try await zoes.members().count == 1)
            #expect(try await adas.members().count == 1)
        }
    }

    @Test(
        "CI31: who hides without a network is hidden on the device, and from the other when the server can be reached",
        arguments: ["synchronize", "resume", "rotate", "join"])
    func hideOffline(next: String) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            if next == "resume" { try await adas.pause() }
            ada.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            #expect(try await adas.hide(try UserNumber(65_535)) == .init(wasFriend: false, delivery: .pending))
            #expect(try await adas.members().isEmpty)
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            ada.transport.fail(nil)
            // Whatever comes next publishes no key before the server knows.
            var circle = adas
            switch next {
            case "resume": try await adas.resume()
            case "rotate": try await adas.rotate()
            case "join":
                // The bearer was rejected meanwhile.
                try await adas.records.changeState { $0.isSignedOut = true }
                circle = try await ada.join()
            default: try await adas.synchronize()
            }
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            try await circle.synchronize()
            try await zoes.synchronize()
            #expect(try await zoes.members().isEmpty)
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            #expect(try await circle.members().isEmpty)
        }
    }

    @Test("a hide that the server refuses is told once, and does not keep the user from publishing")
    func refusedHide() async throws {
        try await CircleWorld.with { world in
            let (_, adas, _, _) = try await world.pair()
            // No member has this number.
            try await adas.records.changeState { ($0.unsentHides, $0.publishedUntil) = ([0], 0) }
            await #expect(throws: NearbyError.self) { try await adas.synchronize() }
            #expect(try await adas.records.state()?.publishedUntil == 0)
            try await adas.synchronize()
            #expect(try await adas.records.state()?.publishedUntil != 0)
        }
    }

    @Test("ending to hide before the server has heard of it brings the person back")
    func unhideOffline() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            ada.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            try await adas.hide(try UserNumber(65_535))
            ada.transport.fail(nil)
            try await adas.unhide(try UserNumber(65_535))
            try await adas.synchronize()
            #expect(try await adas.members().count == 1)
        }
    }

    @Test(
        "CI31: who ends hiding without a network is told that the server hears of it later, and then both are back",
        arguments: [true, false])
    func unhideLater(wasToldOfHide: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let person = try UserNumber(65_535)
            let away = TransportError.unreachable(host: "circle.example", reason: "no network")
            if !wasToldOfHide { ada.transport.fail(away) }
            try await adas.hide(person)
            ada.transport.fail(away)
            #expect(try await adas.unhide(person) == .pending)
            let state = try await adas.state()
            #expect(state.hidden.isEmpty && state.hasNews)
            ada.transport.fail(nil)
            for circle in [adas, zoes] { try await circle.synchronize() }
            for circle in [adas, zoes] { #expect(try await circle.members().count == 1) }
            #expect(try await zoe.recognizes(ada, zoes)?.person.value == 759)
            #expect(try await !adas.state().hasNews)
            // The last decision counts.
            ada.transport.fail(away)
            _ = try await adas.unhide(person)
            try await adas.hide(person)
            ada.transport.fail(nil)
            for circle in [adas, zoes] { try await circle.synchronize() }
            for circle in [adas, zoes] { #expect(try await circle.members().isEmpty) }
            #expect(await world.circle.members[759]?.hidden == [65_535])
        }
    }

    @Test("CI32: a friend who is hidden is no friend any more, and no photo of the person stays")
    func hiddenFriend() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let person = try UserNumber(65_535)
            let friends = RollingKeys(in: ada.vault, community: "recurse-center")
            let theirs = RollingKeys(in: MemoryVault(), community: "recurse-center")
            let card = try await theirs.pairingCard(
                in: CircleScope(circleAt: "https://pair.example"), number: person, name: "Zoë Ångström",
                at: world.timestamp)
            #expect(try await friends.addPaired(card, at: world.timestamp) == person)
            let photo = VaultKey(.photo, ["recurse-center", "65535"])
            try await ada.vault.replace(photo, with: [1])
            let other = VaultKey(.photo, ["recurse-center", "36"])
            try await ada.vault.replace(other, with: [1])
            #expect(try await adas.hide(person) == .init(wasFriend: true, delivery: .delivered))
            #expect(try await friends.friends().keys.isEmpty)
            #expect(try await ada.vault.keys(of: .photo).keys == [other])
        }
    }

    @Test("CI31: who is hidden stays hidden after leaving and joining again")
    func hideOutlastsLeaving() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            try await adas.hide(try UserNumber(65_535))
            _ = try await zoes.leave()
            let again = try await zoe.join(as: CircleDevice.zoe)
            #expect(try await again.members().isEmpty)
            #expect(try await again.dayKeys().isEmpty)
            #expect(try await zoe.recognizes(ada, again) == nil)
            try await adas.synchronize()
            #expect(try await adas.members().isEmpty)
        }
    }

    @Test("CI31: what is seen of a hide is what is seen of a leave")
    func tombstones() async throws {
        try await CircleWorld.with { world in
            let (_, adas, zoe, _) = try await world.pair()
            let quentin = CircleDevice(world)
            let quentins = try await quentin.join(as: CircleDevice.quentin)
            let bearer = try #require(
                try await CircleRecords.all(in: zoe.vault, community: "recurse-center").first?.state()?.bearer)
            func tables(since: String) async throws -> (gone: [Any], keys: [UInt8], cursor: String) {
                let headers = ["Authorization": "Bearer \(bearer)"]
                let members = try await world.wire.send("GET", "/rc/v1/members?since=\(since)", headers: headers)
                let object = try JSONSerialization.jsonObject(with: Data(members.body)) as? [String: Any] ?? [:]
                let keys = try await world.wire.send("GET", "/rc/v1/keys?since=\(since)", headers: headers)
                return (object["gone"] as? [Any] ?? [], keys.body, object["cursor"] as? String ?? "")
            }
            let before = try await tables(since: "").cursor
            try await adas.hide(try UserNumber(65_535))
            let hidden = try await tables(since: before)
            _ = try await quentins.leave()
            let left = try await tables(since: hidden.cursor)
            #expect(hidden.gone.map { "\($0)" } == ["759"] && left.gone.map { "\($0)" } == ["70000"])
            #expect(try KeyPage(hidden.keys).entries == [.gone(759)] && KeyPage(left.keys).entries == [.gone(70_000)])
        }
    }

    /// Every route that a member's bearer opens.
    private static let memberRoutes: [(method: String, path: String)] = [
        ("GET", "me"), ("PUT", "me/member"), ("PUT", "me/keys"), ("PUT", "me/settings"), ("GET", "me/hidden"),
        ("PUT", "me/hidden/759"), ("DELETE", "me/hidden/759"), ("GET", "members"), ("GET", "keys"),
        ("GET", "photos/00"), ("POST", "waves"), ("GET", "waves"), ("DELETE", "waves/some"), ("DELETE", "me/token"),
        ("DELETE", "me"),
    ]

    @Test("CI33: the routes for which a removed member is refused are all that ask for a member")
    func routes() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/HandshakeServer/Circles").standardized
        var routes: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /router\.(\w+)\("v1\/([^"]+)"\) \{[^}]*?asMember/) {
                routes.insert("\(match.1.uppercased()) \(match.2)")
            }
        }
        let tested = Self.memberRoutes.map { method, path in
            let parts = path.split(separator: "/").map { part in
                ["759": ":number", "00": ":pack", "some": ":id"][String(part)] ?? String(part)
            }
            return "\(method) \(parts.joined(separator: "/"))"
        }
        #expect(routes == Set(tested))
    }

    @Test("CI33: a removed member is refused everywhere, and the member's fetched keys match no other member")
    func removed() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            try await world.circle.remove(65_535)
            await #expect(throws: NearbyError.circle(.removed)) { try await zoes.synchronize() }
            let bearer = try #require(
                try await CircleRecords.all(in: zoe.vault, community: "recurse-center").first?.state()?.bearer)
            for route in Self.memberRoutes {
                let answer = try await world.wire.send(
                    route.method, "/rc/v1/\(route.path)", headers: ["Authorization": "Bearer \(bearer)"])
                #expect(answer.status == 403 && answer.string("code") == "removed", "\(route)")
            }
            #expect(await world.circle.waves.isEmpty)
            try await adas.synchronize()
            #expect(try await adas.members().isEmpty)
            #expect(try await zoe.recognizes(ada, zoes) == nil, "Ada has a new seed since the epoch changed")
            #expect(try await ada.recognizes(zoe, adas) == nil)
            await #expect(throws: NearbyError.circle(.removed)) {
                try await CircleDevice(world).join(as: CircleDevice.zoe)
            }
            // For 30 days the answer says why, and afterwards only that the bearer is unknown.
            world.time.advance(by: 31 * CircleWorld.day)
            let answer = try await world.wire.send(
                "GET", "/rc/v1/me", headers: ["Authorization": "Bearer \(bearer)"])
            #expect(answer.status == 401)
        }
    }

    @Test(
        "CI33: a removal that the device first hears of in the answer to a publication renews the seed all the same",
        arguments: ["keys", "member", "again"])
    func removedMeanwhile(published: String) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let old = try #require(try await ada.seed())
            #expect(try await zoe.recognizes(old, zoes)?.person.value == 759)
            switch published {
            case "again":
                // The device was signed out when Zoë was removed, and continues the membership.
                try await adas.records.changeState { $0.isSignedOut = true }
                try await world.circle.remove(65_535)
                _ = try await ada.join()
            default:
                // Zoë is removed after the device has asked for the epoch.
                try await adas.records.changeState { state in
                    if published == "member" { state.isIdentityPending = true } else { state.nextPublish = 0 }
                }
                ada.transport.intercept { [circle = world.circle] line, pass in
                    if line == "PUT /rc/v1/me/\(published)" { try await circle.remove(65_535) }
                    return try await pass()
                }
                try await adas.synchronize()
                ada.transport.intercept(with: nil)
                try await adas.synchronize()
            }
            #expect(try await ada.seed()?.reveal() != old.reveal())
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            let window = try RollingWindow(at: world.timestamp)
            let sent = try await OwnScopes(in: ada.vault, community: "recurse-center", at: world.timestamp).sent
            #expect(!sent.contains { $0.token(in: window) == old.token(in: window) })
            #expect(await world.circle.members[759]?.keys?.terms.epoch == 2)
        }
    }

    @Test("whose first circle begins in a later epoch keeps the keys for friends")
    func laterEpoch() async throws {
        try await CircleWorld.with { world in
            let (ada, zoe) = (CircleDevice(world), CircleDevice(world))
            _ = try await zoe.join(as: CircleDevice.zoe)
            try await world.circle.remove(65_535)
            let friends = try await RollingKeys(in: ada.vault, community: "recurse-center").seed()
            let adas = try await ada.join()
            #expect(try await adas.state().epoch == 2)
            #expect(
                try await RollingKeys(in: ada.vault, community: "recurse-center").existingSeed()?.reveal()
                    == friends.reveal())
        }
    }

    @Test("CI34: a pause withdraws the keys, and what is sent afterwards is of another seed")
    func pause() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let before = try await ada.seed()?.reveal()
            try await adas.pause()
            #expect(try await adas.summary().isPaused)
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            #expect(try await zoes.members().map(\.isPublishing) == [false])
            world.time.advance(by: 4 * CircleWorld.day)
            try await adas.synchronize()
            #expect(try await zoes.synchronize() == 1)
            #expect(try await zoes.members().map(\.isPublishing) == [false], "nothing is published while paused")
            try await adas.resume()
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes) != nil)
            #expect(try await ada.seed()?.reveal() != before)
        }
    }

    @Test("CI34: a pause without a network withdraws the keys when the server can be reached")
    func pauseOffline() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            ada.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            #expect(try await adas.pause() == .pending)
            #expect(try await adas.summary().isPaused)
            ada.transport.fail(nil)
            try await adas.synchronize()
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            #expect(try await zoes.members().map(\.isPublishing) == [false])
        }
    }

    @Test("CI22: an identity that the old one has not signed makes the person unverified, and waves are refused")
    func changedIdentity() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            #expect(try await adas.members().map(\.trust) == [.circle])
            // The server gives Zoë's number to another person.
            var row = try #require(await world.circle.members[65_535])
            row.identity = try MemberRecord(
                signedBy: MemberKeys(), in: world.circle.scope, number: 65_535, at: UInt64(world.now))
            row.rowRevision = await world.circle.nextRevision()
            try await world.circle.store(row)
            try await adas.synchronize()
            #expect(try await adas.members().map(\.trust) == [.unverified])
            #expect(try await adas.dayKeys().isEmpty)
            let log = EncounterLog(in: ada.vault, community: "recurse-center")
            let met = Encounter(firstSeen: world.now - 60, lastSeen: world.now, duration: 60, trust: .circle)
            _ = try await log.note(met, with: zoe, wasLogged: false)
            do {
                try await adas.wave(at: zoe, text: "Hello", log: log)
                Issue.record("waved at a number that may be another person's")
            } catch NearbyError.circle(.wave(let problem)) {
                #expect(problem.hasSuffix("has a new identity. Ask in person, then pair again"))
            }
            #expect(await world.circle.waves.isEmpty)
        }
    }

    @Test("CI22: while the table has an identity, another one without its signature is unverified; a signed one is not")
    func pins() throws {
        let scope = CircleScope(circleAt: "https://circle.example/rc")
        let (old, new) = (MemberKeys(), MemberKeys())
        let now: UInt64 = 1_767_225_900
        func row(_ record: MemberRecord) -> JSONObject {
            ["number": .number("36"), "name": .string("Grace"), "member": .string(Base64URL.encode(record.bytes))]
        }
        let first = try MemberRecord(signedBy: old, in: scope, number: 36, at: now)
        let forged = try MemberRecord(signedBy: new, in: scope, number: 36, at: now)
        let rotated = try MemberRecord(signedBy: new, in: scope, number: 36, at: now, replacing: (old, 1))
        let grace = try UserNumber(36)
        var table = CircleTable()
        table.take(row: row(first), in: scope, at: now)
        #expect(table.entry(grace)?.trust == .circle)
        table.take(row: row(forged), in: scope, at: now)
        #expect(table.entry(grace)?.trust == .unverified && table.entry(grace)?.identity == forged)
        table.take(row: row(first), in: scope, at: now)
        #expect(table.entry(grace)?.trust == .circle)
        table.take(row: row(rotated), in: scope, at: now)
        #expect(table.entry(grace)?.trust == .circle && table.entry(grace)?.identity == rotated)
        table.take(row: row(first), in: scope, at: now)
        #expect(table.entry(grace)?.trust == .unverified, "an earlier identity does not come back")
        // Rows that are not valid change nothing.
        for bad in [[:], ["number": .number("0")], ["number": .number("36"), "name": .string("")]] as [JSONObject] {
            table.take(row: bad, in: scope, at: now)
        }
        #expect(table.rows.count == 1)
    }

    @Test("a rotated identity is taken by the others without a question, and its keys count")
    func rotate() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            try await adas.rotate()
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            try await zoes.synchronize()
            let found = try #require(try await zoe.recognizes(ada, zoes))
            #expect(found.trust == .circle)
            try await adas.rotate()
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes)?.trust == .circle)
        }
    }

    @Test("a rotation that did not reach the server is finished by the next synchronisation, and others can follow")
    func lostRotation() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            ada.transport.fail(.timedOut(host: "circle.example"))
            await #expect(throws: NearbyError.circle(.network(.timedOut(host: "circle.example")))) {
                try await adas.rotate()
            }
            #expect(await world.circle.members[759]?.identity?.generation == 1)
            ada.transport.fail(nil)
            try await adas.synchronize()
            try await zoes.synchronize()
            #expect(await world.circle.members[759]?.identity?.generation == 2)
            #expect(try await zoe.recognizes(ada, zoes)?.trust == .circle)
            try await adas.rotate()
            try await zoes.synchronize()
            #expect(await world.circle.members[759]?.identity?.generation == 3)
            #expect(try await zoe.recognizes(ada, zoes)?.trust == .circle)
        }
    }

    @Test("a second device of a member cannot publish another identity, and is told what to do")
    func secondDevice() async throws {
        try await CircleWorld.with { world in
            _ = try await world.pair()
            let second = CircleDevice(world)
            do {
                _ = try await second.join()
                Issue.record("a second identity was taken")
            } catch NearbyError.circle(.refused(409, "identity_exists", let message)) {
                #expect(message.contains("leave"))
            }
            #expect(try await second.vault.keys(of: .circle).keys.isEmpty)
        }
    }
}

/// A clock whose pauses end immediately, until a test ends the task that pauses.
private final class CountedClock: Clock {
    typealias Instant = TestInstant

    private let durations = Mutex<[Duration]>([])
    private let paused: @Sendable (Int) throws -> Void

    /// - Parameter paused: called at each pause, with how many there were.
    init(_ paused: @escaping @Sendable (Int) throws -> Void) { self.paused = paused }

    var pauses: [Duration] { durations.withLock(\.self) }
    var now: Instant { HurriedClock().now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let pause = now.duration(to: deadline)
        let count = durations.withLock { durations in
            durations.append(pause)
            return durations.count
        }
        try paused(count)
    }
}
