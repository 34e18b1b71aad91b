import Beacons
import Foundation
import Handshake
import Testing

@testable import Nearby

@Suite("The log of encounters")
struct EncounterLogTests {
    private let ada = person(759)
    private let vault = MemoryVault(timeout: .seconds(3_600))

    private func log(_ rules: EncounterRules = EncounterRules(), community: String = "recurse-center") -> EncounterLog {
        EncounterLog(in: vault, community: community, rules: rules)
    }

    @Test("the stored numbers of trust stay, whatever comes between them")
    func storedTrust() throws {
        #expect(Trust.allCases.sorted() == [.unverified, .circle, .file, .paired])
        let stored = try JSONDecoder().decode([Trust].self, from: Data("[0,1,2,3,4]".utf8))
        #expect(stored == [.unverified, .circle, .paired, .file, .unverified])
    }

    @Test("an announcement is made once, also after a restart and by another process")
    func announcedOnce() async throws {
        #expect(try await log().announce(ada, at: 1000) == .due(nil))
        #expect(try await log().announce(ada, at: 2800) == .recent(at: 1000))
        #expect(try await log().announce(ada, at: 4600) == .recent(at: 1000))
        #expect(try await log().announce(ada, at: 4601) == .due(nil))
    }

    @Test("CI47: an alert about a number that any device can send does not silence the one about the person")
    func announcedAgainWithMoreTrust() async throws {
        let rows: [(Trust, Double, EncounterLog.Announcement)] = [
            (.unverified, 1000, .due(nil)), (.circle, 1010, .due(nil)), (.circle, 1020, .recent(at: 1010)),
            (.unverified, 1030, .recent(at: 1010)), (.paired, 1040, .due(nil)), (.circle, 1050, .recent(at: 1040)),
            (.unverified, 4641, .due(nil)), (.circle, 4642, .due(nil)),
        ]
        for (trust, time, answer) in rows {
            #expect(try await log().announce(ada, trust: trust, at: time) == answer, "\(time)")
        }
        // What an earlier version has stored says nothing of the trust.
        try await vault.replace(
            VaultKey(.encounters, ["recurse-center", "759"]),
            with: Array(#"{"person":759,"lastAnnounced":1000,"encounters":[]}"#.utf8))
        #expect(try await log().announce(ada, trust: .unverified, at: 1010) == .recent(at: 1000))
        #expect(try await log().announce(ada, trust: .circle, at: 1010) == .due(nil))
    }

    @Test("BE-28: an encounter has one trust from its first second on, and in a log of an earlier version none")
    func trust() async throws {
        func encounter(_ first: Double, _ trust: Trust?) -> Encounter {
            Encounter(firstSeen: first, lastSeen: first + 10, duration: 10, trust: trust)
        }
        for (first, trust) in [
            (1000.0, nil), (1020, .unverified), (1040, .circle), (1060, .unverified), (9000, .paired),
        ]
            as [(Double, Trust?)]
        {
            _ = try await log().note(encounter(first, trust), with: ada, wasLogged: false)
        }
        var history = try #require(try await log().history(of: ada))
        // What a key verifies is an encounter of its own, which begins with the first packet that one verifies.
        #expect(history.encounters.map(\.trust) == [.unverified, .circle, .paired])
        #expect(history.encounters.map(\.firstSeen) == [1_000, 1_040, 9_000])
        #expect(history.encounters.map(\.duration) == [30, 10, 10])
        let earlier = Data(#"{"firstSeen":1,"lastSeen":2,"duration":1,"wasAnnounced":false}"#.utf8)
        history.encounters.append(try JSONDecoder().decode(Encounter.self, from: earlier))
        history.encounters.append(encounter(9500, .unverified))
        let cells = PersonHistory.csv([history]).split(separator: "\r\n").map { $0.split(separator: ",").last }
        #expect(cells == ["trust", "unverified", "paired", "unverified", "circle", "false"])
        let words = try PersonHistory.json([history]).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["trust"] as? String
        }
        #expect(words == ["unverified", "paired", "unverified", "circle", nil])
    }

    @Test("CI47: a number that any device can send does not continue an encounter with a person whom a key verified")
    func numberAfterAnEncounter() async throws {
        let parts: [(Double, Trust)] = [(1_000, .circle), (1_020, .unverified), (1_040, .unverified)]
        for (first, trust) in parts {
            let encounter = Encounter(firstSeen: first, lastSeen: first + 10, duration: 10, trust: trust)
            _ = try await log().note(encounter, with: ada, wasLogged: false)
        }
        let encounters = try #require(try await log().history(of: ada)).encounters
        #expect(encounters.map(\.trust) == [.circle, .unverified])
        #expect(encounters.map(\.lastSeen) == [1_010, 1_050])
    }

    @Test("CI56: verified time begins with the first verified packet, also where another process logs the number")
    func verifiedAfterANumber() async throws {
        func note(_ trust: Trust, _ first: Double, _ last: Double, wasLogged: Bool) async throws -> Encounter? {
            let encounter = Encounter(firstSeen: first, lastSeen: last, duration: last - first, trust: trust)
            return try await log().note(encounter, with: ada, wasLogged: wasLogged)
        }
        _ = try await note(.unverified, 1_000, 1_300, wasLogged: false)
        let verified = try #require(try await note(.circle, 1_300, 1_310, wasLogged: false))
        #expect((verified.firstSeen, verified.duration, verified.trust) == (1_300, 10, .circle))
        // A process without the member's keys goes on with the number, and one that has them too.
        _ = try await note(.unverified, 1_000, 1_320, wasLogged: true)
        _ = try await note(.circle, 1_300, 1_330, wasLogged: true)
        // Two that begin in the same second are two all the same.
        _ = try await note(.circle, 9_000, 9_010, wasLogged: false)
        _ = try await note(.unverified, 9_000, 9_020, wasLogged: false)
        let encounters = try #require(try await log().history(of: ada)).encounters
        let verifiedOnes = encounters.filter { $0.trust == .circle }
        #expect(verifiedOnes.map(\.firstSeen) == [1_300, 9_000] && verifiedOnes.map(\.duration) == [30, 10])
        #expect(encounters.filter { $0.trust == .unverified }.map(\.duration) == [320, 20])
    }

    @Test("a trust that only a later version knows counts as unverified, and the record can be read")
    func laterTrust() async throws {
        let encounter = #"{"firstSeen":1,"lastSeen":2,"duration":1,"wasAnnounced":false,"trust":9}"#
        let record = #"{"person":759,"lastAnnounced":1,"announcedTrust":9,"encounters":[\#(encounter)]}"#
        try await vault.replace(VaultKey(.encounters, ["recurse-center", "759"]), with: Array(record.utf8))
        let history = try #require(try await log().history(of: ada))
        #expect(history.announcedTrust == .unverified)
        #expect(history.encounters.map(\.trust) == [.unverified])
        let stored = try JSONEncoder().encode(Trust.allCases)
        #expect(try JSONDecoder().decode([Trust].self, from: stored) == Trust.allCases)
    }

    @Test("of many concurrent callers, one announces")
    func oneOfManyAnnounces() async throws {
        let log = log()
        let due = try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { [ada] in try await log.announce(ada, at: 1000) == .due(nil) } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(due == 1)
    }

    @Test("a clock that was set back silences a person for one interval at most")
    func aClockSetBack() async throws {
        _ = try await log().announce(ada, at: 9_000_000)
        #expect(try await log().announce(ada, at: 1000) == .recent(at: 1000))
        #expect(try await log().announce(ada, at: 4601) == .due(nil))
    }

    @Test("an encounter that goes on after a restart is one encounter")
    func continuedAfterARestart() async throws {
        let before = Encounter(firstSeen: 1000, lastSeen: 1100, duration: 100, closest: 2)
        _ = try await log().note(before, with: ada, wasLogged: false)
        let after = Encounter(firstSeen: 1200, lastSeen: 1200, duration: 0, closest: 4)
        let merged = try await log().note(after, with: ada, wasLogged: false)
        #expect(merged == Encounter(firstSeen: 1000, lastSeen: 1200, duration: 100, closest: 2))

        let later = Encounter(firstSeen: 1000, lastSeen: 1260, duration: 160, closest: 1)
        _ = try await log().note(later, with: ada, wasLogged: true)
        #expect(try await log().history(of: ada)?.encounters == [later])
    }

    @Test("after a longer absence it is another encounter")
    func anotherEncounter() async throws {
        for start in [1000.0, 2000] {
            let encounter = Encounter(firstSeen: start, lastSeen: start + 10, duration: 10)
            _ = try await log().note(encounter, with: ada, wasLogged: false)
        }
        #expect(try await log().history(of: ada)?.encounters.map(\.firstSeen) == [1000, 2000])
    }

    @Test("someone who was forgotten while near is not written again by what was known before")
    func forgottenWhileNear() async throws {
        let encounter = Encounter(firstSeen: 1000, lastSeen: 1010, duration: 10)
        _ = try await log().note(encounter, with: ada, wasLogged: false)
        #expect(try await log().forget(ada))
        #expect(try await log().note(encounter, with: ada, wasLogged: true) == nil)
        #expect(try await log().history(of: ada) == nil)
        #expect(try await log().forget(ada) == false)
    }

    @Test("what was before someone was forgotten does not come back from another process that heard them too")
    func forgottenWhileTwoListen() async throws {
        let first = Encounter(firstSeen: 1000, lastSeen: 1100, duration: 100, closest: 1)
        for wasLogged in [false, true] { _ = try await log().note(first, with: ada, wasLogged: wasLogged) }
        try await log().forget(ada)
        // One process notices and starts another encounter; the other has not noticed yet.
        let second = Encounter(firstSeen: 1115, lastSeen: 1120, duration: 5, closest: 4)
        _ = try await log().note(second, with: ada, wasLogged: false)
        let stale = Encounter(firstSeen: 1000, lastSeen: 1121, duration: 121, closest: 1)
        #expect(try await log().note(stale, with: ada, wasLogged: true) == nil)
        #expect(try await log().history(of: ada)?.encounters == [second])
    }

    @Test("what is older than the retention is neither shown nor kept")
    func retention() async throws {
        let log = log(EncounterRules(retention: 1000))
        for start in [0.0, 5000] {
            let encounter = Encounter(firstSeen: start, lastSeen: start + 10, duration: 10)
            _ = try await log.note(encounter, with: ada, wasLogged: false)
        }
        #expect(try await log.contents(at: 5500).people.first?.encounters.map(\.firstSeen) == [5000])
        #expect(try await log.contents(at: 9000).people.isEmpty)
        #expect(try await log.prune(at: 9000) == 1)
        #expect(try await vault.keys(of: .encounters).keys.isEmpty)
    }

    @Test("those met last come first, with who they are")
    func order() async throws {
        let grace = person(36)
        for (person, start) in [(ada, 1000.0), (grace, 2000.0)] {
            let encounter = Encounter(firstSeen: start, lastSeen: start, duration: 0)
            _ = try await log().note(encounter, with: person, wasLogged: false)
        }
        try await log().introduce(ada, as: Person(name: "Ada Example", batch: "S1'14"))
        let people = try await log().contents(at: 3000).people
        #expect(people.map(\.person) == [grace, ada])
        #expect(people.last?.known?.name == "Ada Example")
    }

    @Test("communities do not meet, and introducing a stranger writes nothing")
    func communities() async throws {
        let encounter = Encounter(firstSeen: 1000, lastSeen: 1010, duration: 10)
        _ = try await log(community: "one").note(encounter, with: ada, wasLogged: false)
        try await log(community: "two").introduce(ada, as: Person(name: "Ada"))
        #expect(try await log(community: "two").contents(at: 2000).people.isEmpty)
        #expect(try await log(community: "two").forgetEveryone() == 0)
        #expect(try await log(community: "one").forgetEveryone() == 1)
    }

    @Test("a damaged record is told beside the others, and stays until it is forgotten")
    func damage() async throws {
        let grace = person(36)
        let encounter = Encounter(firstSeen: 1000, lastSeen: 1010, duration: 10)
        _ = try await log().note(encounter, with: ada, wasLogged: false)
        for bytes in ["", "[]", "{\"person\":0}", "{\"person\":759,\"encounters\":[]}"] {
            try await vault.update(VaultKey(.encounters, ["recurse-center", "36"])) {
                try await $0.replace(with: Array(bytes.utf8))
            }
            let contents = try await log().contents(at: 2000)
            #expect(contents.people.map(\.person) == [ada])
            #expect(contents.damaged.count == 1, "\(bytes)")
            #expect(try await log().prune(at: 1e9) == 1)
            _ = try await log().note(encounter, with: ada, wasLogged: false)
        }
        #expect(try await log().forget(grace))
    }

    @Test(
        "CSV quotes what RFC 4180 demands, and no name is a formula",
        arguments: [
            ("Ada, \"the\" Countess", "\"Ada, \"\"the\"\" Countess\""), ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
            ("@SUM(A1)", "'@SUM(A1)"), ("line\nbreak", "\"line\nbreak\""), ("Zoë", "Zoë"),
            ("\u{1B}]0;Eve\u{7}", "\u{FFFD}]0;Eve\u{FFFD}"), ("a\rb\u{9B}c\u{202E}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d"),
        ])
    func csv(name: String, cell: String) {
        var history = PersonHistory(of: ada)
        history.known = Person(name: name, batch: "S1'14")
        history.encounters = [
            Encounter(
                firstSeen: 1_767_225_600, lastSeen: 1_767_225_690, duration: 90, closest: 1.25, strongest: -61.4,
                wasAnnounced: true, trust: .circle)
        ]
        #expect(
            PersonHistory.csv([history])
                == "person,name,batch,first_seen,last_seen,duration_seconds,closest_metres,proximity,strongest_dbm,announced,trust\r\n"
                + "759,\(cell),S1'14,2026-01-01T00:00:00Z,2026-01-01T00:01:30Z,90,1.2,near,-61,true,circle\r\n")
    }

    @Test("BE-28: an encounter without a distance has the proximity of its strongest signal, and none without a signal")
    func roughProximity() throws {
        var history = PersonHistory(of: ada)
        for (index, strongest) in ([-50, -60.4, -75, nil] as [Double?]).enumerated() {
            let time = Double(1000 * index)
            history.encounters.append(Encounter(firstSeen: time, lastSeen: time, duration: 0, strongest: strongest))
        }
        #expect(history.encounters.map(\.proximity) == [.immediate, .near, .far, .unknown])
        let cells = PersonHistory.csv([history]).split(separator: "\r\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false).dropFirst(6).joined(separator: ",")
        }
        #expect(cells == [",,,false,", ",far,-75,false,", ",near,-60,false,", ",immediate,-50,false,"])
        let words = try PersonHistory.json([history]).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["proximity"]
                as? String
        }
        #expect(words == [nil, "far", "near", "immediate"])
    }

    @Test("JSON shows nothing that steers a terminal, and loses nothing")
    func jsonIsHarmless() throws {
        let name = "a\u{1B}[2Jb\u{9B}c\u{202E}d\u{2028}e\u{E0041}f \u{1F642}"
        var history = PersonHistory(of: ada)
        history.known = Person(name: name)
        history.encounters = [Encounter(firstSeen: 0, lastSeen: 1, duration: 1)]
        let line = try #require(try PersonHistory.json([history]).first)
        #expect(!line.unicodeScalars.contains { "\u{1B}\u{9B}\u{202E}\u{2028}\u{E0041}".unicodeScalars.contains($0) })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["name"] as? String == name)
    }

    @Test("JSON has one object a line, and null for what is unknown")
    func json() throws {
        var history = PersonHistory(of: ada)
        history.encounters = [Encounter(firstSeen: 0, lastSeen: 1, duration: 1)]
        let lines = try PersonHistory.json([history])
        let parsed = try JSONSerialization.jsonObject(with: Data((lines.first ?? "").utf8))
        let object = try #require(parsed as? [String: Any])
        #expect(lines.count == 1)
        #expect(
            Set(object.keys) == [
                "person", "name", "batch", "first_seen", "last_seen", "duration_seconds", "closest_metres", "proximity",
                "strongest_dbm", "announced", "trust",
            ])
        #expect(object["name"] is NSNull)
        #expect(object["first_seen"] as? String == "1970-01-01T00:00:00Z")
    }
}
