import Beacons
import Foundation
import Nearby
import OAuth
import Sequencing
import Testing

@testable import HandshakeCLI

@Suite("What the command prints")
struct TextTests {
    @Test("JSON escapes what steers a terminal, and keeps the order of members")
    func json() throws {
        let text = JSONText.object([
            ("b", .string("a\"\\\n\u{1B}\u{202E}é😀")), ("a", .array([.integer(-1), .null, .bool(true)])),
            ("d", .decimal(.nan)),
        ]).text
        #expect(text == #"{"b":"a\"\\\n\u001b\u202eé😀","a":[-1,null,true],"d":null}"#)
        let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect(parsed?["b"] as? String == "a\"\\\n\u{1B}\u{202E}é😀")
    }

    @Test("columns are as wide as their widest cell, wide characters counted, and no cell steers the terminal")
    func table() {
        #expect(!Table.lines([["a\u{1B}[31m", "2"]])[0].contains("\u{1B}"))
        #expect(Table.lines([["東京", "1"], ["abcd", "2"]])[0] == "東京  1")
    }

    @Test("what no calendar holds is an unknown moment", arguments: [nil, .nan, .infinity, -1e300, 1e300] as [Double?])
    func unknownMoment(_ seconds: Double?) {
        #expect(Moment.text(seconds) == "unknown")
    }

    @Test("a live list fits the terminal and says how many more there are")
    func liveList() throws {
        let people = try (1...9).map { number in
            NearbyPerson(
                person: try UserNumber(number), known: Person(name: "Ada \u{1B}[2J\(number)", batch: "S1'14"),
                distance: 2,
                proximity: .near, encounter: Encounter(firstSeen: 0, lastSeen: 90, duration: 90),
                trust: number == 1 ? .paired : .unverified)
        }
        let lines = LiveList.lines(people, status: "listening", columns: 40, rows: 5)
        #expect(lines.count == 5)
        #expect(lines.allSatisfy { $0.displayWidth < 40 && !$0.contains("\u{1B}") })
        #expect(lines.first == "9 people near · listening")
        #expect(lines.last == "… and 6 more")
    }

    @Test("without a distance the live list has a rough word and a bar of the signal, and says when it has neither")
    func roughLine() throws {
        func line(_ proximity: Proximity, _ rssi: Double?) throws -> String {
            let person = NearbyPerson(
                person: try UserNumber(7), known: Person(name: "Ada"), distance: nil, proximity: proximity,
                encounter: Encounter(firstSeen: 0, lastSeen: 90, duration: 90), trust: .circle, rssi: rssi)
            return LiveList.lines([person], status: "listening", columns: 80, rows: 5)[1]
        }
        let near = try line(.near, -65)
        #expect(near.hasPrefix("[#####.....] Ada") && near.contains("near (rough), 1 min"))
        let unknown = try line(.unknown, nil)
        #expect(unknown.hasPrefix("[??????????]") && unknown.contains("distance unknown, 1 min"))
    }

    @Test("lengths of time are told in the unit that a user would choose")
    func spans() {
        #expect(Span.text(59) == "under a minute")
        #expect(Span.text(720) == "12 min")
        #expect(Span.text(7_500) == "2 h 5 min")
        #expect(Span.text(.infinity) == "under a minute")
        #expect(Span.metres(0.84) == "0.8 m")
        #expect(Span.metres(3.2) == "3 m")
    }

    @Test("an answer to the question for a file is its number or its identifier; no number traps")
    func fileQuestion() throws {
        let files = try [1, 2].map { try Self.file($0) }
        #expect(FileQuestion.file("2", of: files)?.id == files[1].id)
        #expect(FileQuestion.file(files[0].id.string, of: files)?.id == files[0].id)
        for text in ["0", "3", "-1", "\(Int.min)", "\(Int.max)", "9223372036854775808", ""] {
            #expect(FileQuestion.file(text, of: files) == nil, "\(text)")
            #expect(FileQuestion.file(text, of: []) == nil, "\(text)")
        }
    }

    private static func file(_ number: Int) throws -> GeneticFile {
        try GeneticFile(.object(["Id": .string("\(227_000 + number)"), "Name": .string("file \(number)")]))
    }
}
