#if CommandLine
import Beacons
import Circles
import Foundation
import Handshake
import OAuth
import Testing

@testable import HandshakeCLI
@testable import Nearby

extension CommandTests {
    @Suite("What nearby leaves behind")
    struct NearbyRetentionTests {
        private let command: Command
        private var place: String { "files:\(command.folder)/vault" }
        private let community = NearbyCommand.community
        private let person: UserNumber

        init() throws {
            command = try Command()
            person = try UserNumber(31_415)
        }

        /// The vault that the command uses.
        private func vault() async throws -> FileVault {
            _ = try await command.run("vault", "migrate", "--vault", place)
            let folder = command.folder + "/vault"
            let identifier = try #require(try VaultIdentifier.ofVault(in: folder))
            return try FileVault(
                directory: folder, keyFile: "\(command.folder)/.config/handshake/keys/\(identifier).key")
        }

        @Test(
            "CI49: a record that cannot be read is told of without the person's number: what a watch says is in the system's journal"
        )
        func damaged() async throws {
            let vault = try await vault()
            for kind in [VaultKey.Kind.encounters, .beaconFriend] {
                try await vault.replace(VaultKey(kind, [community, person.description]), with: Array("{}".utf8))
            }
            let frame = "1aff4c0002153ee761a0f73711e3a3ac0800200c9a6600017ab7c5"
            let lines = [60.0, 55, 50].map { age in
                #"{"t": \#(Date().timeIntervalSince1970 - age), "addr": "D0:00:00:00:02:F7", "rssi": -59, "ad": "\#(frame)"}"#
            }
            let file = try command.file("recording.jsonl", lines.joined(separator: "\n"))
            let done = try await command.run(
                "nearby", "replay", file, "--no-delay", "--keep", "--me", "1", "--vault", place)
            #expect(done.stdout.contains("31415"), "the recording is of this person: \(done)")
            #expect(done.stderr.contains("handshake nearby log"), "\(done)")
            #expect(done.stderr.contains("handshake nearby friends"), "\(done)")
            #expect(!done.stderr.contains("31415"), "\(done)")
            // Who asks in a terminal is told.
            for line in ["log", "friends"] {
                let asked = try await command.run("nearby", line, "--vault", place)
                #expect(asked.stderr.contains("handshake nearby forget 31415"), "\(asked)")
            }
        }

        @Test(
            "RC-27, BE-29: 31 days later a byte search of the machine's files finds no name, number, photo or key of another person"
        )
        func month() async throws {
            let vault = try await vault()
            let now = Date().timeIntervalSince1970
            var search = ByteSearch(folder: command.folder, vault: vault)
            try await remember(at: now - 31 * 86_400, in: vault, &search)
            #expect(try await search.found() == Set(search.needles.keys), "the search finds what is there")
            #expect(try search.foundInFiles() == [], "the files are encrypted")
            let log = try await command.run("nearby", "log", "--vault", place)
            #expect(log.ending == .status(0), "\(log)")
            #expect(try await search.found() == [])
            #expect(try search.foundInFiles() == [])
        }

        /// Stores what there can be about a person.
        private func remember(at time: Double, in vault: any Vault, _ search: inout ByteSearch) async throws {
            let moment = try #require(Timestamp(secondsSince1970: time))
            // So long that no time of a record contains it by chance.
            let other = try UserNumber(1_131_415_926)
            let (name, photo) = ("Noor Ångström", [0xFF, 0xD8] + Array("a face of another person".utf8))
            search.needles = ["name": Array(name.utf8), "number": Array("1131415926".utf8), "photo": photo]
            let log = EncounterLog(in: vault, community: community)
            _ = try await log.note(
                Encounter(firstSeen: time - 60, lastSeen: time, duration: 60), with: other, wasLogged: false)
            try await log.introduce(other, as: Person(name: name))
            for (kind, content) in [(VaultKey.Kind.profile, Array(name.utf8)), (.photo, photo)] {
                try await vault.replace(
                    VaultKey(kind, [community, "recurse-center", other.description]),
                    with: DatedRecord(storedAt: time, content: content).bytes)
            }
            let friend = RollingKeys(in: MemoryVault(), community: community)
            let shared = try await friend.share(other, days: 7, from: moment)
            search.needles["friend's key"] = Array(
                Beacons.Hexadecimal.encode(try #require(try shared.dayKeys().first).reveal()).utf8)
            try await RollingKeys(in: vault, community: community).addFriend(shared, at: moment)

            let scope = CircleScope(circleAt: "https://circle.example/rc")
            let records = CircleRecords(in: vault, community: community, scope: scope)
            let (member, own) = (MemberKeys(), MemberKeys())
            let identity = try MemberRecord(signedBy: member, in: scope, number: 1_131_415_926, at: UInt64(time))
            let dayKey = [UInt8](repeating: 0xA7, count: 32)
            let keys = try KeyRecord(
                signedBy: member,
                KeyRecord.Terms(
                    scope: scope, number: 1_131_415_926, generation: 1, sequence: 1, epoch: 1,
                    firstDay: UInt32(time / 86_400),
                    issued: UInt64(time), waves: true), dayKeys: [dayKey])
            search.needles["member's key"] = dayKey
            search.needles["member's identity"] = member.identity
            var table = CircleTable()
            table.take(
                row: [
                    "number": .number("1131415926"), "name": .string(name),
                    "member": .string(Base64URL.encode(identity.bytes)),
                ], in: scope, at: UInt64(time))
            table.take(.keys(keys), in: scope, at: UInt64(time))
            let former = [UInt8](repeating: 0xB8, count: 32)
            search.needles["own former key"] = former
            let wave = CircleRecords.PendingWave(
                id: "wave", person: 1_131_415_926, day: UInt32(time / 86_400), expires: time + 86_400,
                content: .init(meetings: [], box: Data(), wavedBefore: nil),
                other: .init(identity: Data(identity.bytes), keys: [1: [Data(dayKey)]]))
            try await records.change { state in
                var new = CircleRecords.State(
                    address: "https://circle.example/rc", circle: "Hub", service: "service", number: 759, name: "Ada",
                    batch: "", bearer: "bearer", expires: Int64(time), keys: Data(own.reveal()))
                (new.synced, new.waves, new.waved) = (time, [wave], [1_131_415_926: UInt32(time / 86_400)])
                new.formerKeys = [
                    .init(keys: Data(own.reveal()), dayKeys: [1: Data(former)], lastDay: UInt32(time / 86_400))
                ]
                state = new
            }
            try await records.replaceTable(table)
            try await records.replacePack(
                PhotoPack.index(of: 1_131_415_926), tag: "", PhotoPack([1_131_415_926: photo]))
        }
    }
}

/// Searches a vault's folder: the files' bytes and names, and what the vault's owner can read of them.
private struct ByteSearch {
    let folder: String
    let vault: FileVault
    var needles: [String: [UInt8]] = [:]

    /// Which needles are in what the vault holds, also inside texts of other texts.
    func found() async throws -> Set<String> {
        var found: Set<String> = []
        for kind in VaultKey.Kind.allCases {
            for key in try await vault.keys(of: kind).keys {
                found.formUnion(needles(in: Array(key.components.joined(separator: " ").utf8)))
                if let contents = try await vault.record(key) { found.formUnion(needles(in: contents)) }
            }
        }
        return found
    }

    /// Which needles are in the bytes or the name of a file, without the vault's key.
    func foundInFiles() throws -> Set<String> {
        var found: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            found.formUnion(needles(in: Array(path.utf8)))
            if let contents = FileManager.default.contents(atPath: folder + "/" + path) {
                found.formUnion(needles(in: Array(contents)))
            }
        }
        return found
    }

    private func needles(in bytes: [UInt8]) -> Set<String> {
        var found = plainNeedles(in: bytes)
        if let json = try? JSONSerialization.jsonObject(with: Data(bytes)) { found.formUnion(needles(inJSON: json)) }
        return found
    }

    private func plainNeedles(in bytes: [UInt8]) -> Set<String> {
        let data = Data(bytes)
        return Set(needles.filter { data.firstRange(of: Data($0.value)) != nil }.keys)
    }

    private func needles(inJSON value: Any) -> Set<String> {
        switch value {
        case let members as [String: Any]:
            return members.reduce(into: []) { found, member in
                found.formUnion(needles(inJSON: member.value))
                found.formUnion(needles(inJSON: member.key))
            }
        case let values as [Any]: return values.reduce(into: []) { $0.formUnion(needles(inJSON: $1)) }
        case let text as String:
            let inside = Data(base64Encoded: text).map { Array($0) } ?? Base64URL.decode(text) ?? []
            return plainNeedles(in: Array(text.utf8)).union(needles(in: inside))
        default: return plainNeedles(in: Array("\(value)".utf8))
        }
    }
}
#endif
