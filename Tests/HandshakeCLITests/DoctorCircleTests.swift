#if CommandLine
import ArgumentParser
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
        let trouble =
            "This device's clock is \(text) the circle's. Set the time. Until then nothing is published, others do not recognise you, and you may not recognise them"
        #expect(off.detail == "\(trouble). Others cannot notice you: your keys are not published")
        #expect(off.cure == "afterwards: handshake nearby circle sync")
        _ = try await circle(clockError: 0).synchronize()
        let present = TimeSource(now: { [time] in time }, clock: HurriedClock())
        let right = try #require(await Doctor.circles(in: vault, time: present).first)
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

    @Test(
        "CI59: doctor says that a sign-in is about to end, or has ended, and since when others cannot notice the user")
    func endedSignIn() async throws {
        let hub = try await circle(clockError: 0)
        _ = try await hub.synchronize()
        let (today, day, expires): (UInt32, Double, Double) = (20_454, 86_400, time + 30 * 86_400)
        func finding(after days: Double) async throws -> Doctor.Finding {
            let now = time + days * day
            return try #require(
                await Doctor.circles(in: vault, time: TimeSource(now: { now }, clock: HurriedClock())).first)
        }
        func end(of last: UInt32) -> String { Moment.text(Double(last + 1) * day) }
        try await hub.records.changeState { $0.expires = Int64(expires) }
        let begun = try await finding(after: 0)
        #expect(begun.verdict == .works && begun.cure == nil)
        try await hub.records.changeState { $0.publishedUntil = today + 28 }
        let soon = try await finding(after: 26)
        let join = "sign in again: handshake nearby circle join https://circle.example/rc"
        #expect(
            soon.detail
                == "The sign-in ends on \(Moment.text(expires)). Within four days of that others cannot notice you")
        #expect(soon.verdict == .limited && soon.cure == join)
        try await hub.records.changeState { $0.publishedUntil = today + 32 }
        let over = try await finding(after: 31)
        #expect(
            over.detail
                == "The sign-in has ended. Others can notice you until your published keys end on \(end(of: today + 32)) at the latest"
        )
        #expect(over.cure == join)
        let silent = try await finding(after: 35)
        #expect(
            silent.detail
                == "The sign-in has ended. Others cannot notice you since your keys ended on \(end(of: today + 32))")
        #expect(silent.verdict == .limited && silent.cure == join)
        try await hub.records.changeState { $0.isPaused = true }
        #expect(try await finding(after: 35).detail == "The sign-in has ended")
        // A network that is away.
        try await hub.records.changeState { state in
            (state.isPaused, state.expires, state.trouble) = (false, .max, "No network")
        }
        let offline = try await finding(after: 31)
        #expect(offline.detail == "No network. Your published keys end on \(end(of: today + 32))")
        #expect(offline.cure == "afterwards: handshake nearby circle sync")
    }

    @Test("CI59: doctor says that others cannot notice the user where the keys of a new seed are not published")
    func unpublished() async throws {
        let hub = try await circle(clockError: 0)
        _ = try await hub.synchronize()
        let present = TimeSource(now: { [time] in time }, clock: HurriedClock())
        let fault = "Others cannot notice you: your keys are not published"
        // As after a resume, or a hide, without a network.
        try await hub.records.changeState { $0.publishedUntil = 0 }
        let silent = try #require(await Doctor.circles(in: vault, time: present).first)
        #expect(silent.verdict == .limited && silent.detail == fault)
        #expect(silent.cure == "publish them now: handshake nearby circle sync")
        try await hub.records.changeState { $0.trouble = "No network" }
        let offline = try #require(await Doctor.circles(in: vault, time: present).first)
        #expect(offline.detail == "No network. \(fault)")
        #expect(offline.cure == "afterwards: handshake nearby circle sync")
        try await hub.records.changeState { ($0.isPaused, $0.trouble) = (true, nil) }
        let paused = try #require(await Doctor.circles(in: vault, time: present).first)
        #expect(paused.verdict == .works)
    }

    @Test("CI59: why nothing is sent names the circle whose keys have ended, before a pause elsewhere")
    func silence() async throws {
        let hub = try await circle(clockError: 0)
        _ = try await hub.synchronize()
        let state = try #require(try await hub.records.state())
        let address = "https://circle.example/second"
        let second = CircleRecords(
            in: vault, community: NearbyCommand.community, scope: CircleScope(circleAt: address))
        try await second.change { stored in
            var other = state
            (other.address, other.circle, other.hasTable) = (address, "Second", nil)
            stored = other
        }
        let later = time + 35 * 86_400
        let people = try await KnownPeople(
            in: CircleEnvironment(
                vault: vault, community: NearbyCommand.community,
                time: TimeSource(now: { later }, clock: HurriedClock())))
        #expect(people.broadcasts == nil)
        let rolling = try NearbySending.parse(["--advertise", "rolling"])
        guard case .keysEnded(let sentence) = NearbySession.silence(of: people, rolling) else {
            Issue.record("no word of the keys")
            return
        }
        #expect(sentence.hasPrefix("Since ") && sentence.contains("others in Hub cannot notice you"))
        #expect(sentence.contains("press Fetch the table under Circles. Since "), "\(sentence)")
    }

    @Test("a wave on the page at a member whom the user has forgotten says so")
    func forgottenMember() async throws {
        let hub = try await circle(clockError: 0)
        try await hub.records.changeState { $0.blocked = [36] }
        let page = CompanionActions(vault: vault, state: CompanionState(), stop: {})
        let forgotten = NearbyError.circle(.forgottenMember(try UserNumber(36), circle: "Hub"))
        await #expect(throws: forgotten) {
            try await page.perform(["do": .string("wave"), "person": .number("36")])
        }
    }

    private func cure(
        _ problem: CircleProblem?, _ trouble: String, isOver: Bool = false, isSilent: Bool = false
    ) throws -> String {
        Doctor.cure(
            of: JoinedCircle.Summary(
                address: "https://circle.example/rc", circle: "Hub", number: try UserNumber(759), name: "Ada",
                isPaused: false, expires: 0, mustJoinAgain: isOver, keysEnd: nil, isSilent: isSilent, members: 1,
                nextSync: 0, tableProblem: problem, trouble: trouble))
    }

    @Test("CI59: doctor's cure works also where a sign-in or the keys have ended and something is wrong with the table")
    func cures() throws {
        let join = "sign in again: handshake nearby circle join https://circle.example/rc"
        let unreadable = CircleProblem.unreadableTable(circle: "Hub")
        #expect(try cure(unreadable, "\(unreadable)", isOver: true) == "without a backup, \(join)")
        let lost = CircleProblem.pinsLost(circle: "Hub")
        let pair = "pair with people whom you meet: handshake nearby pair. This note ends after a week"
        #expect(try cure(lost, "\(lost)", isOver: true) == "\(pair). For the rest, \(join)")
        let sync = "afterwards: handshake nearby circle sync"
        #expect(try cure(lost, "\(lost)", isSilent: true) == "\(pair). For the rest, \(sync)")
    }

    @Test("CI22: where identities are lost, doctor says to pair, and not to synchronise, and until when it says so")
    func lostIdentities() throws {
        let lost = CircleProblem.pinsLost(circle: "Hub")
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
            content = Array(#"{"revision":1,"epoch":1,"hidden":[]}"#.utf8)
        } else {
            content = Array(#"{"name":"Hub","epoch":1,"time":\#(Int64(time)),"versions":[1]}"#.utf8)
        }
        return ResponseMessage(head: HTTPResponse(status: .ok), content: content)
    }
}
#endif
