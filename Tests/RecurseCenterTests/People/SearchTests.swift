import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("Search", .heavy)
struct SearchTests {
    @Test(
        "RC-12, scenario 10: 0, 1, 50, 51 and 100 people take 1, 1, 2, 2 and 3 requests",
        arguments: [(100, 0, 1), (101, 1, 1), (102, 50, 2), (103, 51, 2), (104, 100, 3)] as [(Int64, Int, Int)])
    func counts(_ batch: Int64, _ people: Int, _ requests: Int) async throws {
        try await withHub { hub in
            let found = try await hub.center.search(ProfileSearch(batch: BatchID(batch))).all()
            #expect(found.count == people)
            #expect(Set(found.map(\.id)).count == people)
            #expect(hub.paths == Array(repeating: "profiles", count: requests))
            #expect(found.allSatisfy { $0.resultsCount == Int64(people) })
        }
    }

    @Test("pages are fetched as they are read")
    func lazily() async throws {
        try await withHub { hub in
            var count = 0
            for try await _ in hub.center.search(ProfileSearch(batch: BatchID(104))) {
                count += 1
                if count == 50 { break }
            }
            #expect(hub.paths.count == 1)
        }
    }

    @Test(
        "RC-12: text, batch, place, role and time choose",
        arguments: [
            (ProfileSearch("ada ex"), [759]), (ProfileSearch("ångström"), [65_535]),
            (ProfileSearch(batch: BatchID(160)), [6_700, 70_000]),
            (ProfileSearch(location: LocationID(2_711_537)), [65_535]), (ProfileSearch(role: .faculty), [65_535]),
            (ProfileSearch(role: .resident), [6_701]), (ProfileSearch(role: .facilitator), [6_705]),
            (ProfileSearch(scope: .current), [6_703, 65_535]), (ProfileSearch(scope: .overlap), [70_000]),
            (ProfileSearch("a&limit=1#"), []),
        ] as [(ProfileSearch, [Int64])])
    func choices(_ search: ProfileSearch, _ expected: [Int64]) async throws {
        try await withHub { hub in
            let found = try await hub.center.search(search).all().map(\.id.number)
            #expect(found == expected)
        }
    }

    @Test("in the shape of 2014 a text is searched in one request, and nothing else can be")
    func legacy() async throws {
        try await withHub(shape: .people) { hub in
            let found = try await hub.center.search(ProfileSearch("example")).all().map(\.name)
            #expect(found == ["Ada Example"])
            #expect(hub.paths == ["people/search"])
            for search in [ProfileSearch(), ProfileSearch("ada", role: .recurser)] {
                #expect(await centerError { try await hub.center.search(search).all() }?.code == "invalid_input")
            }
        }
    }

    @Test("a service that ignores the offset ends the sequence instead of repeating it for ever")
    func sameGivenAgain() async throws {
        let page = "[" + (1...50).map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]"
        let service = ScriptedService(["GET /api/v1/profiles": [.json(page)]])
        let found = try await service.center().search(ProfileSearch("x")).all()
        #expect(found.count == 50)
        #expect(service.lines.count == 2)
    }

    @Test("a list that moves between two pages gives everyone once")
    func movingList() async throws {
        let first = "[" + (1...50).map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]"
        let service = ScriptedService(["GET /api/v1/profiles": [.json(first), .json(#"[{"id":50},{"id":51}]"#)]])
        let found = try await service.center().search(ProfileSearch("x")).all()
        #expect(found.map(\.id.number) == Array(1...51))
    }

    @Test(
        "D11: an answer that is no list of people is a protocol error that names the place",
        arguments: [
            ("{}", "content"), (#""x""#, "content"), ("null", "content"), (#"{"message":"x"}"#, "content"),
            (#"[{"id":1},null]"#, "[1]"), (#"[{"id":1},{"id":"x"}]"#, "[1].id"), ("[[]]", "[0]"),
        ])
    func notAList(_ json: String, _ member: String) async throws {
        let service = ScriptedService(["GET /api/v1/profiles": [.json(json)]])
        let error = await centerError { try await service.center().search(ProfileSearch("x")).all() }
        guard case .malformed("profiles", member, _, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
