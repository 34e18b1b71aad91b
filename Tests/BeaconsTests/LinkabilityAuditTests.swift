import Beacons
import Testing

@Suite("What links two identifiers")
struct LinkabilityAuditTests {
    private let seed: RollingSeed
    /// That of another circle.
    private let other: RollingSeed
    private let first = RollingWindow(number: 1_963_584)

    init() throws {
        seed = try RollingSeed(revealed: Array(0...31))
        other = try RollingSeed(revealed: Array(0x80...0x9F))
    }

    /// What a term's packets are like.
    private struct Sender {
        /// Non-resolvable addresses: the first two bits are 0.
        var address: (Int) -> UInt64 = { 0x2C00_0000_0000 + UInt64($0) }
        var kind: DeviceAddress.Kind?
        var data: (RollingToken) throws -> [AdvertisingStructure] = { [.service(RollingUUID($0))] }
        /// Seconds from the end of a term to its last packet.
        var silence = 1.0
        var delay = 0
    }

    private func audit(terms: Int, _ change: (inout Sender) -> Void = { _ in }) throws -> LinkabilityAudit {
        var sender = Sender()
        change(&sender)
        var audit = LinkabilityAudit(of: [.init(seed, isSent: true)])
        try send(seed, terms: terms, sender, to: &audit)
        return audit
    }

    /// Lets an audit hear the terms of one scope.
    private func send(
        _ seed: RollingSeed, terms: Int, _ sender: Sender, to audit: inout LinkabilityAudit
    ) throws {
        for index in 0..<terms {
            let window = RollingWindow(number: first.number + UInt32(index))
            let next = RollingWindow(number: window.number + 1)
            let begin = seed.change(to: window)
            let end = seed.change(to: next).advanced(by: .milliseconds(Int64(-sender.silence * 1_000)))
            let data = try AdvertisingData(try sender.data(seed.token(in: window)), limit: .extended)
            for time in [begin, begin.advanced(by: .seconds(300)), end] {
                audit.receive(
                    Advertisement(
                        time: time.advanced(by: .seconds(sender.delay)),
                        address: DeviceAddress(truncating: sender.address(index)), addressKind: sender.kind,
                        rssi: RSSI(-40), data: data))
            }
        }
    }

    /// What is heard of two circles.
    private func audit(
        of terms: (Int, Int), _ change: (inout Sender) -> Void = { _ in }
    ) throws -> LinkabilityAudit {
        var audit = LinkabilityAudit(of: [.init(seed, isSent: true), .init(other, isSent: true)])
        try send(seed, terms: terms.0, Sender(), to: &audit)
        var sender = Sender(address: { 0x2D00_0000_0000 + UInt64($0) })
        change(&sender)
        try send(other, terms: terms.1, sender, to: &audit)
        return audit
    }

    private func rules(_ audit: LinkabilityAudit) -> [LinkabilityAudit.Rule] { audit.report().findings.map(\.rule) }

    @Test("CI12: eight clean terms are clean, two are too few, and other senders do not count")
    func clean() throws {
        let audit = try audit(terms: 8)
        #expect(audit.report().verdict == .clean && audit.report().findings.isEmpty && audit.termCounts == [8])
        #expect(try self.audit(terms: 2).report().verdict == .tooShort)
        var foreign = LinkabilityAudit(of: [.init(try RollingSeed(revealed: Array(1...32)), isSent: true)])
        for time in 0..<10 {
            foreign.receive(
                Advertisement(
                    time: first.start.advanced(by: .seconds(time * 900)), address: nil, rssi: nil,
                    data: try AdvertisingData([.service(RollingUUID(seed.token(in: first)))])))
        }
        #expect(foreign.report().verdict == .tooShort && foreign.termCounts == [0])
    }

    @Test("two circles of eight clean terms each are clean, and two terms or none of one of them are too few")
    func twoScopes() throws {
        let audit = try audit(of: (8, 8))
        #expect(audit.report().verdict == .clean && audit.termCounts == [8, 8])
        #expect(try self.audit(of: (8, 2)).report().verdict == .tooShort)
        let unheard = try self.audit(of: (8, 0))
        #expect(unheard.report().verdict == .tooShort)
        #expect(unheard.termCounts == [8, 0])
    }

    @Test("a circle that is paused need not be heard; when it is, two terms of it are too few")
    func silentScope() throws {
        var audit = LinkabilityAudit(of: [.init(other, isSent: false), .init(seed, isSent: true)])
        #expect(audit.report().verdict == .tooShort)
        try send(seed, terms: 3, Sender(), to: &audit)
        #expect(audit.report().verdict == .clean && audit.termCounts == [0, 3])
        try send(other, terms: 2, Sender(address: { 0x2D00_0000_0000 + UInt64($0) }), to: &audit)
        #expect(audit.report().verdict == .tooShort && audit.termCounts == [2, 3])
        #expect(LinkabilityAudit(of: [.init(seed, isSent: false)]).report().verdict == .tooShort)
    }

    @Test("CI55, L9: an address that two circles share, also in different terms, links them")
    func addressOfTwoScopes() throws {
        let shared: (inout Sender) -> Void = { $0.address = { 0x2C00_0000_0000 + UInt64($0) } }
        #expect(rules(try audit(of: (3, 3), shared)) == [.addressOfTwoScopes])
        let later: (inout Sender) -> Void = {
            $0.address = { [0x2D00_0000_0000, 0x2D00_0000_0001, 0x2C00_0000_0000][$0] }
        }
        #expect(rules(try audit(of: (3, 3), later)) == [.addressOfTwoScopes])
    }

    @Test("CI55: what links the terms of one circle is found beside another circle that is clean")
    func linkWithinOne() throws {
        #expect(rules(try audit(of: (3, 3)) { $0.address = { _ in 0x2D00_0000_0001 } }) == [.addressInTwoTerms])
        #expect(rules(try audit(of: (3, 3)) { $0.delay = 10 }).contains(.outsideTerm))
        #expect(rules(try audit(of: (3, 3)) { $0.silence = 0 }) == [.noSilence])
    }

    @Test("with a phone's flags, and where addresses are not told, eight terms are clean")
    func phone() throws {
        let audit = try audit(terms: 8) { $0.data = { [.flags(0x1A), .service(RollingUUID($0))] } }
        #expect(audit.report().verdict == .clean)
    }

    @Test("CI11, L1: an address in two terms")
    func addressInTwoTerms() throws {
        #expect(rules(try audit(terms: 2) { $0.address = { _ in 0x2C00_0000_0001 } }) == [.addressInTwoTerms])
        let text = try audit(terms: 3) { $0.address = { _ in 0x2C00_0000_0001 } }.report().findings.first?.text ?? ""
        #expect(text.contains("2C:00:00:00:00:01") && text.contains("1963584"))
    }

    @Test("L2: one identifier under two addresses")
    func twoAddresses() throws {
        var audit = try audit(terms: 3)
        audit.receive(
            Advertisement(
                time: first.start.advanced(by: .seconds(100)), address: DeviceAddress(truncating: 0x2C00_0000_00FF),
                rssi: nil, data: try AdvertisingData([.service(RollingUUID(seed.token(in: first)))])))
        #expect(rules(audit) == [.identifierUnderTwoAddresses])
    }

    @Test(
        "CI13, L3: the device's own address, and one that stays until the device starts again",
        arguments: [
            (0xC000_0000_0000, nil), (0x8000_0000_0000, nil), (0x001A_7D00_0000, .public), (0xF000_0000_0000, .random),
        ] as [(UInt64, DeviceAddress.Kind?)])
    func lastingAddress(address: UInt64, kind: DeviceAddress.Kind?) throws {
        let audit = try audit(terms: 3) {
            $0.address = { address + UInt64($0) }
            $0.kind = kind
        }
        #expect(rules(audit) == [.lastingAddress])
    }

    @Test("CI13, L5: a name or a power beside the identifier")
    func extraStructure() throws {
        let name = try AdvertisingStructure(type: .completeName, value: Array("Ada's phone".utf8))
        #expect(rules(try audit(terms: 3) { $0.data = { [.service(RollingUUID($0)), name] } }) == [.extraStructure])
        let power = try AdvertisingStructure(type: .transmitPower, value: [0])
        let audit = try audit(terms: 8) { $0.data = { [.service(RollingUUID($0)), power] } }
        #expect(rules(audit) == [.constantBit, .extraStructure])
    }

    @Test("CI13, L5, L6: a name or a constant beacon in a packet of its own, under an address that has an identifier")
    func otherPackets() throws {
        let name = try AdvertisingStructure(type: .completeName, value: Array("Ada's phone".utf8))
        let beacon = IBeacon(uuid: .secretHandshake, major: 1, minor: 759).structure
        let flags = try AdvertisingStructure(type: .flags, value: [6])
        let rows: [([AdvertisingStructure], [LinkabilityAudit.Rule])] = [
            ([name], [.extraStructure]), ([beacon], [.otherForm]), ([flags], []), ([], []),
        ]
        for (data, expected) in rows {
            for isBefore in [true, false] {
                var audit = LinkabilityAudit(of: [.init(seed, isSent: true)])
                func receive(_ address: UInt64, _ structures: [AdvertisingStructure]) throws {
                    audit.receive(
                        Advertisement(
                            time: seed.change(to: first).advanced(by: .seconds(1)),
                            address: DeviceAddress(truncating: address), rssi: nil,
                            data: try AdvertisingData(structures)))
                }
                let identifier = [AdvertisingStructure.service(RollingUUID(seed.token(in: first)))]
                if isBefore { try receive(0x1234_5678_0001, data) }
                try receive(0x1234_5678_0001, identifier)
                if !isBefore { try receive(0x1234_5678_0001, data) }
                // Of another address, and of more than are remembered.
                for other in 0..<3_000 as Range<UInt64> { try receive(0x1234_0000_0000 + other, [name]) }
                #expect(rules(audit) == expected, "\(expected)")
            }
        }
    }

    @Test("L4: the constant bytes of the old forms, which are conclusive from eight terms on")
    func constantBits() throws {
        func iBeacon(_ token: RollingToken) throws -> [AdvertisingStructure] {
            let major = UInt16(truncatingIfNeeded: token.high >> 48)
            let minor = UInt16(truncatingIfNeeded: token.high >> 32)
            return [IBeacon(uuid: .secretHandshake, major: major, minor: minor).structure]
        }
        for (terms, expected) in [(7, []), (8, [LinkabilityAudit.Rule.constantBit])] {
            let audit = try audit(terms: terms) { $0.data = iBeacon }
            #expect(rules(audit).filter { $0 == .constantBit } == expected, "\(terms) terms")
        }
        let long = try audit(terms: 8) { $0.data = { EddystoneUID(carrying: $0).structures(power: -18) } }
        #expect(rules(long).contains(.constantBit))
    }

    @Test("L6: the same identifier in another form")
    func otherForm() throws {
        var audit = try audit(terms: 3)
        let uid = EddystoneUID(carrying: seed.token(in: first))
        audit.receive(
            Advertisement(
                time: first.start.advanced(by: .seconds(100)), address: DeviceAddress(truncating: 0x2C00_0000_0000),
                rssi: nil, data: try AdvertisingData(uid.structures(power: -18))))
        #expect(rules(audit) == [.otherForm])
    }

    @Test("L7: an identifier outside its term")
    func outsideTerm() throws {
        #expect(rules(try audit(terms: 3) { $0.delay = 10 }).contains(.outsideTerm))
        #expect(!rules(try audit(terms: 3) { $0.delay = 4 }).contains(.outsideTerm))
    }

    @Test("L8: no silence between two terms", arguments: [(0.0, true), (0.3, true), (0.5, false)])
    func noSilence(silence: Double, isFound: Bool) throws {
        #expect(rules(try audit(terms: 3) { $0.silence = silence }) == (isFound ? [.noSilence] : []))
    }

    @Test("a flood of addresses and of terms takes no more memory than there is")
    func bounded() throws {
        var audit = LinkabilityAudit(of: [.init(seed, isSent: true)])
        let data = try AdvertisingData([.service(RollingUUID(seed.token(in: first)))])
        for number in 0..<10_000 as Range<UInt64> {
            audit.receive(
                Advertisement(
                    time: first.start.advanced(by: .seconds(100)), address: DeviceAddress(truncating: number),
                    rssi: nil,
                    data: data))
        }
        #expect(rules(audit) == [.identifierUnderTwoAddresses])
    }
}
