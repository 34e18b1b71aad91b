#if os(Linux)
import Beacons
import DBus
import Foundation
import TestFixtures
import Testing

@testable import Radio

@Suite("What doctor says of Bluetooth", .heavy)
struct RadioDiagnosisTests {
    /// A machine on which everything works.
    private static func facts(_ change: (inout BlueZFacts) -> Void = { _ in }) -> BlueZFacts {
        let adapter = BlueZAdapter(
            path: "/org/bluez/hci0",
            interfaces: [
                "org.bluez.Adapter1": ["Powered": true, "Address": "00:1A:7D:00:00:01"],
                "org.bluez.LEAdvertisingManager1": ["SupportedInstances": .byte(4)],
                "org.bluez.AdvertisementMonitorManager1": ["SupportedMonitorTypes": .strings(["or_patterns"])],
            ])
        var facts = BlueZFacts(adapters: [adapter], version: BlueZVersion(major: 5, minor: 72))
        change(&facts)
        return facts
    }

    @Test("a machine that has everything is told so")
    func everything() {
        let diagnosis = RadioDiagnosis(Self.facts())
        #expect(diagnosis.findings.allSatisfy { $0.verdict == .good && $0.cure == nil })
        #expect(diagnosis.canScan && diagnosis.canAdvertise)
        #expect(
            diagnosis.findings.map(\.topic)
                == [.bus, .daemon, .version, .adapter, .power, .advertising, .address, .scanning, .monitor])
    }

    @Test(
        "BE-17: what is missing is named, with its cure",
        arguments: [
            (RadioDiagnosis.Topic.bus, facts { $0.obstacle = .noBus(reason: "no socket") }),
            (.daemon, facts { $0.obstacle = .noBlueZ }),
            (.permission, facts { $0.obstacle = .notPermitted(reason: "policy") }),
            (.adapter, facts { $0.adapters = [] }),
            (.adapter, facts { $0.wanted = "hci3" }),
            (.power, facts { $0.turnOff(nil) }),
            (.power, facts { $0.turnOff(.soft) }),
            (.power, facts { $0.turnOff(.hard) }),
            (.advertising, facts { $0.adapters[0].freeInstances = 0 }),
            (.advertising, facts { $0.adapters[0].interfaces.remove("org.bluez.LEAdvertisingManager1") }),
        ])
    func missing(topic: RadioDiagnosis.Topic, facts: BlueZFacts) throws {
        let diagnosis = RadioDiagnosis(facts)
        let missing = diagnosis.findings.filter { $0.verdict == .missing }
        #expect(missing.map(\.topic) == [topic])
        #expect(missing.first?.cure != nil)
        #expect(!diagnosis.canAdvertise)
        #expect(diagnosis.canScan == (topic == .advertising))
    }

    @Test("rfkill's two ways to block have two cures")
    func rfkill() {
        func cure(_ block: RFKill.Block) -> String? {
            let facts = Self.facts { $0.turnOff(block) }
            return RadioDiagnosis(facts).findings.first { $0.topic == .power }?.cure
        }
        #expect(cure(.soft) == "unblock it with: rfkill unblock bluetooth")
        #expect(cure(.hard) == "turn on the machine's Bluetooth switch")
    }

    @Test("a daemon without its experimental flag limits, and prevents nothing")
    func experimental() throws {
        let diagnosis = RadioDiagnosis(
            Self.facts { $0.adapters[0].interfaces.remove("org.bluez.AdvertisementMonitorManager1") })
        let finding = try #require(diagnosis.findings.last)
        #expect(finding.topic == .monitor && finding.verdict == .limited)
        #expect(diagnosis.canScan && diagnosis.canAdvertise)
    }

    @Test("another advertiser, beside which the address can outlast an identifier, is named with the cure")
    func otherAdvertiser() throws {
        var facts = Self.facts()
        facts.adapters[0].change("org.bluez.LEAdvertisingManager1", ["ActiveInstances": .byte(1)])
        facts.adapters[0].hasSeparateAddresses = false
        let finding = try #require(RadioDiagnosis(facts).findings.first { $0.topic == .address })
        #expect(finding.verdict == .limited && finding.cure?.contains("Privacy = device") == true)
        // It may be the user's own watch: BlueZ does not tell.
        #expect(finding.text.contains("for you or another program"))
        #expect(finding.cure?.hasPrefix("if it is not your own watch") == true)
        #expect(RadioDiagnosis(facts).canAdvertise)
        // The user's own watch is one of those that advertise.
        facts.adapters[0].hasSeparateAddresses = true
        let separate = try #require(RadioDiagnosis(facts).findings.first { $0.topic == .address })
        #expect(separate.verdict == .good)
        #expect(separate.text.contains("BlueZ does not tell whether the address is public or random"))
    }

    @Test("a version that cannot be told is unknown, not wrong")
    func unknownVersion() {
        let diagnosis = RadioDiagnosis(Self.facts { $0.version = nil })
        #expect(diagnosis.findings.first { $0.topic == .version }?.verdict == .unknown)
        #expect(diagnosis.canScan)
    }

    @Test(
        "versions whose monitor is known to be broken are told",
        arguments: [
            ("5.55", false), ("5.56", true), ("5.66", true), ("5.68", true), ("5.69", false), ("5.70", false),
            ("5.71", true), ("5.78", true), ("5.79", false), ("5.82", false), ("5.83", true),
        ])
    func monitorDefects(text: String, isGood: Bool) throws {
        let version = try #require(BlueZVersion(text))
        #expect((version.monitorDefect == nil) == isGood)
        #expect(version.description == text)
        let finding = RadioDiagnosis(Self.facts { $0.version = version }).findings.first { $0.topic == .version }
        #expect(finding?.verdict == (isGood ? .good : .limited))
    }

    @Test("what is no version is none", arguments: ["", "5", "5.", "5.66.1", "bluetoothd", "-1.2", "5.x"])
    func noVersion(text: String) {
        #expect(BlueZVersion(text) == nil)
    }

    @Test("versions are compared by number, not by text")
    func order() {
        #expect(BlueZVersion(major: 5, minor: 9) < BlueZVersion(major: 5, minor: 66))
        #expect(BlueZVersion(major: 4, minor: 101) < BlueZVersion(major: 5, minor: 1))
    }

    @Test(
        "the daemon is asked for its version when it is installed",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/libexec/bluetooth/bluetoothd"), "bluez"))
    func installedVersion() async throws {
        let version = try #require(await BlueZVersion.installed(clock: ContinuousClock()))
        #expect(version.major == 5)
        #expect(await BlueZVersion.installed(["/nonexistent/bluetoothd"], clock: ContinuousClock()) == nil)
    }

    @Test(
        "a real bus and daemon are diagnosed", .enabled(if: Air.obstacle == nil, Comment(rawValue: Air.obstacle ?? "")))
    func live() async throws {
        try await Air.with(["monitor=none", "instances=1"]) { air in
            let sending = try Sending(air.radio(), Packets.iBeacon)
            _ = try await sending.next()
            let diagnosis = try await air.radio().diagnosis()
            #expect(diagnosis.canScan && !diagnosis.canAdvertise)
            #expect(diagnosis.findings.first { $0.topic == .monitor }?.verdict == .limited)
            await air.stop()
            let without = try await air.radio().diagnosis()
            #expect(without.findings.last == .init(.daemon, .noBlueZ))
            await air.stopBus()
            #expect(try await air.radio().diagnosis().findings.map(\.topic) == [.bus])
        }
    }
}

extension BlueZFacts {
    fileprivate mutating func turnOff(_ block: RFKill.Block?) {
        adapters[0].isPowered = false
        self.block = block
    }
}

@Suite("What the kernel keeps off")
struct RFKillTests {
    /// A folder like `/sys/class/rfkill`.
    private func folder(
        _ switches: [(name: String, type: String, soft: String, hard: String)]
    ) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (index, entry) in switches.enumerated() {
            let path = folder.url.appending(path: "rfkill\(index)")
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            for (file, text) in [
                ("name", entry.name), ("type", entry.type), ("soft", entry.soft), ("hard", entry.hard),
            ] {
                try Data("\(text)\n".utf8).write(to: path.appending(path: file))
            }
        }
        return folder
    }

    @Test("an adapter's own switch counts, and the machine's; those of other radios do not")
    func blocks() throws {
        let adapters = try folder([
            ("phy0", "wlan", "1", "1"), ("hci0", "bluetooth", "1", "0"), ("hci1", "bluetooth", "0", "0"),
        ])
        let rfkill = RFKill(folder: adapters.path)
        #expect(rfkill.switches == [.init(name: "hci0", block: .soft), .init(name: "hci1", block: nil)])
        #expect(rfkill.block(of: "hci0") == .soft)
        #expect(rfkill.block(of: "hci1") == nil)
        let machine = try folder([("laptop-bluetooth", "bluetooth", "0", "1")])
        #expect(RFKill(folder: machine.path).block(of: "hci0") == .hard)
    }

    @Test("a kernel that does not tell blocks nothing")
    func absent() {
        #expect(RFKill(folder: "/nonexistent").switches.isEmpty)
        #expect(RFKill(folder: "/nonexistent").block(of: "hci0") == nil)
    }
}
#endif

extension RadioDiagnosis {
    fileprivate var canScan: Bool { works(.scanning) }
    fileprivate var canAdvertise: Bool { works(.advertising) }

    /// Whether a topic was looked at, and neither it nor what it depends on is missing.
    private func works(_ topic: Topic) -> Bool {
        let blockers: Set<Topic> = [.bus, .daemon, .adapter, .power, .permission, topic]
        return findings.contains { $0.topic == topic }
            && !findings.contains { blockers.contains($0.topic) && $0.verdict == .missing }
    }
}
