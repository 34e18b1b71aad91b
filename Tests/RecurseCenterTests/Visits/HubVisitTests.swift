import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("Visits to the hub", .heavy)
struct HubVisitTests {
    @Test(
        "RC-15, RC-29, scenario 11: twice on one day in New York is one visit, the next day another, and checking out removes one"
    )
    func days() async throws {
        try await withHub { hub in
            let me = try await hub.center.profile(.me).id
            let first = try await hub.center.checkIn(me)
            #expect(first.date == hub.center.today)
            #expect(first.date.description == "2025-07-01")
            #expect(try await hub.center.checkIn(me).id == first.id)
            // Noon in New York, and eleven hours and a half later still the same day there, though not in Greenwich.
            hub.time.advance(by: 11.5 * 3600)
            #expect(try await hub.center.checkIn(me).id == first.id)
            hub.time.advance(by: 3600)
            let second = try await hub.center.checkIn(me)
            #expect(second.date.description == "2025-07-02")
            let mine = HubVisitFilter(person: me)
            #expect(try await hub.center.hubVisits(mine).all().map(\.date) == [first.date, second.date])
            #expect(try await hub.center.checkOut(me))
            #expect(try await hub.center.hubVisits(mine).all().map(\.date) == [first.date])
            #expect(try await hub.center.checkOut(me) == false)
            #expect(try await hub.center.hubVisit(of: me, on: second.date) == nil)
            #expect(hub.refreshes == 0)
        }
    }

    @Test("RC-15: notes and what apps store are kept until they are changed, and an empty text clears the notes")
    func notes() async throws {
        try await withHub { hub in
            let me = try hub.person(759)
            let data = JSONValue.object(["beacon": .number("42")])
            let visit = try await hub.center.checkIn(me, notes: "café & \"window\"\n=", appData: data)
            #expect(visit.notes == "café & \"window\"\n=")
            #expect(visit.appData == data)
            #expect(visit.name == "Ada Example")
            #expect(try await hub.center.checkIn(me).notes == visit.notes)
            #expect(try await hub.center.hubVisit(of: me, on: visit.date)?.appData == data)
            let cleared = try await hub.center.checkIn(me, notes: "")
            #expect(cleared.notes.isEmpty)
            #expect(cleared.appData == data)
        }
    }

    @Test("RC-15: visits are listed by person and days")
    func list() async throws {
        try await withHub { hub in
            let may = try #require(CalendarDate("2024-05-01"))
            let next = try #require(CalendarDate("2024-05-02"))
            let zoe = try hub.person(65_535)
            #expect(try await hub.center.hubVisits(.on(may)).all().map(\.person.number) == [6_700, 65_535])
            #expect(try await hub.center.hubVisits(HubVisitFilter(from: may, to: next)).all().count == 3)
            #expect(try await hub.center.hubVisits(HubVisitFilter(person: zoe)).all().map(\.notes) == ["", "fika"])
            #expect(try await hub.center.hubVisits().all().isEmpty)
        }
    }

    @Test("RC-15: visits beyond 200 come from further pages")
    func pages() async throws {
        func page(_ range: ClosedRange<Int>) -> ScriptedService.Reply {
            .json("[" + range.map { #"{"person":{"id":\#($0)},"date":"2025-07-01"}"# }.joined(separator: ",") + "]")
        }
        let service = ScriptedService([
            "GET /api/v1/hub_visits?page=1&per_page=200": [page(1...200)],
            "GET /api/v1/hub_visits?page=2&per_page=200": [page(201...203)],
        ])
        #expect(try await service.center().hubVisits().all().count == 203)
        #expect(service.lines.count == 2)
    }

    @Test("another person's visit cannot be changed, nor that of an unknown person")
    func others() async throws {
        try await withHub { hub in
            let zoe = try hub.person(65_535)
            #expect(await centerError { try await hub.center.checkIn(zoe) }?.code == "forbidden")
            #expect(await centerError { try await hub.center.checkOut(zoe) }?.code == "forbidden")
            let absent = try hub.person(1)
            #expect(await centerError { try await hub.center.checkIn(absent) } == .unknownPerson(.id(absent)))
        }
    }

    @Test(
        "D11: an answer that is no visit is a protocol error",
        arguments: [
            "[]", "null", "{}", #"{"person":[],"date":"2025-07-01"}"#, #"{"person":{"id":759},"date":"yesterday"}"#,
            #"{"person":{"id":"x"},"date":"2025-07-01"}"#, #"{"person":{"id":759},"date":null}"#,
        ])
    func malformed(_ json: String) async throws {
        let service = ScriptedService(["PATCH /api/v1/hub_visits/759/2025-07-01": [.json(json)]])
        let center = try await service.center()
        let ada = try #require(PersonID(759))
        #expect(await centerError { try await center.checkIn(ada) }?.code == "malformed_answer")
    }
}
