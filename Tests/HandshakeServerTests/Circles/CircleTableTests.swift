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

@Suite("Tables of a circle", .heavy)
struct CircleTableTests {
    @Test("CI28: an unchanged table is answered by 304, a cursor of 31 days by 410 and a whole fetch")
    func unchanged() async throws {
        try await CircleWorld.with { world in
            let (_, _, zoe, _) = try await world.pair()
            let bearer = try #require(
                try await CircleRecords.all(in: zoe.vault, community: "recurse-center").first?.state()?.bearer)
            let headers = ["Authorization": "Bearer \(bearer)"]
            let first = try await world.wire.send("GET", "/rc/v1/members?since=", headers: headers)
            let tag = try #require(first["ETag"])
            #expect(first["Cache-Control"] == "private, no-cache" && first["Vary"] == "Authorization")
            let again = try await world.wire.send(
                "GET", "/rc/v1/members?since=", headers: headers.merging(["If-None-Match": tag]) { $1 })
            #expect(again.status == 304 && again.body.isEmpty)
            for cursor in ["x", "AAAAAAAA.1.1", "a.b.c.d.e", "..", String(repeating: "a", count: 65)] {
                let answer = try await world.wire.send("GET", "/rc/v1/keys?since=\(cursor)", headers: headers)
                #expect(answer.status == 410 && answer.string("code") == "cursor_gone")
            }
        }
    }

    @Test("CI26: of a member who is silent the server stores no keys of past days, and a later publication is taken")
    func pastKeys() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let keys = try #require(await world.circle.members[759]?.keys)
            let end = (Double(try #require(keys.dayKeys.last?.day)) + 1) * CircleWorld.day
            let needle = Array(Base64URL.encode(keys.bytes).utf8.prefix(200))
            func isStored() async throws -> Bool {
                for key in try await world.vault.keys(of: .circle).keys {
                    let bytes = try await world.vault.record(key) ?? []
                    if String(decoding: bytes, as: UTF8.self).contains(String(decoding: needle, as: UTF8.self)) {
                        return true
                    }
                }
                return false
            }
            world.time.advance(by: end + CircleWorld.day - 100 - world.now)
            try await zoes.synchronize()
            #expect(try await isStored(), "waves of the last day may arrive")
            let revision = try #require(await world.circle.members[759]).keysRevision
            world.time.advance(by: 7_200)
            try await zoes.synchronize()
            #expect(try await !isStored())
            let member = try #require(await world.circle.members[759])
            #expect(member.keys == nil && member.keysRevision > revision && member.hasRow)
            #expect(try await zoes.members().map(\.isPublishing) == [false])
            try await adas.synchronize()
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes)?.person.value == 759)
        }
    }

    @Test("CI28: a device that was away for 31 days fetches everything, and members who left meanwhile are gone")
    func longAway() async throws {
        try await CircleWorld.with { world in
            let (_, adas, zoe, zoes) = try await world.pair()
            let quentins = try await CircleDevice(world).join(as: CircleDevice.quentin)
            try await zoes.synchronize()
            #expect(try await zoes.members().count == 2)
            _ = try await quentins.leave()
            for _ in 0..<28 {
                world.time.advance(by: CircleWorld.day)
                try await adas.synchronize()
            }
            // Zoë's bearer lasts thirty days: she signs in again and keeps what she has pinned.
            let records = try #require(try await CircleRecords.all(in: zoe.vault, community: "recurse-center").first)
            let bearer = try await world.circle.newBearer(for: 65_535).bearer
            try await records.changeState { $0.bearer = bearer }
            world.time.advance(by: 3 * CircleWorld.day)
            try await zoes.synchronize()
            #expect(zoe.transport.sent.contains { $0.hasPrefix("GET /rc/v1/members?limit=1000&since=") })
            #expect(try await zoes.members().map(\.name) == ["Ada Example"])
        }
    }

    @Test(
        "CI28: who has lost a table, or doubts it, asks for it, and not whether it is the same as before",
        arguments: ["expired", "unread", "damaged", "deleted", "clock"])
    func tags(step: String) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            func asked() -> Int { ada.transport.conditional.count { !$0.contains("/v1/photos/") } }
            // A tag is known once nothing has changed.
            for _ in 0..<3 { try await adas.synchronize() }
            #expect(asked() > 0, "a table that is there is asked for by its tag")
            let (stored, records) = (StoredPeople(in: ada.vault, community: "recurse-center"), adas.records)
            switch step {
            case "expired": _ = try await stored.expire(at: world.now + 31 * CircleWorld.day)
            case "unread":
                // The state could not be read before.
                try await ada.vault.replace(records.key("unread"), with: Array("\(world.now)".utf8))
                _ = try await stored.expire(at: world.now)
            case "damaged":
                try await ada.vault.replace(records.key("table"), with: Array("{}".utf8))
                let deletion = try await stored.forget(try UserNumber(70_000))
                #expect(deletion.unreadableCircles == 1)
                #expect(deletion.people.map(\.value) == [70_000], "the table may have had the person")
                let state = try #require(try await records.state())
                #expect(state.membersTag == nil && state.keysTag == nil, "another table may be put back")
            case "deleted": try await ada.vault.remove(records.key("table"))
            default:
                let off = CircleEnvironment(
                    vault: ada.vault, community: "recurse-center", transport: ada.transport,
                    time: TimeSource(now: { world.now + 3_600 }, clock: HurriedClock()), random: { $0.lowerBound })
                await #expect(throws: NearbyError.circle(.clock(seconds: 3_600))) {
                    try await JoinedCircle(records, off).synchronize()
                }
            }
            let before = asked()
            if ["damaged", "deleted"].contains(step) {
                let lost = NearbyError.circle(.pinsLost(circle: "Recurse Center"))
                await #expect(throws: lost) { try await adas.synchronize() }
            } else {
                try await adas.synchronize()
            }
            #expect(asked() == before)
            #expect(try await adas.members().map(\.name) == ["Zoë Ångström"])
        }
    }

    @Test(
        "CI22: a table that cannot be read is fetched whole, and the user is told that the pins are lost",
        arguments: ["version", "description", "part", "both"])
    func unreadable(what: String) async throws {
        try await CircleWorld.with { world in
            let vault = DamagedVault()
            let (ada, adas) = try await world.settledPair(in: vault)
            let part = try await vault.partOfTable()
            switch what {
            case "version": try await vault.replace(part, with: try await vault.otherContent(of: part))
            case "description": vault.damage(adas.records.key("table"))
            case "both":
                vault.damage(adas.records.key("table"))
                vault.damage(part)
            default: vault.damage(part)
            }
            let problem = NearbyError.circle(.unreadableTable(circle: "Recurse Center"))
            await #expect(throws: problem) { _ = try await adas.members() }
            let summary = try await adas.summary()
            #expect(summary.members == nil && summary.trouble?.contains("cannot be read") == true)
            #expect(summary.tableProblem == .unreadableTable(circle: "Recurse Center"))
            let known = try await KnownPeople(in: ada.environment)
            #expect(known.damaged == [problem] && known.circles.count == 1, "a watch begins all the same")
            #expect(try await adas.introduce(try UserNumber(65_535)) == nil)
            #expect(try await StoredPeople(in: vault, community: "recurse-center").expire(at: world.now).isEmpty)

            let lost = NearbyError.circle(.pinsLost(circle: "Recurse Center"))
            func asked() -> Int { ada.transport.conditional.count { !$0.contains("/v1/photos/") } }
            let before = asked()
            await #expect(throws: lost) { try await adas.synchronize() }
            #expect(asked() == before, "everything is asked for, and not whether it is the same as before")
            #expect(try await adas.members().map(\.name) == ["Zoë Ångström"])
            #expect(try await adas.synchronize() == 1, "that is no failure later")
            #expect(try await adas.summary().trouble?.contains("are lost") == true, "and is said for a week")
            #expect(try await KnownPeople(in: ada.environment).damaged == [lost])
            _ = try await ada.join(replacing: true)
            #expect(try await adas.summary().trouble?.contains("are lost") == true, "the table is the same")
            world.time.advance(by: 7 * CircleWorld.day + 1)
            #expect(try await KnownPeople(in: ada.environment).damaged.isEmpty)
        }
    }

    @Test("CI22: a table that is put back while everything is fetched again stays with its pins, and none is lost")
    func putBack() async throws {
        try await CircleWorld.with { world in
            let vault = DamagedVault()
            let (ada, adas) = try await world.settledPair(in: vault)
            let table = try await adas.records.table()
            let part = try await vault.partOfTable()
            let content = try #require(try await vault.record(part))
            try await vault.replace(part, with: try await vault.otherContent(of: part))
            ada.transport.intercept { line, pass in
                if line.hasPrefix("GET /rc/v1/keys") { try await vault.replace(part, with: content) }
                return try await pass()
            }
            #expect(try await adas.synchronize() == 1)
            #expect(try await adas.records.table() == table)
            #expect(try await adas.summary().trouble == nil)
        }
    }

    @Test(
        "a server that removes a member and shows the number again with another identity does not replace the pin",
        arguments: [false, true])
    func removalKeepsPin(isWhole: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, _, zoe, zoes) = try await world.pair()
            let adas = try #require(
                try await CircleRecords.all(in: ada.vault, community: "recurse-center").first?.state())
            try await remove(from: zoes, on: zoe, isWhole: isWhole)
            #expect(try await zoes.members().allSatisfy { $0.person.value != 759 })
            func trust(in record: MemberRecord) async throws -> Trust? {
                zoe.show([record])
                try await zoes.synchronize()
                return try await zoes.members().first { $0.person.value == 759 }?.trust
            }
            let (scope, time) = (world.circle.scope, UInt64(world.now))
            let forged = try MemberRecord(signedBy: MemberKeys(), in: scope, number: 759, at: time)
            #expect(try await trust(in: forged) == .unverified)
            try await remove(from: zoes, on: zoe, isWhole: isWhole)
            #expect(try await trust(in: forged) == .unverified, "a second removal does not help")
            try await remove(from: zoes, on: zoe, isWhole: isWhole)
            #expect(try await trust(in: try MemberRecord(Array(adas.identity))) == .circle)
            try await remove(from: zoes, on: zoe, isWhole: isWhole)
            let rotated = try MemberRecord(
                signedBy: MemberKeys(), in: scope, number: 759, at: time,
                replacing: (try JoinedCircle.keys(adas), adas.generation))
            #expect(try await trust(in: rotated) == .circle, "the pinned identity has signed it")
        }
    }

    @Test("the pin of a removed member stays for 30 days, and is removed immediately when the user forgets the person")
    func removalExpires() async throws {
        try await CircleWorld.with { world in
            let (_, _, zoe, zoes) = try await world.pair()
            let stored = StoredPeople(in: zoe.vault, community: "recurse-center")
            try await remove(from: zoes, on: zoe, isWhole: false)
            let known = try await zoes.records.table()
            #expect(known.departures?.keys.sorted() == [759])
            world.time.advance(by: 10 * CircleWorld.day)
            try await zoes.synchronize()
            _ = try await stored.expire(at: world.now + 20 * CircleWorld.day)
            #expect(try await zoes.records.table().departures?.keys.sorted() == [759])
            _ = try await stored.expire(at: world.now + 20 * CircleWorld.day + 1)
            #expect(try await zoes.records.table().departures?.isEmpty == true)
            try await zoes.records.replaceTable(known)
            _ = try await stored.forget(try UserNumber(759))
            #expect(try await zoes.records.table().departures?.isEmpty == true)
        }
    }

    /// Lets the server say that 759 is no member: by a tombstone, or by a whole table without the row.
    private func remove(from circle: JoinedCircle, on device: CircleDevice, isWhole: Bool) async throws {
        if isWhole {
            var table = try await circle.records.table()
            table.membersCursor = nil
            try await circle.records.replaceTable(table)
            let other = try MemberRecord(
                signedBy: MemberKeys(), in: device.world.circle.scope, number: 7, at: UInt64(device.world.now))
            device.show([other])
        } else {
            device.show([], gone: [759])
        }
        try await circle.synchronize()
    }

    /// Asks for the photo of each person whom it is told of, as a desktop does.
    private struct Pictures: Alerts {
        let known: KnownPeople

        func show(_ alert: Alert) async { _ = await known.photo(of: alert.person, in: alert.circle) }
        func show(_ crowd: CrowdAlert) async {}
    }

    /// What a device asks the circle's server in a day.
    ///
    /// - Parameter sightings: how many packets of members, strangers and numbers it hears in each three hours.
    private func requests(hearing sightings: Int) async throws -> [String] {
        var requests: [String] = []
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            _ = try await CircleDevice(world).join(as: CircleDevice.quentin)
            let start = ada.transport.sent.count
            let log = EncounterLog(in: ada.vault, community: "recurse-center")
            for _ in 0..<8 {
                world.time.advance(by: 10_800)
                let known = try await KnownPeople(in: ada.environment)
                let nearby = PeopleNearby(
                    log: log, ignoring: known.own, alerts: Pictures(known: known), clock: HurriedClock()
                ) { known.introduce($0, in: $1).map { .known($0) } ?? .unreachable }
                let people = [(65_535, Trust.circle), (70_000, .circle), (36, .unverified), (65_535, .unverified)]
                let (lists, heard) = AsyncStream.makeStream(of: SightingList.self)
                for second in 0..<sightings {
                    let (time, instant) = (world.now + Double(second), Duration.seconds(second))
                    let (number, trust) = people[second % people.count]
                    let person = try UserNumber(number)
                    let sighting = Sighting(of: person, at: time, instant: instant, rssi: -60, trust: trust)
                    heard.yield(SightingList(time: time, instant: instant, sightings: [sighting]))
                }
                heard.finish()
                try await nearby.run(on: lists) { _ in }
                try await adas.synchronize()
            }
            let met = try await log.contents(at: world.now).people.map(\.person.value).sorted()
            #expect(met == (sightings > 0 ? [36, 65_535, 70_000] : []))
            // A cursor begins with what the server has drawn.
            requests = ada.transport.sent.dropFirst(start).map { $0.replacing(/since=[^.&]*/, with: "since=") }
        }
        return requests
    }

    @Test("CI30: what a device asks the circle's server on a day of 400 sightings is what it asks without any")
    func requestsDoNotTell() async throws {
        let silent = try await requests(hearing: 0)
        #expect(try await requests(hearing: 50) == silent)
        #expect(silent.count >= 24 && silent.contains { $0.contains("/photos/") })
    }

    @Test("CI36: a photo whose digest is another one is dropped, and the name is shown without it")
    func photoDigest() async throws {
        try await CircleWorld.with { world in
            let (_, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            #expect(try await adas.photo(of: zoe) != nil)
            let records = adas.records
            var table = try await records.table()
            table.rows[65_535]?.photoDigest = Data(repeating: 0, count: 32)
            try await records.replaceTable(table)
            let index = PhotoPack.index(of: 65_535)
            try await records.replacePack(index, tag: "", PhotoPack([:]))
            try await adas.synchronize()
            #expect(try await adas.photo(of: zoe) == nil)
            #expect(try await adas.introduce(zoe)?.name == "Zoë Ångström")
        }
    }

    @Test("CI29: pages of one fetch are of one revision, and a change between them comes with the next fetch")
    func changeDuringPaging() async throws {
        try await CircleWorld.with { world in
            let crowd = (1...5).map { CrowdMember(number: UInt32($0)) }
            for member in crowd { try await member.enrol(in: world) }
            let reader = try await world.circle.admit(CircleApplicant(number: 759, name: "Ada")).bearer
            func page(_ since: String?) async throws -> KeyPage {
                let cursor = since.map { "&since=\($0)" } ?? ""
                let answer = try await world.wire.send(
                    "GET", "/rc/v1/keys?limit=2\(cursor)", headers: ["Authorization": "Bearer \(reader)"])
                #expect(answer.status == 200)
                return try KeyPage(answer.body)
            }
            func numbers(_ page: KeyPage) -> [UInt32] {
                page.entries.map { entry in
                    switch entry {
                    case .keys(let record): record.terms.number
                    case .gone(let number): number
                    case .unknown: 0
                    }
                }
            }
            let first = try await page(nil)
            // One whose keys have come changes, and one whose keys are to come leaves.
            try await crowd[0].publish(in: world, sequence: 2)
            try await world.circle.leave(4)
            let second = try await page(first.cursor)
            #expect(first.hasMore && !second.hasMore)
            #expect(first.revision == second.revision, "one revision")
            #expect(numbers(first) == [1, 2] && numbers(second) == [3, 5])
            let later = try await page(second.cursor)
            #expect(Set(numbers(later)) == [1, 4])
            #expect(later.entries.contains(.gone(4)))
        }
    }

    @Test(
        "CI29: a change that is being stored while a page is fetched comes with that page or with the next fetch",
        arguments: [false, true])
    func changeWhileStored(isOfKeys: Bool) async throws {
        let vault = WaitingVault()
        try await CircleWorld.with(vault: vault) { world in
            let member = CrowdMember(number: 1)
            try await member.enrol(in: world)
            _ = try await world.circle.admit(CircleApplicant(number: 759, name: "Ada"))
            func fetch(_ since: String?) async throws -> (count: Int, cursor: String) {
                if isOfKeys {
                    let page = try await world.circle.keyPage(for: 759, since: since, limit: 10)
                    return (page.rows.count, page.cursor)
                }
                let page = try await world.circle.memberPage(for: 759, since: since, limit: 10)
                return (page.rows.count, page.cursor)
            }
            let first = try await fetch(nil)
            let (isStoring, hasFetched) = (Flag(), Flag())
            vault.beforeUpdate {
                isStoring.raise()
                for _ in 0..<10_000 where !hasFetched.isRaised { await Task.yield() }
            }
            let change = Task {
                if isOfKeys {
                    try await member.publish(in: world, sequence: 2)
                } else {
                    _ = try await world.circle.admit(CircleApplicant(number: 1, name: "Another Name"))
                }
            }
            while !isStoring.isRaised { await Task.yield() }
            let during = try await fetch(first.cursor)
            hasFetched.raise()
            try await change.value
            let after = try await fetch(during.cursor)
            #expect(first.count == 1)
            #expect(during.count + after.count == 1)
        }
    }

    /// 150 members, or as many as `CIRCLE_MEMBERS` says, 10,000 each night: what each of them costs is the same.
    @Test("CI27: a member costs the others less than a hundred bytes a day: 10,000 members less than a megabyte")
    func traffic() async throws {
        let stated = ProcessInfo.processInfo.environment["CIRCLE_MEMBERS"] ?? "150"
        let count = try #require(Int(stated), "CIRCLE_MEMBERS is no number: \(stated)")
        try await CircleWorld.with { world in
            let crowd = (0..<count).map { CrowdMember(number: UInt32(1_000 + $0)) }
            let photo = [UInt8](repeating: 0xFF, count: CircleApplicant.maximumPhotoSize)
            for (index, member) in crowd.enumerated() {
                try await member.enrol(in: world, photo: index < 150 ? photo : nil)
            }
            let device = CircleDevice(world)
            let circle = try await device.join()
            #expect(try await circle.photo(of: UserNumber(1_000)) == photo)
            let joined = device.transport.sent.count
            var received: [Int] = []
            for day in 0..<6 {
                world.time.advance(by: CircleWorld.day)
                // As the client does: keys of four days, in the first half of the last one.
                for (index, member) in crowd.enumerated() where (index + day) % 3 == 0 {
                    try await member.publish(in: world, sequence: UInt32(day + 2))
                }
                let before = device.transport.received
                try await circle.synchronize()
                received.append(device.transport.received - before)
                #expect(try await circle.members().count == crowd.count)
            }
            let limit = 100 * count
            #expect(received.allSatisfy { (40 * count..<limit).contains($0) }, "\(received) bytes a day")
            // No photo has changed, so not even the headers of a question about each of 256 packs are sent.
            #expect(device.transport.sent.dropFirst(joined).allSatisfy { !$0.contains("/v1/photos/") })
            if count > 150 { print("\(count) members: \(received) bytes a day") }
        }
    }
}

extension CircleDevice {
    /// The server answers with this page of members from now on.
    fileprivate func show(_ members: [MemberRecord], gone: [UInt32] = []) {
        let rows = members.map {
            #"{"number":\#($0.number),"name":"Member","member":"\#(Base64URL.encode($0.bytes))"}"#
        }.joined(separator: ",")
        let page = #"{"epoch":1,"cursor":"page","more":false,"members":[\#(rows)],"gone":\#(gone)}"#
        transport.replace(with: page) { $0.hasPrefix("GET /rc/v1/members") }
    }
}

private final class Flag: Sendable {
    private let value = Mutex(false)

    var isRaised: Bool { value.withLock(\.self) }

    func raise() { value.withLock { $0 = true } }
}

/// A vault that waits for something before it updates a record, once.
private final class WaitingVault: ForwardingVault {
    let base: MemoryVault
    private let pause = Mutex<(@Sendable () async -> Void)?>(nil)

    init(_ base: MemoryVault = MemoryVault()) { self.base = base }

    func beforeUpdate(_ body: @escaping @Sendable () async -> Void) { pause.withLock { $0 = body } }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        let before = pause.withLock { pause in
            defer { pause = nil }
            return pause
        }
        await before?()
        return try await base.update(key, body)
    }
}

/// A member without a device.
private struct CrowdMember {
    let number: UInt32
    let keys = MemberKeys()

    func enrol(in world: CircleWorld, photo: [UInt8]? = nil) async throws {
        _ = try await world.circle.admit(CircleApplicant(number: number, name: "Member \(number)", photo: photo))
        let record = try MemberRecord(
            signedBy: keys, in: world.circle.scope, number: number, at: UInt64(world.now))
        _ = try await world.circle.publish(record.bytes, ofIdentity: number, by: nil)
        try await publish(in: world, sequence: 1)
    }

    func publish(in world: CircleWorld, sequence: UInt32) async throws {
        let record = try KeyRecord(
            signedBy: keys,
            KeyRecord.Terms(
                scope: world.circle.scope, number: number, generation: 1, sequence: sequence, epoch: 1,
                firstDay: UInt32(world.now / CircleWorld.day), issued: UInt64(world.now)),
            dayKeys: (0..<KeyRecord.maximumDays).map { _ in RandomSource.system.bytes(32) })
        _ = try await world.circle.publish(record.bytes, ofKeys: number, by: nil)
    }
}
