import Testing

@testable import Handshake

@Suite("The versions of records that a vault has seen")
struct SeenVersionsTests {
    private static let day: Int64 = 24 * 3600 * 1000

    private func name(_ number: Int) -> [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 8 * 8)) }
    }

    @Test("the newest version of a name counts, whatever is noted afterwards, and of no other name")
    func newest() {
        let seen = SeenVersions()
        for version in [3, 7, 5] as [Int64] { seen.note(version, of: name(1), at: 0) }
        #expect(seen.newest(of: name(1), at: 1) == 7)
        #expect(seen.newest(of: name(2), at: 1) == nil)
    }

    @Test("what was seen more than two weeks ago does not count, whichever way the clock was set")
    func lapse() {
        let seen = SeenVersions()
        seen.note(7, of: name(1), at: 0)
        for days in [-13, 13] as [Int64] { #expect(seen.newest(of: name(1), at: days * Self.day) == 7) }
        for days in [-15, 15, 36_500] as [Int64] { #expect(seen.newest(of: name(1), at: days * Self.day) == nil) }
        for time in [Int64.min, .max] { #expect(seen.newest(of: name(1), at: time) == nil) }
        seen.note(2, of: name(1), at: 31 * Self.day)
        #expect(seen.newest(of: name(1), at: 31 * Self.day) == 2)
    }

    @Test("of many names the last half of the capacity is kept at least, and never more than all of it")
    func bound() {
        let seen = SeenVersions(capacity: 100)
        for number in 0..<1000 {
            seen.note(Int64(number), of: name(number), at: 0)
            // A name that is used stays.
            seen.note(9, of: name(5), at: 0)
            #expect(seen.count <= 100)
        }
        for number in 951..<1000 { #expect(seen.newest(of: name(number), at: 0) == Int64(number)) }
        #expect(seen.newest(of: name(5), at: 0) == 9)
        #expect(seen.newest(of: name(500), at: 0) == nil)
    }
}

@Suite("Versions and keys that were written by hand")
struct HandwrittenNumberTests {
    @Test("versions go on above what is stored and what was seen, and a removal has one whatever was written")
    func versions() {
        #expect(RecordVersion.next(after: 3, seen: 7) == 8 && RecordVersion.next(after: 7, seen: 3) == 8)
        for last in [.max, .max - 1] as [Int64] {
            #expect(RecordVersion.next(after: last, seen: 3) == nil)
            let removal = RecordVersion.removal(after: last, seen: 3)
            #expect(removal == 1 << 62 + 1 && RecordVersion.next(after: removal, seen: 3) == removal + 1)
            #expect(RecordVersion.removal(after: last, seen: removal) == removal + 1)
            #expect(RecordVersion.removal(after: 3, seen: last) == .max - 1)
        }
        #expect(RecordVersion.removal(after: 3, seen: 7) == 8)
    }

    @Test("keys are read again for a number once in ten seconds, and for a hundred numbers at most")
    func unknownKeys() {
        let unknown = UnknownKeys()
        let start = ContinuousClock.now
        #expect(unknown.mayLook(for: 7, at: start))
        unknown.note(7, at: start)
        unknown.note(7, at: start + .seconds(9))
        #expect(!unknown.mayLook(for: 7, at: start + .seconds(9)) && unknown.mayLook(for: 8, at: start))
        #expect(unknown.mayLook(for: 7, at: start + .seconds(10)))
        for number in 0..<1000 { unknown.note(Int64(number), at: start) }
        #expect(!unknown.mayLook(for: 5_000, at: start + .seconds(9)))
        #expect(unknown.mayLook(for: 5_000, at: start + .seconds(10)))
    }
}
