import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import OAuth
import Sandbox
import TestFixtures
import Testing

@Suite("Token exchange", .heavy)
struct UserTokenTests {
    private func server(_ world: World) async throws -> RunningServer {
        let router = Router()
        let service = ConnectService(key: world.serviceKey, at: try world.hosts())
        let users = ["ada": "garden-1001", "new": "garden-1005", "ghost": "garden-1001"]
        let sandbox = world.sandbox
        let routes = UserTokenRoutes<BasicRequestContext>(
            service, at: try PublicAddress(World.address), time: TimeSource(now: { 1000 }, clock: ContinuousClock()),
            log: World.log
        ) { request, context in
            guard let name = World.user(request, context)?.id, let id = users[name] else { return nil }
            let accessToken = name == "ghost" ? "another-users" : "access_sandbox_\(name)"
            return PartnerUser(id: id, accessToken: Secret(accessToken)) {
                Secret(try sandbox.issueOAuthCode(for: "\(name)@example.test"))
            }
        }
        routes.add(to: router.group("connect"))
        return try await RunningServer.start(router)
    }

    private func post(
        _ server: RunningServer, _ name: String, as user: String, _ headers: [String: String] = [:]
    ) async throws -> WireClient.Answer {
        try await WireClient(origin: server.origin).send(
            "POST", "/connect/\(name)", headers: ["Cookie": "user=\(user)"].merging(headers) { $1 })
    }

    @Test("F069: a signed-in user gets their own token, and what is wrong is told without telling secrets")
    func exchange() async throws {
        let world = try await World.start()
        let server = try await server(world)
        let answer = try await post(server, "user_token?user_id=garden-1002", as: "ada")
        #expect(answer.status == 200 && answer.string("user_token") == "utk_sandbox_ada")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(try await post(server, "user_token", as: "stranger").status == 401)
        #expect(try await post(server, "user_token", as: "new").status == 502)
        let ghost = try await post(server, "user_token", as: "ghost")
        #expect(ghost.status == 502 && !ghost.text.contains("another-users"))
        #expect(try await post(server, "user_token", as: "ada", ["Origin": "https://evil.example"]).status == 403)
        await server.stop()
        await world.sandbox.stop()
    }

    @Test("F070: a provisional code is made of the user's own OAuth code, and leads through the Connect URL")
    func provisional() async throws {
        let world = try await World.start()
        let server = try await server(world)
        let answer = try await post(server, "provisional_access_code", as: "new")
        #expect(answer.status == 201)
        var url = ConnectURL(
            try ConnectionID("pL41nX01"), email: try #require(EmailAddress(rawValue: "new@example.test")),
            at: try world.hosts())
        url.redirect = try CallbackURL("\(World.address)/return")
        url.provisionalCode = Secret(try #require(answer.string("provisional_access_code")))
        url.skipsConfiguration = true
        // The code has connected the partner's service: what is left is the other one.
        let visitor = try await WebVisitor(origin: world.sandbox.ifttt.origin, at: try url.url)
        #expect(visitor.heading == "Connect Skylark Weather")
        try await visitor.press("allow")
        try await visitor.press("yes")
        #expect(visitor.left == "\(World.address)/return?next_step=complete")
        // It works once, and a token can be had for the user only now.
        let again = try await WebVisitor(
            origin: world.sandbox.ifttt.origin, at: try url.url.replacing("new@", with: "newer@"))
        #expect(again.heading == "Connect Lumen Garden")
        let service = ConnectService(key: world.serviceKey, at: try world.hosts())
        #expect(try await service.connection(url.connection, for: "garden-1005").status == .enabled)
        await server.stop()
        await world.sandbox.stop()
    }

    @Test("a user asks so often and no more")
    func rate() async throws {
        let world = try await World.start()
        let server = try await server(world)
        for _ in 0..<10 { #expect(try await post(server, "user_token", as: "ada").status == 200) }
        let refused = try await post(server, "user_token", as: "ada")
        #expect(refused.status == 429 && refused["Retry-After"] == "6")
        #expect(try await post(server, "provisional_access_code", as: "new").status == 201)
        await server.stop()
        await world.sandbox.stop()
    }
}
