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
