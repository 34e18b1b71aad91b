import Handshake
import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("Unauthorized, in all its disguises", .heavy)
struct UnauthorizedTests {
    @Test(
        "RC-06, scenario 4: however the service says it, the token is refreshed once and the request answered",
        arguments: UnauthorizedAnswer.allCases)
    func disguises(_ style: UnauthorizedAnswer) async throws {
        try await withHub { hub in
            hub.sandbox.answerUnauthorized(with: style)
            hub.sandbox.expireAccessTokens(.recurseCenter)
            let found = try await hub.profile(70_000).name
            #expect(found == "Quentin Late")
            #expect(hub.refreshes == 1)
            hub.sandbox.expireAccessTokens(.recurseCenter)
            #expect(try await hub.center.profile(.me).name == "Ada Example")
            #expect(hub.refreshes == 2)
        }
    }

    @Test("RC-06: a check-in whose token is refused by a masked 404 is sent again after the refresh")
    func maskedCheckIn() async throws {
        try await withHub { hub in
            hub.sandbox.answerUnauthorized(with: .maskedAs404)
            hub.sandbox.expireAccessTokens(.recurseCenter)
            let me = try hub.person(759)
            #expect(try await hub.center.checkIn(me).person == me)
            #expect(hub.refreshes == 1)
        }
    }

    @Test("RC-06: a token that is answered 403 is refreshed; a true prohibition is not taken for one")
    func forbidden() async throws {
        try await withHub { hub in
            try hub.inject("GET /api/v1/profiles/70000 => status 403 {\"message\":\"forbidden\"} x1")
            try hub.inject("GET /api/v1/profiles/me => status 403 {\"message\":\"forbidden\"} x1")
            #expect(try await hub.profile(70_000).name == "Quentin Late")
            #expect(hub.refreshes == 1)
            let other = try hub.person(65_535)
            #expect(await centerError { try await hub.center.checkIn(other) } == .forbidden(message: "forbidden"))
            #expect(hub.refreshes == 1)
        }
    }

    @Test(
        "scenario 2: ten lookups that fail concurrently cause one refresh, and all ten succeed",
        arguments: [UnauthorizedAnswer.status401, .legacy200])
    func tenConcurrently(_ style: UnauthorizedAnswer) async throws {
        try await withHub { hub in
            hub.sandbox.answerUnauthorized(with: style)
            hub.sandbox.expireAccessTokens(.recurseCenter)
            let names = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<10 { group.addTask { try await hub.profile(70_000).name } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(names == Array(repeating: "Quentin Late", count: 10))
            #expect(hub.refreshes == 1)
        }
    }

    @Test("an absent person does not cost the session: the user's own profile is asked for, and no refresh")
    func trulyAbsent() async throws {
        try await withHub { hub in
            _ = await centerError { try await hub.profile(1) }
            #expect(hub.paths == ["profiles/1", "profiles/me"])
            #expect(hub.account.status.state == .signedIn)
            let me = try await hub.center.profile(.me)
            #expect(me.name == "Ada Example")
        }
    }

    @Test("a service that hides everything ends in the wish to sign in, after one refresh and not in a loop")
    func hidesEverything() async throws {
        try await withHub { hub in
            try hub.inject("/api/v1/* => status 404 {\"message\":\"not_found\"}")
            let id = hub.account.id
            for reference in [ProfileReference.me, .id(try hub.person(759))] {
                let error = await centerError { try await hub.center.profile(reference) }
                #expect(error == .account(.signInRequired(id, .stillUnauthorized)))
            }
            #expect(hub.refreshes == 2)
            #expect(hub.account.status.state == .signedIn)
        }
    }

    @Test(
        "RC-05: a personal access token that is refused asks for another one and stays",
        arguments: UnauthorizedAnswer.allCases)
    func personalToken(_ style: UnauthorizedAnswer) async throws {
        try await withHub(personalToken: true) { hub in
            hub.sandbox.answerUnauthorized(with: style)
            hub.sandbox.revokePersonalAccessTokens()
            let id = hub.account.id
            #expect(await centerError { try await hub.profile(759) } == .account(.signInRequired(id, .notRefreshable)))
            #expect(hub.account.status.state == .signedIn)
            #expect(hub.refreshes == 0)
        }
    }

    @Test("scenario 3: a refresh token that was used elsewhere signs out, and those who are known can still be read")
    func usedElsewhere() async throws {
        try await withHub { hub in
            let directory = ProfileDirectory(hub.center, in: MemoryVault())
            let quentin = try hub.person(70_000)
            _ = try await directory.entry(quentin)
            hub.sandbox.revokeRefreshTokens(.recurseCenter)
            hub.sandbox.expireAccessTokens(.recurseCenter)
            let id = hub.account.id
            #expect(await centerError { try await hub.profile(759) } == .account(.signInRequired(id, .refreshRejected)))
            hub.time.advance(by: 90_000)
            let entry = try await directory.entry(quentin)
            #expect(entry.profile.name == "Quentin Late")
            #expect(entry.isStale)
        }
    }

    @Test(
        "an error page, a cut answer and another message are errors of the service, and keep the tokens",
        arguments: [
            "garbage", "cut 20", "drop", "status 500", "status 400 {\"message\":\"unauthorised client\"}",
            "status 200 <html>",
            "huge 10000000",
        ])
    func keepsTokens(_ fault: String) async throws {
        try await withHub(retry: .never) { hub in
            try hub.inject("/api/v1/profiles/me => \(fault) x1")
            #expect(await centerError { try await hub.center.profile(.me) } != nil)
            #expect(hub.refreshes == 0)
            #expect(hub.account.status.state == .signedIn)
            #expect(try await hub.center.profile(.me).name == "Ada Example")
        }
    }
}
