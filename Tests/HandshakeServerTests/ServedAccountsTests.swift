import ConnectedAccountsUI
import HTTPTypes
import Handshake
import Hummingbird
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

/// `AccountsServer` of `ConnectedAccountsUI` at the real routes, on loopback.
@MainActor @Suite("An app's list of the accounts on its server", .heavy)
struct ServedAccountsTests {
    nonisolated private static let address = "https://app.example.test"
    nonisolated private static let redirect = "com.example.app:/accounts"

    /// Sends what is meant for the app's public address to its server on loopback.
    private struct Loopback: Transport {
        let authority: String

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            var moved = request
            (moved.head.scheme, moved.head.authority) = ("http", authority)
            return try await PlatformTransport().send(moved, limits: limits)
        }
    }

    /// The user's browser, with the session that it has at the app. It ends where the app is opened.
    private struct Visitor: Browser {
        let wire: WireClient
        let user: String
        /// Answers the service's page: with the redirect to the app's server.
        let answer: @Sendable (String) async throws -> String

        func show(_ page: SignInPage) async throws -> String? {
            var (url, cookies) = (page.url, ["user=\(user)"])
            for _ in 0..<6 {
                guard url.hasPrefix("https://app.example.test") || url.hasPrefix("/") else { break }
                let target = url.hasPrefix("/") ? url : String(url.dropFirst("https://app.example.test".count))
                let response = try await wire.send(
                    "GET", target, headers: ["Cookie": cookies.joined(separator: "; "), "Sec-Fetch-Site": "none"])
                let set = response.fields.filter { $0.name.lowercased() == "set-cookie" }
                cookies += set.map { String($0.value.prefix { $0 != ";" }) }
                guard let location = response["Location"] else { throw HandshakeError.signInAbandoned(.closed) }
                url = location.hasPrefix("http://127.0.0.1") ? try await answer(location) : location
            }
            return url
        }
    }

    private final class Session: Sendable {
        let user = Mutex<String?>("ada")
    }

    private func scene(_ session: Session) async throws -> (Sandbox, RunningServer, Handshake, ConnectedAccountsModel) {
        let sandbox = try await Sandbox.start()
        let handshake = try Handshake(try World.standardClient(of: sandbox, at: Self.address), vault: MemoryVault())
        let (address, environment) = (try PublicAddress(Self.address), SignInEnvironment(log: World.log))
        let router = Router()
        let signIn = try SignInRoutes<BasicRequestContext>(
            handshake, at: address, environment: environment,
            respond: ConnectedAccountsRoutes<BasicRequestContext>.returnToPage
        ) { request, _ in World.user(request)?.id }
        let accounts = ConnectedAccountsRoutes<BasicRequestContext>(
            handshake, at: address, environment: environment, app: try RedirectURI(Self.redirect)
        ) { request, _ in World.user(request)?.id }
        signIn.add(to: router)
        accounts.add(to: router)
        let server = try await RunningServer.start(router)
        let source = try AccountsServer(
            at: Self.address, redirect: Self.redirect, transport: Loopback(authority: "127.0.0.1:\(server.port)")
        ) {
            session.user.withLock { user in user.map { [.cookie: "user=\($0)"] } ?? [:] }
        }
        return (sandbox, server, handshake, ConnectedAccountsModel(source))
    }

    private func visitor(
        _ sandbox: Sandbox, _ server: RunningServer, as user: String = "ada",
        refusing: Bool = false
    ) throws -> Visitor {
        Visitor(wire: try WireClient(origin: server.origin), user: user) { url in
            refusing ? try await sandbox.refuse(url) : try await sandbox.approve(url)
        }
    }

    @Test("an account is connected, named and disconnected; the tokens stay on the server")
    func whole() async throws {
        let (sandbox, server, handshake, model) = try await scene(Session())
        await model.load()
        #expect(model.failure == nil && model.accounts.map(\.state) == [.absent])
        model.connect("standard", through: try visitor(sandbox, server))
        #expect(model.running["standard"] == .connecting)
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .connected && model.accounts.map(\.state) == [.signedIn])
        #expect(model.accounts.first?.userName != nil && model.accounts.first?.lastUse != nil)
        #expect(try await handshake.account("ada") != nil, "the server has it")
        model.askToDisconnect("standard")
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .disconnected && model.accounts.map(\.state) == [.absent])
        #expect(try await handshake.account("ada") == nil)
        await server.stop()
        await sandbox.stop()
    }

    @Test("what the user declines at the service is cancelled, and a browser without a session connects nothing")
    func declined() async throws {
        let (sandbox, server, handshake, model) = try await scene(Session())
        await model.load()
        model.connect("standard", through: try visitor(sandbox, server, refusing: true))
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .cancelled && model.accounts.map(\.state) == [.absent])
        model.connect("standard", through: try visitor(sandbox, server, as: ""))
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .cancelled)
        // The browser's session is another user's, for whom the app has not asked: a page asks that user, who closes it.
        model.connect("standard", through: try visitor(sandbox, server, as: "grace"))
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .cancelled && model.accounts.map(\.state) == [.absent])
        #expect(try await handshake.accountIDs().ids.isEmpty)
        await server.stop()
        await sandbox.stop()
    }

    @Test("a service that fails is told apart, and a second disconnection ends what the first has begun")
    func faults() async throws {
        let (sandbox, server, _, model) = try await scene(Session())
        await model.load()
        sandbox.inject(try FaultRule(parsing: "standard POST /token => status 503 x9"))
        model.connect("standard", through: try visitor(sandbox, server))
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .connectFailed && model.accounts.map(\.state) == [.absent])
        sandbox.clearFaults()
        model.connect("standard", through: try visitor(sandbox, server))
        await model.finish("standard")
        sandbox.inject(try FaultRule(parsing: "standard POST /revoke => status 503 x1"))
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .disconnectFailed && model.accounts.map(\.state) == [.signingOut])
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .disconnected && model.accounts.map(\.state) == [.absent])
        await server.stop()
        await sandbox.stop()
    }

    @Test("with another user's session nothing of the first is shown, and its token disconnects nothing")
    func users() async throws {
        let session = Session()
        let (sandbox, server, handshake, model) = try await scene(session)
        await model.load()
        model.connect("standard", through: try visitor(sandbox, server))
        await model.finish("standard")
        session.user.withLock { $0 = "grace" }
        // What is shown is still ada's.
        model.disconnect("standard")
        await model.finish("standard")
        #expect(
            model.outcomes == [:] && model.accounts.map(\.state) == [.absent] && model.accounts.first?.userName == nil)
        #expect(try await handshake.account("ada") != nil)
        session.user.withLock { $0 = nil }
        await model.load()
        #expect(model.failure == .loggedOut && model.accounts == [])
        session.user.withLock { $0 = "ada" }
        await model.load()
        #expect(model.failure == nil && model.accounts.map(\.state) == [.signedIn])
        await server.stop()
        await model.load()
        #expect(model.failure == .unavailable && model.accounts.map(\.state) == [.signedIn])
        await sandbox.stop()
    }
}
