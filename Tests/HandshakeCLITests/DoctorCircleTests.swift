#if CommandLine
import Beacons
import Circles
import Foundation
import HTTPTypes
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import HandshakeCLI
@testable import Nearby

@Suite("What doctor says of a circle")
struct DoctorCircleTests {
    private let vault = MemoryVault()
    private let time = 1_767_225_900.0

    /// The user's side of a circle, by a clock that is off.
    private func circle(clockError: Double) async throws -> JoinedCircle {
        let environment = CircleEnvironment(
            vault: vault, community: NearbyCommand.community, transport: QuietCircle(time: time),
            time: TimeSource(now: { [time] in time + clockError }, clock: HurriedClock()), random: { $0.lowerBound })
        let address = "https://circle.example/rc"
        let records = environment.records(of: CircleScope(circleAt: address))
        let keys = MemberKeys()
        if try await records.state() == nil {
            try await records.change { state in
                state = CircleRecords.State(
                    address: address, circle: "Hub", service: "service", number: 759, name: "Ada", batch: "",
                    bearer: "bearer", expires: .max, keys: Data(keys.reveal()))
            }
        }
        return JoinedCircle(records, environment)
    }

    @Test(
        "CI23: doctor says how far the clock is off and what to do; once it is right, how many others are known",
        arguments: [
            (600.0, "600 seconds ahead of"), (3_600, "3600 seconds ahead of"), (-3_600, "3600 seconds behind"),
            (86_400, "86400 seconds ahead of"), (-86_400, "86400 seconds behind"),
        ])
    func clock(error: Double, text: String) async throws {
        await #expect(throws: NearbyError.circle(.clock(seconds: Int64(error)))) {
            try await circle(clockError: error).synchronize()
        }
        let off = try #require(await Doctor.circles(in: vault).first)
        #expect(off.name == "circle Hub" && off.verdict == .limited)
        #expect(
            off.detail
                == "This device's clock is \(text) the circle's. Set the time. Until then nothing is published, others do not recognise you, and you may not recognise them"
        )
        #expect(off.cure == "afterwards: handshake nearby circle sync")
        _ = try await circle(clockError: 0).synchronize()
        let right = try #require(await Doctor.circles(in: vault).first)
        #expect(right.verdict == .works && right.detail == "0 other members are known" && right.cure == nil)
    }
}

/// A circle's server whose user is the only member.
private struct QuietCircle: Transport {
    let time: Double

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let path = request.head.path ?? ""
        let content: [UInt8]
        if path.contains("/v1/members") {
            content = Array(#"{"epoch":1,"cursor":"c","more":false,"members":[],"gone":[]}"#.utf8)
        } else if path.contains("/v1/keys") {
            content = KeyPage(epoch: 1, revision: 1, hasMore: false, cursor: "c", entries: []).bytes
        } else if path.contains("/v1/me/") {
            content = Array(#"{"revision":1,"epoch":1}"#.utf8)
        } else {
            content = Array(#"{"name":"Hub","epoch":1,"time":\#(Int64(time)),"versions":[1]}"#.utf8)
        }
        return ResponseMessage(head: HTTPResponse(status: .ok), content: content)
    }
}
#endif
