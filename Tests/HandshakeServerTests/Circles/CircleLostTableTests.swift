import Beacons
import Circles
import Foundation
import HTTPTypes
import Handshake
import Nearby
import OAuth
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Lost tables of a circle", .heavy)
struct CircleLostTableTests {
    private let lost = NearbyError.circle(.pinsLost(circle: "Recurse Center"))

    @Test(
        "CI22: who is forgotten while a lost table is fetched is not in it, the others are, and the loss is told",
        arguments: [true, false])
    func forgottenMeanwhile(isForgotten: Bool) async throws {
        try await CircleWorld.with { world in
            let vault = DamagedVault()
            let (ada, adas) = try await world.settledPair(in: vault)
            _ = try await CircleDevice(world).join(as: CircleDevice.quentin)
            try await adas.synchronize()
            let (zoe, quentin) = try (UserNumber(65_535), UserNumber(70_000))
            vault.damage(adas.records.key("table"))
            ada.transport.intercept { line, pass in
                if line.hasPrefix("GET /rc/v1/keys") {
                    let stored = StoredPeople(in: vault, community: "recurse-center")
                    if isForgotten {
                        _ = try await stored.forget(zoe)
                    } else {
                        // Another process finds that the members have expired.
                        _ = try await stored.expire(at: world.now + 31 * CircleWorld.day)
                    }
                }
                return try await pass()
            }
            await #expect(throws: lost) { try await adas.synchronize() }
            let expected: Set<UserNumber> = isForgotten ? [quentin] : [zoe, quentin]
            #expect(Set(try await adas.members().map(\.person)) == expected)
            #expect(try await adas.photo(of: quentin) != nil)
            #expect(try await (adas.photo(of: zoe) == nil) == isForgotten)
        }
    }

    @Test("CI22: who is forgotten while a table that can be read is fetched is not in it")
    func forgottenDuringChange() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            ada.transport.intercept { line, pass in
                if line.hasPrefix("GET /rc/v1/keys") {
                    _ = try await StoredPeople(in: ada.vault, community: "recurse-center").forget(zoe)
                }
                return try await pass()
            }
            #expect(try await adas.synchronize() == 0)
            #expect(try await adas.members().isEmpty)
        }
    }

    @Test(
        "CI22: lost pins are told once, also when the synchronisation is cancelled, fails later, or belongs to joining",
        arguments: ["cancelled", "failed", "joined"])
    func toldLater(ending: String) async throws {
        try await CircleWorld.with { world in
            let vault = DamagedVault()
            let (ada, adas) = try await world.settledPair(in: vault)
            vault.damage(adas.records.key("table"))
            switch ending {
            case "cancelled":
                ada.transport.intercept { line, pass in
                    if line.contains("/v1/photos/") { throw CancellationError() }
                    return try await pass()
                }
                await #expect(throws: CancellationError.self) { try await adas.synchronize() }
            case "failed":
                ada.transport.intercept { line, pass in
                    var answer = try await pass()
                    if line.contains("/v1/photos/") { answer.head.status = .internalServerError }
                    return answer
                }
                await #expect(throws: lost) { try await adas.synchronize() }
                #expect(try await adas.state().trouble?.contains("status 500") == true)
            default: _ = try await ada.join(replacing: true)
            }
            ada.transport.intercept(with: nil)
            if ending != "failed" { await #expect(throws: lost) { try await adas.synchronize() } }
            #expect(try await adas.synchronize() == 1, "it is told once")
        }
    }

    @Test("CI22: of a table that cannot be stored again the error says why, and the loss is told once it is stored")
    func unstored() async throws {
        try await CircleWorld.with { world in
            let vault = DamagedVault()
            let (_, adas) = try await world.settledPair(in: vault)
            vault.damage(adas.records.key("table"))
            vault.fail(by: .full)
            for _ in 0..<2 {
                await #expect(throws: NearbyError.vault(DamagedVault.outage)) { try await adas.synchronize() }
            }
            vault.fail(by: nil)
            await #expect(throws: lost) { try await adas.synchronize() }
            #expect(try await adas.synchronize() == 1)
        }
    }

    @Test("CI22: where forgetting a person ends before an unreadable table's parts are removed, the loss is told")
    func forgottenHalf() async throws {
        try await CircleWorld.with { world in
            let vault = DamagedVault()
            let (_, adas) = try await world.settledPair(in: vault)
            // As in a version that did not note that a table is stored.
            try await adas.records.changeState { $0.hasTable = nil }
            vault.damage(adas.records.key("table"))
            vault.fail(by: .unlisted)
            await #expect(throws: DamagedVault.outage) { _ = try await adas.records.forget(try UserNumber(70_000)) }
            vault.fail(by: nil)
            await #expect(throws: lost) { try await adas.synchronize() }
        }
    }

    @Test("CI22: a member's photo whose digest is none of SHA-256 is not noted, and the table stays with its pins")
    func longDigest() async throws {
        try await CircleWorld.with { world in
            let (_, _, zoe, zoes) = try await world.pair()
            let row = try #require(try await zoes.records.table().rows[759])
            #expect(row.photoDigest?.count == 32)
            let member = Base64URL.encode(Array(row.identity))
            for length in [31, 33, 40_000] {
                let digest = Base64URL.encode([UInt8](repeating: 1, count: length))
                let photo = #"{"pack":"00","sha256":"\#(digest)"}"#
                let shown = #"{"number":759,"name":"Ada Example","member":"\#(member)","photo":\#(photo)}"#
                let page = #"{"epoch":1,"cursor":"page","more":false,"members":[\#(shown)],"gone":[]}"#
                zoe.transport.replace(with: page) { $0.hasPrefix("GET /rc/v1/members") }
                try await zoes.synchronize()
                let known = try #require(try await zoes.records.table().rows[759])
                #expect(known.photoDigest == nil && known.photoPack == "00" && known.identity == row.identity)
            }
        }
    }
}
