#if CommandLine
import Beacons
import Handshake
import Testing

@testable import HandshakeCLI
@testable import Nearby

@Suite("What forgetting says")
struct ForgettingWordsTests {
    private func forgotten(
        of person: Int = 36, _ records: [StoredPeople.Deletion.Kind: Int], unreadableCircles: Int = 0
    ) throws -> StoredPeople.Deletion {
        var deletion = StoredPeople.Deletion()
        deletion.people = [try UserNumber(person)]
        deletion.records = records
        deletion.unreadableCircles = unreadableCircles
        deletion.isAboutOnePerson = true
        return deletion
    }

    @Test("of a person the entry in a circle is removed, and of everyone the circle")
    func circles() throws {
        var deletion = try forgotten([.encounters: 1, .circles: 2])
        #expect(deletion.sentence == "Removed 1 person: 1 encounter log and the entry in 2 circles.")
        deletion.isAboutOnePerson = false
        #expect(deletion.sentence == "Removed 1 person: 1 encounter log and 2 circles.")
    }

    @Test("CI57: who forgets a member on the page is told of the list of ignored people, where that is undone")
    func ignoring() throws {
        let member = try forgotten([.encounters: 1, .circles: 1])
        #expect(CompanionActions.forgotten(member).hasPrefix(member.sentence))
        #expect(CompanionActions.forgotten(member).hasSuffix("To undo it: Ignored people, in the circle's settings."))
        let stranger = try forgotten([.encounters: 1])
        #expect(CompanionActions.forgotten(stranger) == stranger.sentence)
        // The circle may have had the person.
        let unread = try forgotten([.circles: 1], unreadableCircles: 1)
        #expect(CompanionActions.forgotten(unread).hasSuffix("To undo it: Ignored people, in the circle's settings."))
    }

    @Test("CI57: who forgets a member in a terminal is told of the command that undoes it")
    func undoing() throws {
        let person = try UserNumber(36)
        let command =
            " This device ignores the person from now on. To undo it, run: handshake nearby circle unhide 36"
        #expect(try forgotten([.encounters: 1, .circles: 1]).undoing(person) == command)
        #expect(try forgotten([.circles: 1], unreadableCircles: 1).undoing(person) == command)
        #expect(try forgotten([.encounters: 1]).undoing(person).isEmpty)
        var everyone = try forgotten([.circles: 1])
        everyone.isAboutOnePerson = false
        #expect(everyone.undoing(nil).isEmpty && everyone.undoing(person).isEmpty)
    }

    @Test("CI49: who forgets a person is told that a table that could not be read went with everyone's identity")
    func tables() throws {
        let one = try forgotten([.circles: 1], unreadableCircles: 1).sentence
        #expect(
            one == """
                The table of a circle could not be read and was removed whole, with the identities by which you knew the \
                members. The next synchronisation fetches the members again, with the identities that the server shows \
                then. Ask people in person, and pair with them.
                """)
        let more = try forgotten([.profiles: 1, .circles: 3], unreadableCircles: 2).sentence
        #expect(more.hasPrefix("Removed 1 person: 1 profile and the entry in 1 circle. The tables of 2 circles could"))
    }

    @Test("CI49: who forgets a person is told of damaged records, which may be about the person and stay")
    func damage() throws {
        var deletion = try forgotten([.profiles: 1])
        deletion.damaged = [.vault(.damaged(what: "the record 4f2a", reason: "its contents are truncated"))]
        let one = """
            1 record of the vault cannot be read, so whether it is about this person is not known: “the record 4f2a: its \
            contents are truncated”. Restore it and forget the person again, or delete it.
            """
        #expect(deletion.sentence == "Removed 1 person: 1 profile. \(one)")
        (deletion.people, deletion.records) = ([], [:])
        #expect(deletion.sentence == "There was nothing to remove. \(one)")
        deletion.damaged.append(.vault(.damaged(what: "the record 77c1", reason: "it has no name")))
        let two = """
            2 records of the vault cannot be read, so whether they are about this person is not known. The first is “the \
            record 4f2a: its contents are truncated”. Restore them and forget the person again, or delete them.
            """
        #expect(deletion.sentence == "There was nothing to remove. \(two)")
        #expect(deletion.failure == nil)
    }

    @Test("CI49: who forgets everyone is told of damaged records that remain, in whichever of the three ways")
    func damageOfEveryone() throws {
        var deletion = try forgotten([.profiles: 1])
        deletion.isAboutOnePerson = false
        #expect(deletion.sentence == "Removed 1 person: 1 profile." && deletion.failure == nil)
        deletion.damaged = [.vault(.damaged(what: "the record 4f2a", reason: "its contents are truncated"))]
        let sentence = deletion.sentence
        #expect(sentence.hasPrefix("Removed 1 person: 1 profile. But damaged records remain: "), "on the page")
        #expect(sentence.contains("the record 4f2a"))
        #expect(deletion.failure?.status == .vault && deletion.failure?.message == sentence, "in the terminal")
        var later = StoredPeople.Deletion()
        later.add(deletion)
        #expect(later.damaged == deletion.damaged)
        later.add(StoredPeople.Deletion())
        #expect(later.damaged.isEmpty && later.records == [.profiles: 1], "it is gone by then")
    }
}
#endif
