import Beacons
import Circles
import Foundation
import Handshake
import Radio
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("What a circle sees of a member", .heavy)
struct CircleVisibilityTests {
    /// Remembers whose alerts were removed.
    private final class Board: Alerts {
        let withdrawn = Mutex<[Set<UserNumber>]>([])

        func show(_ alert: Alert) async {}
        func show(_ crowd: CrowdAlert) async {}
        func withdraw(_ people: Set<UserNumber>) async { withdrawn.withLock { $0.append(people) } }
    }

    /// A photo of Ada that is too large.
    @Sendable private static func largePhoto(_ number: Int64) -> [UInt8] {
        number == 759 ? Array(repeating: 0xFF, count: 4_097) : CircleWorld.photo(of: number)
    }

    private let adasNumber = CircleMeeting.adasNumber
    private let zoesNumber = CircleMeeting.zoesNumber

    private func settings(sent device: CircleDevice) -> Int {
        device.transport.sent.count { $0.hasPrefix("PUT") && $0.hasSuffix("/v1/me/settings") }
    }

    @Test("CI57: photo, batch and waves are changed for the members, who notice at the next synchronisation")
    func changed() async throws {
        try await CircleWorld.with { world in
            let (_, adas, _, zoes) = try await world.pair()
            let batch = try #require(try await zoes.members().first?.batch)
            #expect(!batch.isEmpty)
            #expect(try await adas.visibility().photo == nil, "the server was not asked yet")
            for isShown in [false, true] {
                #expect(try await adas.change(.init(photo: isShown, batch: isShown, waves: isShown)) == .delivered)
                let visibility = try await adas.visibility()
                #expect(visibility.photo == isShown && visibility.batch == isShown && visibility.waves == isShown)
                #expect(visibility.isTold && visibility.othersPhotos && visibility.hidden.isEmpty)
                #expect(visibility.hasPhoto == true, "it is there, shown or not")
                try await zoes.synchronize()
                #expect(try await zoes.members().map(\.batch) == [isShown ? batch : ""])
                #expect(try await zoes.members().map(\.takesWaves) == [isShown])
                let photo = try await zoes.photo(of: adasNumber)
                #expect((photo != nil) == isShown)
            }
        }
    }

    @Test(
        "CI57: without a network the change holds on the device, and the server is told the last decision later",
        arguments: [true, false])
    func offline(asksForSettings: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, zoes) = try await world.pair()
            ada.transport.fail(.timedOut(host: "circle.example"))
            #expect(try await adas.change(.init(photo: false, batch: true, waves: false)) == .pending)
            #expect(try await adas.change(.init(batch: false)) == .pending)
            #expect(try await !adas.refreshVisibility())
            let visibility = try await adas.visibility()
            #expect(visibility.photo == false && visibility.batch == false && !visibility.waves && !visibility.isTold)
            ada.transport.fail(nil)
            let before = settings(sent: ada)
            if asksForSettings {
                #expect(try await adas.refreshVisibility())
            } else {
                try await adas.synchronize()
            }
            #expect(settings(sent: ada) == before + 2, "one request each")
            #expect(await world.circle.members[759]?.keys?.terms.waves == false)
            #expect(try await adas.visibility().isTold)
            try await zoes.synchronize()
            #expect(try await zoes.members().map(\.batch) == [""])
            #expect(try await zoes.members().map(\.takesWaves) == [false])
            #expect(try await zoes.photo(of: adasNumber) == nil)
            try await adas.synchronize()
            #expect(settings(sent: ada) == before + 2, "told once")
        }
    }

    @Test("CI57: a photo that is too large cannot be shown: the user is told why, and publishing goes on")
    func refused() async throws {
        try await CircleWorld.with(photo: Self.largePhoto) { world in
            let (ada, adas, _, _) = try await world.pair()
            let problem = await #expect(throws: NearbyError.self) {
                try await adas.change(.init(photo: true, batch: false, waves: false))
            }
            #expect(await world.circle.members[759]?.keys?.terms.waves == false)
            #expect(problem?.code == "photo_too_large")
            #expect(problem?.description.contains("Choose a smaller one") == true)
            // The photo is not asked for again, and the batch is.
            let before = settings(sent: ada)
            try await adas.synchronize()
            #expect(settings(sent: ada) == before + 1)
            #expect(try await adas.visibility().batch == false)
            #expect(await world.circle.members[759]?.showsBatch == false)
            #expect(try await adas.refreshVisibility())
            #expect(try await adas.visibility().hasPhoto == false)
        }
    }

    @Test("CI57: without the photos of others none is fetched, those on the device go, and they come back")
    func othersPhotos() async throws {
        try await CircleWorld.with { world in
            let (_, _, zoe, zoes) = try await world.pair()
            #expect(try await zoes.photo(of: adasNumber) != nil)
            #expect(try await zoes.change(.init(othersPhotos: false)) == .delivered)
            #expect(try await zoes.photo(of: adasNumber) == nil)
            let photo = Data(CircleWorld.photo(of: 759))
            for key in try await zoe.vault.keys(of: .circle).keys {
                #expect(Data(try await zoe.vault.record(key) ?? []).range(of: photo) == nil, "\(key)")
            }
            let before = zoe.transport.sent.count
            try await zoes.synchronize()
            #expect(zoe.transport.sent.dropFirst(before).allSatisfy { !$0.contains("/photos/") })
            #expect(try await zoes.members().map(\.name) == ["Ada Example"])
            #expect(try await zoes.visibility().othersPhotos == false)
            _ = try await zoes.change(.init(othersPhotos: true))
            try await zoes.synchronize()
            #expect(try await zoes.photo(of: adasNumber) == CircleWorld.photo(of: 759))
        }
    }

    @Test("CI57: photos that are being fetched while the user decides against them are not stored")
    func othersPhotosMeanwhile() async throws {
        try await CircleWorld.with { world in
            let (_, _, zoe, zoes) = try await world.pair()
            try await zoes.change(.init(othersPhotos: false))
            try await zoes.change(.init(othersPhotos: true))
            zoe.transport.intercept { request, pass in
                let answer = try await pass()
                if request.contains("/photos/") { try await zoes.change(.init(othersPhotos: false)) }
                return answer
            }
            try await zoes.synchronize()
            zoe.transport.intercept(with: nil)
            #expect(try await zoes.visibility().othersPhotos == false)
            let keys = try await zoe.vault.keys(of: .circle).keys
            #expect(!keys.contains { $0.components.contains("photos") })
        }
    }

    @Test("CI57: keys that say something else about waves, after a member was removed, are those of a new seed")
    func afterRemoval() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let seed = try await ada.seed()?.reveal()
            try await world.circle.remove(65_535)
            #expect(try await adas.change(.init(waves: false)) == .delivered)
            #expect(try await ada.seed()?.reveal() != seed)
        }
    }

    @Test("CI57: what is so already is no change, unless another device has decided otherwise")
    func same() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            #expect(try await adas.wouldChangeNothing(.init(othersPhotos: true)) == true)
            #expect(try await adas.wouldChangeNothing(.init(photo: true, batch: true, waves: true)) == true)
            #expect(try await adas.wouldChangeNothing(.init(photo: true, waves: false)) == false)
            let bearer = try await adas.state().bearer
            let answer = try await world.wire.send(
                "PUT", "/rc/v1/me/settings",
                headers: ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"],
                body: #"{"photo":false}"#)
            #expect(answer.status == 200)
            #expect(try await adas.visibility().photo == true, "this device has yet to hear of it")
            #expect(try await adas.wouldChangeNothing(.init(photo: true)) == false)
            #expect(try await adas.wouldChangeNothing(.init(photo: false)) == true)
            ada.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            #expect(try await adas.wouldChangeNothing(.init(photo: false)) == nil, "it may be otherwise by now")
            // Then it is told later, and not waited for again.
            let asked = ada.transport.sent.count
            #expect(try await adas.change(.init(photo: false), tellingNow: false) == .pending)
            #expect(ada.transport.sent.count == asked)
            #expect(try await !adas.visibility().isTold)
            ada.transport.fail(nil)
            try await adas.synchronize()
            #expect(try await adas.visibility().isTold)
        }
    }

    @Test("CI57: who takes no waves cannot be waved at, and cannot wave: no answer could come")
    func waves() async throws {
        try await CircleMeeting.with { meeting, world in
            let keys = try #require(await world.circle.members[759]?.keys)
            #expect(try await meeting.adas.change(.init(waves: false)) == .delivered)
            let mine = await #expect(throws: NearbyError.self) { try await meeting.adaWaves() }
            #expect(mine?.description.contains("members cannot wave at you in this circle") == true)
            try await meeting.zoes.synchronize()
            let theirs = await #expect(throws: NearbyError.self) { try await meeting.zoeWaves() }
            #expect(theirs?.description.contains("members cannot wave at Ada") == true)
            // The keys are the same, so that she is recognised all the time.
            #expect(await world.circle.members[759]?.keys?.dayKeys.map(\.key) == keys.dayKeys.map(\.key))
            #expect(try await meeting.zoe.recognizes(meeting.ada, meeting.zoes)?.person == adasNumber)
            #expect(try await meeting.adas.change(.init(waves: true)) == .delivered)
            #expect(try await meeting.adaWaves())
        }
    }

    @Test("CI57: what another device of the member has changed is seen when the server is asked")
    func anotherDevice() async throws {
        try await CircleWorld.with { world in
            let (_, adas, _, _) = try await world.pair()
            #expect(try await adas.refreshVisibility())
            #expect(try await adas.visibility().photo == true)
            _ = try await world.circle.change(759, showsPhoto: false, showsBatch: nil)
            #expect(try await adas.refreshVisibility())
            let visibility = try await adas.visibility()
            #expect(visibility.photo == false && visibility.batch == true)
        }
    }

    @Test("CI57: who joins again after 31 days keeps what was decided, and the server hears of it")
    func joinedAgain() async throws {
        try await CircleWorld.with { world in
            let device = CircleDevice(world)
            let circle = try await device.join()
            _ = try await circle.change(.init(photo: false, waves: false, othersPhotos: false))
            world.time.advance(by: 31 * CircleWorld.day)
            // The server has forgotten it meanwhile.
            _ = try await world.circle.change(759, showsPhoto: true, showsBatch: true)
            let again = try await device.join()
            let visibility = try await again.visibility()
            #expect(visibility.photo == false && !visibility.waves && !visibility.othersPhotos)
            #expect(await world.circle.members[759]?.showsPhoto == false)
            #expect(await world.circle.members[759]?.keys?.terms.waves == false)
        }
    }

    @Test("CI57: joining again on one device does not undo what another device has decided since")
    func joinedOnTwoDevices() async throws {
        try await CircleWorld.with { world in
            let (one, other) = (CircleDevice(world), CircleDevice(world))
            let first = try await one.join()
            #expect(try await first.refreshVisibility())
            let second = try await other.join(replacing: true)
            #expect(try await second.change(.init(photo: false, batch: false)) == .delivered)
            let again = try await one.join(replacing: true)
            #expect(try await again.refreshVisibility())
            let visibility = try await again.visibility()
            #expect(visibility.photo == false && visibility.batch == false)
            let member = await world.circle.members[759]
            #expect(member?.showsPhoto == false && member?.showsBatch == false)
        }
    }

    @Test("CI57: the server answers a change with the own row, and what is as it was is no news for the others")
    func server() async throws {
        try await CircleWorld.with { world in
            let (_, adas, _, _) = try await world.pair()
            let bearer = try await adas.state().bearer
            func put(_ body: String) async throws -> WireClient.Answer {
                let headers = ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"]
                return try await world.wire.send("PUT", "/rc/v1/me/settings", headers: headers, body: body)
            }
            let revision = await world.circle.state.revision
            let same = try await put(#"{"photo":true,"batch":true}"#)
            #expect(same.status == 200 && same.text.contains(#""settings":{"#) && same.text.contains(#""number":759"#))
            #expect(await world.circle.state.revision == revision)
            #expect(try await put(#"{"photo":false}"#).text.contains(#""photo":false"#))
            #expect(await world.circle.state.revision == revision + 1)
        }
    }

    @Test(
        "CI59: what is decided after the sign-in has ended holds, and the server hears of it when the user has joined again",
        arguments: ["hide", "unhide", "pause", "settings"], [true, false])
    func decidedSignedOut(decision: String, isReachable: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            if decision == "unhide" { try await adas.hide(zoesNumber) }
            world.time.advance(by: 31 * CircleWorld.day)
            if !isReachable { ada.transport.fail(.timedOut(host: "circle.example")) }
            switch decision {
            case "hide": #expect(try await adas.hide(zoesNumber).delivery == .signedOut)
            case "unhide": #expect(try await adas.unhide(zoesNumber) == .signedOut)
            case "pause": #expect(try await adas.pause() == .signedOut)
            default:
                #expect(try await adas.wouldChangeNothing(.init(othersPhotos: true)) == nil)
                #expect(try await adas.change(.init(photo: false)) == .signedOut)
            }
            ada.transport.fail(nil)
            _ = try await ada.join()
            let member = try #require(await world.circle.members[759])
            let hidden: Set<UInt32> = decision == "hide" ? [65_535] : []
            #expect(member.hidden == hidden)
            #expect(member.hasKeys == (decision != "pause"))
            #expect(member.showsPhoto == (decision != "settings"))
        }
    }

    @Test("CI59: who joins again is not shown before a server that forgot the member has heard of hides")
    func toldFirst() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            try await adas.hide(zoesNumber)
            #expect(try await adas.change(.init(photo: false)) == .delivered)
            // The server notes that the last sign-in has ended, and lets the member leave 30 days later.
            for _ in 1...61 {
                world.time.advance(by: CircleWorld.day)
                try await world.circle.inTurn { try await $0.cleanIfDue() }
            }
            #expect(await world.circle.count == 0)
            let before = Mutex<CircleMember?>(nil)
            ada.transport.intercept { line, pass in
                if line == "PUT /rc/v1/me/member" {
                    let member = await world.circle.members[759]
                    before.withLock { $0 = member }
                }
                return try await pass()
            }
            _ = try await ada.join()
            let seen = before.withLock { $0 }
            let member = try #require(seen)
            #expect(member.hidden == [65_535] && !member.showsPhoto)
            #expect(await world.circle.members[759]?.hasKeys == true)
        }
    }

    @Test("CI59: who hides from more people than a server takes now joins again, and is shown later")
    func toldInPart() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let numbers = Set<UInt32>(1_001...1_012)
            try await adas.records.changeState { $0.hidden = numbers }
            world.time.advance(by: 61 * CircleWorld.day)
            _ = try await ada.join()
            #expect(await world.circle.members[759]?.hasRow == false)
            world.time.advance(by: CircleWorld.day)
            try await adas.synchronize()
            let member = try #require(await world.circle.members[759])
            #expect(member.hidden == numbers && member.hasKeys)
        }
    }

    @Test("CI59: who decides something on a device whose sign-in another one has ended is told so, and can join again")
    func decidedRejected() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            // Another device has replaced the identity, and signed out.
            let applicant = CircleApplicant(number: 759, name: "Ada Example")
            let other = try await world.circle.admit(applicant, replacingIdentity: true).bearer
            try await world.circle.signOut(other, of: 759)
            #expect(try await adas.hide(zoesNumber).delivery == .signedOut)
            #expect(try await adas.summary().mustJoinAgain)
            _ = try await ada.join()
            #expect(await world.circle.members[759]?.hidden == [65_535])
        }
    }

    @Test("CI49: alerts about who is hidden, and about all members of a circle that the user leaves, are removed")
    func alerts() async throws {
        try await CircleWorld.with { world in
            let (ada, _, _, _) = try await world.pair()
            _ = try await CircleDevice(world).join(as: CircleDevice.quentin)
            let board = Board()
            let environment = CircleEnvironment(
                vault: ada.vault, community: "recurse-center", transport: ada.transport, time: world.time.source,
                alerts: board)
            let circle = try #require(try await JoinedCircle.all(in: environment).first)
            try await circle.synchronize()
            let notices = ShownNotices(in: ada.vault, community: "recurse-center")
            for person in [zoesNumber, try UserNumber(70_000)] {
                try await notices.note(1, of: "desktop", about: person)
            }
            ada.transport.fail(.timedOut(host: "circle.example"))
            try await circle.hide(zoesNumber)
            #expect(board.withdrawn.withLock(\.self) == [[zoesNumber]])
            #expect(try await notices.people(before: .infinity) == [try UserNumber(70_000)])
            _ = try await circle.leave()
            #expect(board.withdrawn.withLock(\.self).last == [try UserNumber(70_000)])
            #expect(try await notices.people(before: .infinity).isEmpty)
        }
    }

    @Test("CI49: a table that cannot be read does not keep the user from leaving, and goes")
    func damagedTable() async throws {
        try await CircleWorld.with { world in
            let vault = DamagedVault()
            let (_, adas) = try await world.settledPair(in: vault)
            vault.damage(adas.records.key("table"))
            #expect(try await adas.leave() == .delivered)
            #expect(try await vault.base.keys(of: .circle).keys.isEmpty)
        }
    }

    @Test("CI58: a phone's scan in the background looks for members who were met, and verified, before the others")
    func expected() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, _) = try await world.pair()
            let quentin = CircleDevice(world)
            _ = try await quentin.join(as: CircleDevice.quentin)
            try await adas.synchronize()
            let log = EncounterLog(in: ada.vault, community: "recurse-center")
            func meet(_ person: UserNumber, _ trust: Trust, ago seconds: Double) async throws {
                let moment = world.now - seconds
                let encounter = Encounter(firstSeen: moment, lastSeen: moment, duration: 0, trust: trust)
                _ = try await log.note(encounter, with: person, wasLogged: false)
            }
            let window = try RollingWindow(at: world.timestamp)
            func sent(_ device: CircleDevice) async throws -> RollingUUID {
                RollingUUID(try #require(try await device.seed()).token(in: window))
            }
            func first() async throws -> RollingUUID? {
                let services = try await KnownPeople(in: ada.environment).expected(at: world.timestamp)
                #expect(services.uuids.count == 4 && services.end > world.timestamp)
                return services.uuids.first
            }
            try await meet(zoesNumber, .unverified, ago: 60)
            try await meet(try UserNumber(70_000), .circle, ago: 86_400)
            #expect(try await first() == (try await sent(quentin)), "any device can send Zoë's number")
            try await meet(zoesNumber, .circle, ago: 3_600)
            #expect(try await first() == (try await sent(zoe)))
        }
    }
}
