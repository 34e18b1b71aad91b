import Beacons
import Circles
import Foundation
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

/// Searches what the records of a device say, byte by byte, before they are encrypted.
@Suite("What is left of a member", .heavy)
struct CircleTraceTests {
    /// What a member is known by, and how records may spell it.
    private struct Trace {
        let what: String
        let spellings: [Data]

        init(_ what: String, bytes: [UInt8]) {
            self.what = what
            // Base64 depends on where the bytes begin in what is encoded; its ends are coloured by the neighbours.
            let aligned = (0..<3).map { shift in
                Data((Array(repeating: UInt8(0), count: shift) + bytes)).base64EncodedString().dropFirst(4).dropLast(4)
            }
            let texts = aligned.flatMap { text in
                let plain = text.replacing("=", with: "")
                let escaped = plain.replacing("/", with: "\\/")
                return [plain, escaped, plain.replacing("+", with: "-").replacing("/", with: "_")]
            }
            spellings = [Data(bytes)] + texts.map { Data($0.utf8) }
        }

        init(_ what: String, _ text: String) {
            self.what = what
            spellings = [Data(text.utf8)]
        }
    }

    /// Where traces are found: in a record, or in its name.
    private func found(_ traces: [Trace], in vault: any Vault) async throws -> Set<String> {
        var found: Set<String> = []
        for kind in VaultKey.Kind.allCases {
            for key in try await vault.keys(of: kind).keys {
                let record = Data(try await vault.record(key) ?? []) + Data(key.components.joined(separator: " ").utf8)
                for trace in traces where trace.spellings.contains(where: { record.range(of: $0) != nil }) {
                    found.insert(trace.what)
                }
            }
        }
        return found
    }

    /// What a device can know of Zoë after a day beside her.
    private func traces(_ meeting: CircleMeeting) async throws -> [Trace] {
        let row = try #require(try await meeting.adas.records.table().entry(CircleMeeting.zoesNumber))
        let keys = try #require(row.keys)
        return [
            Trace("name", "Zoë Ångström"), Trace("number", "65535"), Trace("email", "zoe@example.test"),
            Trace("photo", bytes: CircleWorld.photo(of: 65_535)),
            Trace("identity", bytes: Array(try #require(row.identity).identity)),
            Trace("day key", bytes: try #require(keys.dayKeys.first).key),
        ]
    }

    enum Way: CaseIterable {
        case forget, hide, leave, signOut, thirtyOneDays
    }

    @Test("CI49, CI50: no name, number, photo or key of a member is left in any record", arguments: Way.allCases)
    func left(way: Way) async throws {
        try await CircleMeeting.with { meeting, world in
            let vault = meeting.ada.vault
            let traces = try await traces(meeting)
            let log = meeting.log(of: meeting.ada)
            let profile = Person(name: "Zoë Ångström", batch: nil, page: "https://example.org/zoe@example.test")
            try await log.introduce(CircleMeeting.zoesNumber, as: profile)
            _ = try await log.announce(CircleMeeting.zoesNumber, trust: .circle, at: world.now)
            try await ShownNotices(in: vault, community: "recurse-center") { world.now }
                .note(1, of: "desktop", about: CircleMeeting.zoesNumber)
            _ = try await meeting.adas.wave(at: CircleMeeting.zoesNumber, text: "Coffee?", log: log)
            #expect(try await found(traces, in: vault) == Set(traces.map(\.what)), "the search finds what is there")

            let stored = StoredPeople(in: vault, community: "recurse-center")
            switch way {
            case .forget: _ = try await stored.forget(CircleMeeting.zoesNumber)
            case .hide: try await meeting.adas.hide(CircleMeeting.zoesNumber)
            case .leave:
                _ = try await meeting.adas.leave()
                _ = try await stored.forget(CircleMeeting.zoesNumber)
            case .signOut: _ = try await stored.forgetEveryone()
            case .thirtyOneDays: _ = try await stored.expire(at: world.now + 31 * CircleWorld.day)
            }
            var left = try await found(traces, in: vault)
            // Not to be recognised, or fetched, again: the number is in the user's own list (dossier 8).
            if way == .forget || way == .hide { #expect(left.remove("number") != nil) }
            // Hiding is no forgetting: encounters stay for 30 days.
            if way == .hide { left.subtract(["name", "email"]) }
            #expect(left == [], "\(way)")
            if way == .signOut {
                for kind in VaultKey.Kind.allCases {
                    // What the circle's server must still be told has nothing of its members.
                    #expect(try await vault.keys(of: kind).keys.allSatisfy { $0.components.last == "farewell" })
                }
            }
        }
    }
}
