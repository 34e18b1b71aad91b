import Crypto
import Testing

@testable import Circles

/// The vectors are those of the circles dossier, chapter 5.
@Suite("Pairing without a server")
struct PairingTests {
    private let now = Members.issued

    private func key(_ byte: UInt8) throws -> Curve25519.KeyAgreement.PrivateKey {
        try .init(rawRepresentation: [UInt8](repeating: byte, count: 32))
    }

    /// Both sides with the dossier's keys, up to the digits.
    private func fixed(nonceOfB: UInt8 = 0xB2) throws -> (a: PairingSession, b: PairingSession) {
        var a = PairingSession(
            offeringAt: now, key: try key(0x11), nonce: [UInt8](repeating: 0xA1, count: 16), session: Array(0x30...0x3F)
        )
        var (b, join) = try PairingSession.join(
            a.code, at: now, key: try key(0x22), nonce: [UInt8](repeating: nonceOfB, count: 16))
        let reveal = try #require(try a.receive(join, at: now))
        #expect(try b.receive(reveal, at: now) == nil)
        return (a, b)
    }

    /// Two sides that have compared the digits.
    private func fresh() throws -> (a: PairingSession, b: PairingSession) {
        var a = PairingSession(offeringAt: now)
        var (b, join) = try PairingSession.join(try PairingCode(a.code.text), at: now)
        let reveal = try #require(try a.receive(join, at: now))
        _ = try b.receive(reveal, at: now)
        #expect(a.digits == b.digits && a.digits?.count == 6)
        return (a, b)
    }

    private func card(_ keys: MemberKeys, _ name: String, in session: PairingSession) throws -> PairingCard {
        let scope = try #require(session.scope)
        return try PairingCard(
            name: name, member: try Members.record(keys, in: scope),
            keys: try Members.keyRecord(keys, days: 31, isPair: true, in: scope))
    }

    @Test("CI37: the code, the digits, the scope and the sealed box are those of the dossier")
    func vectors() throws {
        let offered = PairingSession(
            offeringAt: now, key: try key(0x11), nonce: [UInt8](repeating: 0xA1, count: 16), session: Array(0x30...0x3F)
        )
        #expect(
            offered.code.text
                == "HANDSHAKE:PAIR1/AEYDCMRTGQ2TMNZYHE5DWPB5HY7XZF4UDTDLINF52FEQI25QJ6DFGLHVICB3HG2MW7GUG22ZNARNARA")
        #expect(try PairingCode(offered.code.text.lowercased() + "\n") == offered.code)
        let (a, b) = try fixed()
        #expect(a.digits == "317944" && b.digits == "317944")
        #expect(a.scope?.bytes == bytes("a11564a2c23ef13b03493630b0315973") && a.scope == b.scope)
        #expect(try fixed(nonceOfB: 0xB3).a.digits == "531886")
        let offer = try PairingMessage(offered.code.offer)
        let join = PairingMessage.join(
            session: offer.session, key: bytes("0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20"),
            nonce: [UInt8](repeating: 0xB2, count: 16))
        let reveal = PairingMessage.reveal(
            session: offer.session, key: bytes("7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13"),
            nonce: [UInt8](repeating: 0xA1, count: 16))
        #expect([offer, join, reveal].map(\.bytes.count) == [49, 65, 65])
        let secrets = try PairingSecrets(
            try key(0x11), bytes("0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20"),
            [offer, join, reveal])
        #expect(hex(secrets.transcript) == "6adc533b01e99a79a1c15a23e8cdd3d0a5316fc8434aafda7015a93bc7764aa1")
        let box = try secrets.seal([0x0B] + Array("Ada Example".utf8), fromOfferer: true)
        #expect(hex(box) == "a734930318d4c4c842417d02d3b5c7b7aaf93d6e590d6a2b06bfa7c8")
    }

    @Test("two people who compare the same digits hold each other's card, in whichever order they confirm")
    func paired() throws {
        for aIsFirst in [true, false] {
            var (a, b) = try fresh()
            func confirmA() throws {
                _ = try b.receive(try a.confirm(with: card(Members.a, "Ada", in: a), at: now), at: now)
            }
            func confirmB() throws {
                _ = try a.receive(try b.confirm(with: card(Members.b, "Ben", in: b), at: now), at: now)
            }
            if aIsFirst { try confirmA() } else { try confirmB() }
            #expect(a.card == nil && b.card == nil)
            if aIsFirst { try confirmB() } else { try confirmA() }
            #expect(a.state == .done && b.state == .done)
            #expect(a.card?.name == "Ben" && b.card?.name == "Ada")
            #expect(a.card?.member.identity == Members.b.identity && b.card?.keys.count == 31)
        }
    }

    @Test("CI38: a key or nonce that was not committed to fails, and no digits are shown")
    func commitment() throws {
        for index in [17, 48, 49, 64] {
            var a = PairingSession(offeringAt: now)
            var (b, join) = try PairingSession.join(a.code, at: now)
            var reveal = try #require(try a.receive(join, at: now))
            reveal[index] ^= 1
            #expect(throws: CircleError.pairing(.commitment)) { try b.receive(reveal, at: now) }
            #expect(b.digits == nil && b.state == .failed(.pairing(.commitment)))
            #expect(throws: CircleError.pairing(.commitment)) { try b.receive(reveal, at: now) }
        }
        #expect(
            "\(CircleError.pairing(.commitment))" == "The codes differ. Another device may be in between. Start again.")
    }

    @Test("a device in between that joins one code and shows another sees two people compare different digits")
    func inBetween() throws {
        var a = PairingSession(offeringAt: now)
        let (_, joinOfMiddle) = try PairingSession.join(a.code, at: now)
        var middle = PairingSession(offeringAt: now)
        var (b, joinOfB) = try PairingSession.join(middle.code, at: now)
        _ = try a.receive(joinOfMiddle, at: now)
        _ = try b.receive(try #require(try middle.receive(joinOfB, at: now)), at: now)
        #expect(a.digits != nil && b.digits != nil && b.digits == middle.digits)
        #expect(a.scope != b.scope)
    }

    @Test("CI39: of a hundred thousand runs with a device in between, the digits agree in three at most")
    func luckyRuns() {
        // The agreements are the same each time, which saves a minute; the nonces, which the digits depend on too, are not.
        let shared = [SymmetricKey(size: .bits256), SymmetricKey(size: .bits256)]
        let (session, key) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 32))
        func digits(_ secret: SymmetricKey) -> String {
            let nonces = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
            return PairingSecrets(
                shared: secret,
                [
                    .offer(session: session, commitment: key),
                    .join(session: session, key: key, nonce: Array(nonces[..<16])),
                    .reveal(session: session, key: key, nonce: Array(nonces[16...])),
                ]
            ).digits
        }
        var drawn: Set<String> = []
        var leading: [Character: Int] = [:]
        let agreed = (0..<100_000).count { _ in
            let (one, other) = (digits(shared[0]), digits(shared[1]))
            drawn.insert(one)
            leading[one.first ?? " ", default: 0] += 1
            return one == other
        }
        #expect(agreed <= 3)
        // Of a million equally likely numbers 95,163 are expected, give or take 70; fewer would be easier to meet.
        #expect(drawn.count > 94_700)
        #expect(leading.count == 10 && leading.values.allSatisfy { (9_400...10_600).contains($0) })
    }

    @Test("CI39: a device in between that answers both sides in time shows them different digits, each time")
    func realRuns() throws {
        var agreed = 0
        for _ in 0..<500 {
            var a = PairingSession(offeringAt: now)
            var (toA, join) = try PairingSession.join(a.code, at: now)
            var toB = PairingSession(offeringAt: now)
            var (b, joinOfB) = try PairingSession.join(toB.code, at: now)
            // It waits for both nonces that it can wait for, before it reveals its own.
            let reveal = try #require(try a.receive(join, at: now))
            _ = try toA.receive(reveal, at: now)
            _ = try b.receive(try #require(try toB.receive(joinOfB, at: now)), at: now)
            #expect(a.digits == toA.digits && b.digits == toB.digits && a.digits?.count == 6)
            if a.digits == b.digits { agreed += 1 }
        }
        #expect(agreed <= 1)
    }

    @Test("CI40: when one side sees other digits, neither stores anything")
    func different() throws {
        var (a, b) = try fresh()
        let confirmed = try a.confirm(with: try card(Members.a, "Ada", in: a), at: now)
        _ = try b.receive(confirmed, at: now)
        let cancel = b.cancel(.differentDigits)
        #expect(throws: CircleError.pairing(.cancelled)) { try a.receive(cancel, at: now) }
        #expect(a.card == nil && b.card == nil)
        #expect(throws: CircleError.self) { try b.confirm(with: try card(Members.b, "Ben", in: b), at: now) }
        #expect(throws: CircleError.self) { try b.receive(confirmed, at: now) }
    }

    @Test("CI41: a state that lasts longer than two minutes ends the pairing, with the dossier's words")
    func expired() throws {
        var a = PairingSession(offeringAt: now)
        let (_, join) = try PairingSession.join(a.code, at: now)
        #expect(throws: CircleError.pairing(.expired)) { try a.receive(join, at: now + 121) }
        #expect(throws: CircleError.pairing(.expired)) { try a.receive(join, at: now) }
        #expect("\(CircleError.pairing(.expired))" == "This code has expired. Show a new one.")
        var (c, _) = try fresh()
        let own = try card(Members.a, "Ada", in: c)
        #expect(throws: CircleError.pairing(.expired)) { try c.confirm(with: own, at: now + 121) }
        var (d, _) = try fresh()
        _ = try d.confirm(with: try card(Members.a, "Ada", in: d), at: now + 120)
    }

    @Test("CI41: after three failures in a row pairing rests for ten minutes, whatever the clock is set to")
    func limit() throws {
        var limit = PairingLimit()
        for _ in 0..<3 {
            try limit.begin(at: now)
            limit.note(success: false, at: now)
        }
        #expect(throws: CircleError.pairing(.paused(600))) { try limit.begin(at: now) }
        #expect(throws: CircleError.pairing(.paused(1))) { try limit.begin(at: now + 599) }
        var later = limit
        try later.begin(at: now + 600)
        var setBack = limit
        try setBack.begin(at: now - 1_000_000)
        var lucky = PairingLimit()
        for success in [false, false, true, false, false] { lucky.note(success: success, at: now) }
        try lucky.begin(at: now)
    }

    @Test(
        "a second M2 or M3 fails, as a message that does not belong to the state does; another session's changes nothing"
    )
    func repeated() throws {
        var a = PairingSession(offeringAt: now)
        var (b, join) = try PairingSession.join(a.code, at: now)
        let (_, other) = try PairingSession.join(PairingSession(offeringAt: now).code, at: now)
        #expect(throws: CircleError.malformed(.pairingMessage)) { try a.receive(other, at: now) }
        let reveal = try #require(try a.receive(join, at: now))
        _ = try b.receive(reveal, at: now)
        #expect(throws: CircleError.pairing(.repeated)) { try a.receive(join, at: now) }
        #expect(throws: CircleError.pairing(.repeated)) { try b.receive(reveal, at: now) }
        var (c, _) = try fresh()
        #expect(throws: CircleError.pairing(.unexpected)) { try c.receive(c.code.offer, at: now) }
    }

    @Test("a card that is changed, of another scope, another time or a weak key is refused, and nothing is stored")
    func badCards() throws {
        var (a, b) = try fresh()
        let sent = try a.confirm(with: try card(Members.a, "Ada", in: a), at: now)
        for index in [17, sent.count - 1] {
            var changed = sent
            changed[index] ^= 1
            var other = b
            #expect(throws: CircleError.sealed) { try other.receive(changed, at: now) }
            #expect(other.card == nil)
        }
        // Ada's clock is seven minutes ahead.
        var (c, d) = try fresh()
        let scope = try #require(c.scope)
        let early = try PairingCard(
            name: "Ada", member: try Members.record(at: now + 420, in: scope),
            keys: try Members.keyRecord(days: 3, isPair: true, in: scope))
        let message = try c.confirm(with: early, at: now)
        #expect(throws: CircleError.pairing(.clocks(420))) { try d.receive(message, at: now) }
        #expect(
            "\(CircleError.pairing(.clocks(420)))" == "The clocks differ by 7 minutes. Set the time, then pair again.")
        var e = PairingSession(offeringAt: now)
        var join = Array(repeating: UInt8(0), count: 65)
        join[0] = 2
        join.replaceSubrange(1..<17, with: e.code.offer[1..<17])
        #expect(throws: CircleError.weakKey) { try e.receive(join, at: now) }
        // A card of another pair.
        let foreign = try card(Members.a, "Ada", in: a)
        #expect(throws: CircleError.otherScope) { try b.confirm(with: try card(Members.b, "Ben", in: c), at: now) }
        #expect(foreign.bytes.count <= 1_400)
    }

    @Test("CI19: a card without keys is refused, and nothing is stored")
    func emptyCard() throws {
        var (a, b) = try fresh()
        let scope = try #require(a.scope)
        let empty = try PairingCard(
            name: "Ada", member: try Members.record(in: scope),
            keys: try Members.keyRecord(days: 0, isPair: true, in: scope))
        _ = try b.confirm(with: try card(Members.b, "Ben", in: b), at: now)
        let message = try a.confirm(with: empty, at: now)
        #expect(throws: CircleError.malformed(.card)) { try b.receive(message, at: now) }
        #expect(b.card == nil && b.state == .failed(.malformed(.card)))
    }

    @Test(
        "a text that is no code is said to be none",
        arguments: [
            "", "HANDSHAKE:PAIR1/", "HANDSHAKE:PAIR2/AEYD", "HANDSHAKE:PAIR1/AEYDCMRT", "https://example.org",
            "HANDSHAKE:PAIR1/AEYDCMRTGQ2TMNZYHE5DWPB5HY7XZF4UDTDLINF52FEQI25QJ6DFGLHVICB3HG2MW7GUG22ZNARNARA.",
            "HANDSHAKE:PAIR1/AEYDCMRTGQ2TMNZYHE5DWPB5HY7XZF4UDTDLINF52FEQI25QJ6DFGLHVICB3HG2MW7GUG22ZNARNARA.AE",
            "HANDSHAKE:PAIR1/AEYDCMRTGQ2TMNZYHE5DWPB5HY7XZF4UDTDLINF52FEQI25QJ6DFGLHVICB3HG2MW7GUG22ZNARNAR1",
            "HANDSHAKE:PAIR1/AIYDCMRTGQ2TMNZYHE5DWPB5HY7XZF4UDTDLINF52FEQI25QJ6DFGLHVICB3HG2MW7GUG22ZNARNARA",
        ])
    func badCodes(_ text: String) {
        #expect(throws: CircleError.malformed(.pairingCode)) { try PairingCode(text) }
        #expect("\(CircleError.malformed(.pairingCode))" == "This is not a pairing code of Handshake.")
    }

    @Test("a code says where its device listens, in both kinds of address")
    func addresses() throws {
        let code = PairingSession(offeringAt: now).code
        for address in [
            PairingCode.Address.ipv4([192, 168, 1, 7], port: 40_000),
            .ipv6([0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1], port: 1),
        ] {
            let read = try PairingCode(code.at(address).text)
            #expect(read.address == address && read.offer == code.offer)
        }
    }

    @Test("messages of any length and content are refused without a trap")
    func hostile() {
        var generator = SystemRandomNumberGenerator()
        for length in 0..<200 {
            for kind in 0...7 as ClosedRange<UInt8> {
                let random = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
                var session = PairingSession(offeringAt: now)
                _ = try? session.receive([kind] + random, at: now)
                _ = try? session.receive([kind] + Array(session.code.offer[1..<17]) + random, at: now)
                _ = try? PairingCard(random, in: Members.scope, at: now)
            }
        }
    }
}
