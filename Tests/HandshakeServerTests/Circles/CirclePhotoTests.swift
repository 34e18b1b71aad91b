import Beacons
import Circles
import Foundation
import Handshake
import Logging
import OAuth
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Photos of members", .heavy)
struct CirclePhotoTests {
    /// A photo of so many bytes for Ada, and a short one for the others.
    private static func photos(_ count: Int) -> @Sendable (Int64) -> [UInt8] {
        { $0 == 759 ? Array(repeating: 0xFF, count: count) : CircleWorld.photo(of: $0) }
    }

    private func settings(_ world: CircleWorld, _ device: CircleDevice, _ body: String) async throws
        -> WireClient.Answer
    {
        let records = try #require(try await CircleRecords.all(in: device.vault, community: "recurse-center").first)
        let bearer = try #require(try await records.state()?.bearer)
        let headers = ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"]
        return try await world.wire.send("PUT", "/rc/v1/me/settings", headers: headers, body: body)
    }

    @Test("a photo of 4,097 bytes is left out: the log counts such members, and who wants to show it gets 422")
    func tooLarge() async throws {
        let lines = LogLines(.warning)
        let vault = MemoryVault()
        try await CircleWorld.with(vault: vault, photo: Self.photos(4_097), log: lines.logger) { world in
            let (ada, _, zoe, zoes) = try await world.pair()
            #expect(try await zoes.members().map(\.name) == ["Ada Example"])
            #expect(try await zoes.photo(of: try UserNumber(759)) == nil)
            #expect(lines.all.count == 1)
            #expect(lines.all.allSatisfy { $0.contains("of 1 members") && !$0.contains("Ada") && !$0.contains("759") })
            let answer = try await settings(world, ada, #"{"photo":true}"#)
            #expect(answer.status == 422 && answer.string("code") == "photo_too_large")
            #expect(answer.string("message")?.contains("4096 bytes") == true)
            #expect(try await settings(world, ada, #"{"photo":false,"batch":true}"#).status == 200)
            #expect(try await settings(world, zoe, #"{"photo":true}"#).status == 200)
            // It is still known after a start.
            let again = try await MemberCircle(
                named: "Recurse Center", at: try PublicAddress(CircleWorld.address), in: vault)
            #expect(await again.members[759]?.hasLargePhoto == true)
            #expect(await again.members[65_535]?.hasLargePhoto == false)
        }
    }

    @Test("a photo of 4,096 bytes is shown, and nothing is logged")
    func largest() async throws {
        let lines = LogLines(.warning)
        try await CircleWorld.with(photo: Self.photos(CircleApplicant.maximumPhotoSize), log: lines.logger) { world in
            let (ada, _, _, zoes) = try await world.pair()
            #expect(try await zoes.photo(of: try UserNumber(759))?.count == 4_096)
            #expect(try await settings(world, ada, #"{"photo":true}"#).status == 200)
            #expect(lines.all.isEmpty)
        }
    }

    @Test("the page on which a member joins says that the photo is left out")
    func page() async throws {
        try await CircleWorld.with(photo: Self.photos(5_000)) { world in
            let joining = try await CircleJoining.begin(
                at: CircleWorld.address, in: CircleDevice(world).environment)
            let target = String(joining.page.dropFirst("https://circle.example".count))
            let asked = try await CircleBrowser(world).approve(target, as: "ada@example.test")
            #expect(asked.text.contains("Your photo has more than 4096 bytes: the circle leaves it out."))
            #expect(!asked.text.contains(", your photo and"))
        }
    }

    /// Whether a device has a photo of Ada, in whatever record.
    private func hasPhoto(_ device: CircleDevice) async throws -> Bool {
        let photo = Data(CircleWorld.photo(of: 759))
        for key in try await device.vault.keys(of: .circle).keys {
            if Data(try await device.vault.record(key) ?? []).range(of: photo) != nil { return true }
        }
        return false
    }

    @Test("the photo of who leaves, or shows none any more, goes from the devices of others", arguments: [true, false])
    func gone(isLeaving: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            #expect(try await hasPhoto(zoe))
            if isLeaving {
                #expect(try await adas.leave() == .delivered)
            } else {
                #expect(try await settings(world, ada, #"{"photo":false}"#).status == 200)
            }
            try await zoes.synchronize()
            #expect(try await !hasPhoto(zoe))
        }
    }

    @Test("the photo of who is no member goes from a pack that others share, also where the pack has not changed")
    func sharedPack() async throws {
        try await CircleWorld.with { world in
            let (_, _, zoe, zoes) = try await world.pair()
            let index = PhotoPack.index(of: 759)
            let (tag, pack) = try #require(try await zoes.records.pack(index))
            let more = pack.photos.merging([5: [1, 2, 3]]) { $1 }
            try await zoes.records.replacePack(index, tag: tag, PhotoPack(more))
            try await zoes.synchronize()
            #expect(try await zoes.records.pack(index)?.pack == pack)
            #expect(try await hasPhoto(zoe))
        }
    }

    @Test("CI27: all packs of photos are asked about when a row of any member has come, and none otherwise")
    func asked() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let quentin = CircleDevice(world)
            let number = try #require(try await quentin.join(as: CircleDevice.quentin).records.state()?.number)
            try await zoes.synchronize()
            let packs = Set([PhotoPack.index(of: 759), PhotoPack.index(of: number)]).count
            func asked() -> Int { zoe.transport.sent.count { $0.contains("/v1/photos/") } }
            var before = asked()
            // New keys are no reason.
            world.time.advance(by: 3 * CircleWorld.day)
            try await adas.synchronize()
            try await zoes.synchronize()
            try await zoes.synchronize()
            #expect(asked() == before)
            // Any change of a row is one, for all packs: the server learns nothing from which are asked about.
            #expect(try await settings(world, ada, #"{"batch":false}"#).status == 200)
            try await zoes.synchronize()
            #expect(asked() == before + packs)
            before = asked()
            try await zoes.synchronize()
            #expect(asked() == before)
            // A photo that is missing on this device is fetched.
            try await zoes.records.removePacks(except: [])
            try await zoes.synchronize()
            #expect(asked() == before + packs)
            #expect(try await hasPhoto(zoe))
        }
    }

    @Test("CI27: a photo of an earlier row is missing, and asked about again")
    func changed() async throws {
        try await CircleWorld.with { world in
            let (_, _, zoe, zoes) = try await world.pair()
            let index = PhotoPack.index(of: 759)
            let tag = try #require(try await zoes.records.pack(index)).tag
            try await zoes.records.replacePack(index, tag: tag, PhotoPack([759: [1, 2, 3]]))
            #expect(try await !hasPhoto(zoe))
            try await zoes.synchronize()
            #expect(try await hasPhoto(zoe))
        }
    }

    @Test("who is hidden and shown again has the photo again")
    func unhidden() async throws {
        try await CircleWorld.with { world in
            let (_, _, zoe, zoes) = try await world.pair()
            try await zoes.hide(try UserNumber(759))
            #expect(try await !hasPhoto(zoe))
            try await zoes.unhide(try UserNumber(759))
            try await zoes.synchronize()
            #expect(try await zoes.photo(of: try UserNumber(759)) == CircleWorld.photo(of: 759))
        }
    }
}
