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

    @Test(
        "CI22: doctor says that a circle's table cannot be read, the page lists other circles, and what is lost is told"
    )
    func unreadableTable() async throws {
        let hub = try await circle(clockError: 0)
        _ = try await hub.synchronize()
        try await vault.replace(hub.records.key("table"), with: Array("{}".utf8))
        let finding = try #require(await Doctor.circles(in: vault).first)
        #expect(finding.verdict == .limited)
        #expect(finding.detail.hasPrefix("The table of Hub on this device cannot be read, so its members are not"))
        let page = CompanionActions(vault: vault, state: CompanionState(), stop: {})
        #expect(try await page.members().text == "[]", "which lists the members of other circles")
        #expect(finding.cure == "without a backup, fetch the members now: handshake nearby circle sync")
        #expect(try await CircleText.json(hub.summary()).text.contains(#""members":null"#))
        let problem = NearbyError.circle(.unreadableTable(circle: "Hub"))
        #expect(problem.message.hasSuffix("first. Otherwise fetch the members now: handshake nearby circle sync"))
        await #expect(throws: problem, "who is waved at may be in the table") {
            try await page.perform(["do": .string("wave"), "person": .number("36")])
        }
        let lost = NearbyError.circle(.pinsLost(circle: "Hub"))
        await #expect(throws: lost) { try await hub.synchronize() }
        let others = NearbyError.circle(.wave("number 36 is in none of your circles"))
        await #expect(throws: others) {
            try await page.perform(["do": .string("wave"), "person": .number("36")])
        }
        let advice = "who they are now. Ask people in person, and pair with them: handshake nearby pair"
        #expect(lost.message.hasSuffix(advice))
    }

    @Test("CI22: where identities are lost, doctor says to pair, and not to synchronise, and until when it says so")
    func lostIdentities() throws {
        let lost = CircleProblem.pinsLost(circle: "Hub")
        func cure(_ problem: CircleProblem?, _ trouble: String) throws -> String {
            Doctor.cure(
                of: JoinedCircle.Summary(
                    address: "https://circle.example/rc", circle: "Hub", number: try UserNumber(759), name: "Ada",
                    isPaused: false, expires: 0, members: 1, nextSync: 0, tableProblem: problem, trouble: trouble))
        }
        let pair = "pair with people whom you meet: handshake nearby pair. This note ends after a week"
        let sync = "afterwards: handshake nearby circle sync"
        #expect(try cure(lost, "\(lost)") == pair)
        #expect(try cure(lost, "\(lost). \(CircleProblem.clock(seconds: 600))") == "\(pair). For the rest, \(sync)")
        #expect(try cure(nil, "\(CircleProblem.clock(seconds: 600))") == sync)
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
