import Handshake
import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("People, batches and places at the sandbox", .heavy)
struct PeopleTests {
    @Test("RC-09: the user's own profile has name and batch", arguments: [RecurseCenter.Shape.profiles, .people])
    func me(_ shape: RecurseCenter.Shape) async throws {
        try await withHub(shape: shape) { hub in
            let me = try await hub.center.profile(.me)
            #expect(me.name == "Ada Example")
            #expect(me.batchLabel == (shape == .profiles ? "S1'14" : "Summer 1, 2014"))
            #expect(hub.paths == [shape == .profiles ? "profiles/me" : "people/me"])
        }
    }

    @Test("RC-08: at a server of 2014, which has no profiles, the account's service says how people are asked for")
    func hackerSchool() async throws {
        try await withHub(isOfOldTimes: true) { hub in
            #expect(try await hub.center.profile(.me).name == "Ada Example")
            #expect(try await hub.profile(65_535).name == "Zoë Ångström")
            var found: [String] = []
            for try await person in hub.center.search(ProfileSearch("ada")) { found.append(person.name) }
            #expect(found.contains("Ada Example"))
            #expect(try await hub.account.identity().subject == "759")
            #expect(hub.paths.allSatisfy { $0.hasPrefix("people/") } && hub.paths.count == 4)
            #expect(hub.center.shape == .people)
        }
    }

    @Test(
        "RC-10: both shapes of one record are the same person",
        arguments: [759, 65_535, 70_000, 6_700, 6_701, 6_702, 6_703] as [Int64])
    func shapes(_ id: Int64) async throws {
        try await withHub { hub in
            let today = try await hub.profile(id)
            let legacy = RecurseCenter(hub.account, shape: .people, time: hub.time.source)
            let then = try await legacy.profile(.id(hub.person(id)))
            #expect(today.id == then.id)
            #expect(today.name == then.name)
            #expect(today.email == then.email)
            #expect(today.stints.compactMap(\.batch?.id) == then.stints.compactMap(\.batch?.id))
            #expect(today.stints.filter { $0.batch != nil }.map(\.startDate) == then.stints.map(\.startDate))
            #expect(try (hub.center.photoURL(of: today) == nil) == (legacy.photoURL(of: then) == nil))
        }
    }

    @Test(
        "RC-10: an address finds the person too, with a plus sign in it",
        arguments: ["ada@example.test", "mina+rc@example.test"])
    func email(_ address: String) async throws {
        try await withHub { hub in
            let found = try await hub.center.profile(.email(address)).email
            #expect(found == address)
        }
    }

    @Test(
        "RC-10: identifiers beyond 16 bits, without photo, e-mail and batch, and names beyond ASCII are people like others"
    )
    func unusual() async throws {
        try await withHub { hub in
            let zoe = try await hub.profile(65_535)
            #expect(zoe.name == "Zoë Ångström")
            #expect(zoe.email == nil)
            #expect(zoe.batchLabel == "Facilitator")
            #expect(zoe.stints.first?.endDate == nil)
            #expect(zoe.location?.name == "Göteborg, Sweden")
            let quentin = try await hub.profile(70_000)
            #expect(quentin.batchLabel == "W2'24")
            #expect(quentin.company == "Example & Sons")
            #expect(try await hub.profile(6_700).stints.first?.isHalfBatch == true)
            #expect(try await hub.profile(6_702).batchLabel == "")
        }
    }

    @Test("an unknown person is an error of its own")
    func unknown() async throws {
        try await withHub { hub in
            let id = try hub.person(1)
            #expect(await centerError { try await hub.center.profile(.id(id)) } == .unknownPerson(.id(id)))
            let stranger = ProfileReference.email("stranger@example.test")
            #expect(await centerError { try await hub.center.profile(stranger) } == .unknownPerson(stranger))
            #expect(hub.refreshes == 0)
        }
    }

    @Test("RC-13: the batches come newest first, and one by its identifier")
    func batches() async throws {
        try await withHub { hub in
            let batches = try await hub.center.batches()
            #expect(batches.first?.shortName == "SP1'25")
            #expect(
                batches.map(\.startDate)
                    == batches.map(\.startDate).sorted { ($0?.description ?? "") > ($1?.description ?? "") })
            let mini = try #require(BatchID(150))
            #expect(try await hub.center.batch(mini).name.hasPrefix("Mini"))
            let none = try #require(BatchID(9_999))
            #expect(await centerError { try await hub.center.batch(none) } == .unknownBatch(none))
        }
    }

    @Test("RC-14: places are found by the beginning of their name, as many as asked for")
    func locations() async throws {
        try await withHub { hub in
            let found = try await hub.center.locations("goteb").map(\.name)
            #expect(found == ["Göteborg, Sweden"])
            #expect(try await hub.center.locations("New").count == 10)
            #expect(try await hub.center.locations("New", limit: 50).count == 50)
            #expect(try await hub.center.locations("Atlantis").isEmpty)
            for limit in [0, 51] {
                #expect(
                    await centerError { try await hub.center.locations("New", limit: limit) }?.code == "invalid_input")
            }
        }
    }

    @Test("RC-05: a personal access token does all that a sign-in does")
    func personalToken() async throws {
        try await withHub(personalToken: true) { hub in
            let found = try await hub.center.profile(.me).name
            #expect(found == "Ada Example")
            hub.sandbox.advanceClock(by: 1e8)
            #expect(try await hub.center.batches().count > 1)
            #expect(hub.refreshes == 0)
        }
    }
}
