#if Sandbox
import HTTPTypes
import SandboxCore

/// Profiles, legacy people, batches and locations (Recurse Center dossier, section 4.1).
struct PeopleRoutes: Sendable {
    let access: Access

    var routes: [Route] {
        [
            Route("GET", path: "/api/v1/profiles/me", note: "own profile, today's shape", answer: access.answering(me)),
            Route(
                "GET", path: "/api/v1/profiles/{id}", note: "a profile by id or e-mail address",
                answer: access.answering(profile)),
            Route(
                "GET", path: "/api/v1/profiles",
                note: "search: query, batch_id, location_id, role, scope, limit (20, at most 50), offset",
                answer: access.answering(search)),
            Route(
                "GET", path: "/api/v1/people/me", note: "own profile, legacy shape", answer: access.answering(legacyMe)),
            Route(
                "GET", path: "/api/v1/people/search", note: "search by q, legacy shape",
                answer: access.answering(legacySearch)),
            Route(
                "GET", path: "/api/v1/people/{id}", note: "a person by id or e-mail address, legacy shape",
                answer: access.answering(person)),
            Route("GET", path: "/api/v1/batches", note: "batches, newest first", answer: access.answering(batches)),
            Route("GET", path: "/api/v1/batches/{id}", note: "one batch", answer: access.answering(batch)),
            Route(
                "GET", path: "/api/v1/batches/{id}/people", note: "the people of a batch, legacy shape",
                answer: access.answering(batchPeople)),
            Route(
                "GET", path: "/api/v1/locations",
                note: "places by the beginning of their name: query, limit (10, at most 50)",
                answer: access.answering(locations)),
        ]
    }

    private var origin: String { access.server.origin }

    private func me(_ request: IncomingRequest, _ caller: Person) -> Answer {
        .json(caller.profile(origin: origin))
    }

    private func legacyMe(_ request: IncomingRequest, _ caller: Person) -> Answer {
        .json(caller.legacy(origin: origin))
    }

    private func profile(_ request: IncomingRequest, _ caller: Person) -> Answer {
        guard let person = People.person(idOrEmail: request.variables["id"] ?? "") else {
            return Access.notFound
        }
        return .json(person.profile(origin: origin))
    }

    private func person(_ request: IncomingRequest, _ caller: Person) -> Answer {
        guard let person = People.person(idOrEmail: request.variables["id"] ?? "") else {
            return Access.notFound
        }
        return .json(person.legacy(origin: origin))
    }

    private func search(_ request: IncomingRequest, _ caller: Person) -> Answer {
        guard let search = PeopleSearch(request.query, by: caller) else {
            return Access.invalid("role or scope is unknown")
        }
        let count = search.people.count
        return .json(.array(search.page.map { $0.profile(origin: origin, resultsCount: count) }))
    }

    private func legacySearch(_ request: IncomingRequest, _ caller: Person) -> Answer {
        guard let text = request.query["q"] else { return .json([]) }
        return .json(
            .array(
                People.all.filter { PeopleSearch.names($0, by: text) }.map { $0.legacy(origin: origin) }))
    }

    private func batches(_ request: IncomingRequest, _ caller: Person) -> Answer {
        .json(.array(Batch.all.map(\.json)))
    }

    private func batch(_ request: IncomingRequest, _ caller: Person) -> Answer {
        batch(request).map { .json($0.json) } ?? Access.notFound
    }

    private func batchPeople(_ request: IncomingRequest, _ caller: Person) -> Answer {
        guard let batch = batch(request) else { return Access.notFound }
        let people = People.all.filter { $0.stints.contains { $0.batch == batch } }
        return .json(.array(people.map { $0.legacy(origin: origin) }))
    }

    private func batch(_ request: IncomingRequest) -> Batch? {
        let id = request.variables["id"].flatMap { Int($0) }
        return Batch.all.first { $0.id == id }
    }

    private func locations(_ request: IncomingRequest, _ caller: Person) -> Answer {
        let text = (request.query["query"] ?? "").lowercased()
        let limit = min(max(request.query["limit"].flatMap { Int($0) } ?? 10, 1), 50)
        let found = Location.all.filter {
            $0.name.lowercased().hasPrefix(text) || $0.asciiName.lowercased().hasPrefix(text)
        }
        return .json(.array(found.prefix(limit).map(\.json)))
    }
}
#endif
