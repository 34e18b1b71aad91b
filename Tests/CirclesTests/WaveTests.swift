import Crypto
import Testing

@testable import Circles

/// The vectors are those of the circles dossier, chapter 6.
@Suite("Waves")
struct WaveTests {
    private let day: UInt32 = 20_454
    private let window: UInt32 = 1_963_590
    private let time: UInt64 = 1_767_231_030

    private func secret(_ own: MemberKeys, _ other: MemberKeys, swapped: Bool = false) throws -> WaveSecret {
        let record = try Members.record(other, number: 70_000)
        let isA = own.identity == Members.a.identity
        return try WaveSecret(
            own, record, ownDayKey: isA ? Members.dayKeysA[0] : Members.dayKeyB,
            otherDayKey: isA ? Members.dayKeyB : Members.dayKeysA[0], day: day)
    }

    @Test("CI42: both sides derive the dossier's values and box, and a third member derives others")
    func vectors() throws {
        let (ofA, ofB) = (try secret(Members.a, Members.b), try secret(Members.b, Members.a))
        for secret in [ofA, ofB] {
            #expect(hex(try #require(secret.meeting(in: window))) == "a8669921c73e416f11e0e87d4e78de9d")
            #expect(hex(try #require(secret.meeting(in: window + 1))) == "3e0860fc3b98ae182b8ec75b7196306d")
        }
        let greeting = Greeting(window: window, time: time, text: "Coffee at the long table?")
        let box = try ofA.seal(
            greeting, from: Members.a.identity, nonce: ChaChaPoly.Nonce(data: Array(0x50...0x5B) as [UInt8]))
        #expect(
            hex(box) == """
                505152535455565758595a5bd1a79d033e4b809502212bf34e0f8dbbe265f1c928d2f61d191c13ac37df11a9ded4d14542629f330f5c5bd290\
                7064479ad0903d00006b20b8422bfa2517d64ecdf7d364ab79681edbefebc402507327c7273c6044ed98eabd2baf709ae7f4b1d8ba9d4f98d3\
                43ddae79a276c99f2a5405a2ed18
                """)
        #expect(try ofB.open(box, from: Members.a.identity, at: time) == greeting)
        let third = MemberKeys()
        let stranger = try WaveSecret(
            third, try Members.record(Members.b), ownDayKey: Members.dayKeysA[0], otherDayKey: Members.dayKeyB, day: day
        )
        #expect(stranger.meeting(in: window) != ofA.meeting(in: window))
        #expect(throws: CircleError.sealed) { try stranger.open(box, from: Members.a.identity, at: time) }
    }

    @Test("a window of another day has no value, and a box of another day or sender does not open")
    func otherDays() throws {
        let secret = try secret(Members.a, Members.b)
        #expect(secret.meeting(in: window + 96) == nil && secret.meeting(in: 0) == nil)
        let box = try secret.seal(
            Greeting(window: window, time: time, text: ""), from: Members.a.identity)
        #expect(box.count == 128)
        #expect(throws: CircleError.sealed) { try secret.open(box, from: Members.b.identity, at: time) }
        #expect(throws: CircleError.malformed(.wave)) {
            try secret.seal(Greeting(window: window + 96, time: time, text: ""), from: Members.a.identity)
        }
    }

    @Test("CI45: a box that is changed, old or of the future is refused")
    func refused() throws {
        let (ofA, ofB) = (try secret(Members.a, Members.b), try secret(Members.b, Members.a))
        let box = try ofA.seal(Greeting(window: window, time: time, text: "Hi"), from: Members.a.identity)
        for index in [0, 12, 111, 127] {
            var changed = box
            changed[index] ^= 1
            #expect(throws: CircleError.sealed) { try ofB.open(changed, from: Members.a.identity, at: time) }
        }
        #expect(throws: CircleError.malformed(.wave)) { try ofB.open(box + [0], from: Members.a.identity, at: time) }
        _ = try ofB.open(box, from: Members.a.identity, at: time + 172_800)
        for now in [time + 172_801, time - 172_801, 0, .max] {
            #expect(throws: CircleError.issued) { try ofB.open(box, from: Members.a.identity, at: now) }
        }
    }

    @Test("a text that is too long or steers a terminal is not sent")
    func texts() throws {
        let secret = try secret(Members.a, Members.b)
        for text in [String(repeating: "x", count: 81), "a\u{1B}[2J", "a\u{202E}b"] {
            #expect(throws: CircleError.malformed(.wave)) {
                try secret.seal(Greeting(window: window, time: time, text: text), from: Members.a.identity)
            }
        }
        // As a screen bounds what is typed.
        let mixed = String(repeating: "é\u{1F469}\u{200D}\u{1F467}", count: 9)
        for text in [String(repeating: "x", count: 81), mixed, "a\u{1B}[2J\u{202E}\nb"] {
            let fitting = MemberText.clean(text, limit: WaveSecret.maximumText)
            let box = try secret.seal(Greeting(window: window, time: time, text: fitting), from: Members.a.identity)
            #expect(box.count == 128 && !fitting.isEmpty)
        }
    }
}
