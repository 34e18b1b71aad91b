import ConnectButton
import Foundation
import Handshake
import IFTTTConnect
import Logging
import OAuth
import Observation
import Sandbox
import Synchronization
import TestFixtures
import Testing

/// A person at the pages of the sandbox, as a closure that is given the address and says where they left to.
struct Person: ConnectBrowser {
    let visit: @Sendable (ConnectActivation.Destination) async throws -> String?

    func open(_ destination: ConnectActivation.Destination) async throws -> String? { try await visit(destination) }
}

/// The apps of one device: what they have in common is the vault.
struct ModelScene: Sendable {
    static let connection = "aB3dE5fG"
    static let callback = "com.example.garden:/connect"
    static let settings = [
        ("f0", "on"), ("f0.c0.location.lat", "52.5"), ("f0.c0.location.lng", "13.4"),
        ("f0.c0.location.radius", "120"), ("f0.c0.location.address", "Sample Square 1"), ("f0.c1.zone", "zone-9"),
        ("do", "save"),
    ]

    let sandbox: Sandbox
    let vault = MemoryVault()

    /// Runs a body at a sandbox of its own, and stops it afterwards, also after a failure.
    @MainActor static func run(_ body: @MainActor (ModelScene) async throws -> Void) async throws {
        let sandbox = try await Sandbox.start()
        _ = sandbox.registerRedirectURL(callback)
        do {
            try await body(ModelScene(sandbox: sandbox))
        } catch {
            await sandbox.stop()
            throw error
        }
        await sandbox.stop()
    }

    var service: Service {
        get throws { Service.ifttt.at(try EndpointURL(sandbox.ifttt.origin, security: .allowingInsecureLoopback)) }
    }

    /// An app's accounts, as a process has them.
    func accounts(
        at time: TimeSource = TimeSource(now: { Date().timeIntervalSince1970 }, clock: HurriedClock())
    ) throws -> Handshake {
        try Handshake(
            Client(service: service, id: "lumen_garden", redirect: .uri(try RedirectURI(Self.callback))), vault: vault,
            time: time)
    }

    @MainActor func model(
        as name: String = AccountID.defaultName, of accounts: Handshake? = nil, prefetched: Connection? = nil,
        skipsConfiguration: Bool = false, disconnection: ConnectActivation.Disconnection = .confirmed,
        log: Logger? = nil,
        _ person: @escaping @Sendable (WebVisitor) async throws -> String?
    ) throws -> ConnectButtonModel {
        let origin = sandbox.ifttt.origin
        let sandbox = sandbox
        var environment = ConnectEnvironment(
            browser: Person { destination in try await person(try await WebVisitor(origin: origin, at: destination.url))
            },
            tokens: .redirect)
        environment.oauthCode = { Secret(try sandbox.issueOAuthCode(for: "garden-1005")) }
        return try ConnectButtonModel(
            Self.connection, accounts: try accounts ?? self.accounts(), as: name, email: "new@example.test",
            locale: .americanEnglish,
            environment: environment, prefetched: prefetched, log: log
        ) { configuration in
            if skipsConfiguration { configuration.skipsConfiguration = true }
            configuration.disconnection = disconnection
        }
    }

    /// What an attempt left in the vault.
    func attempt() async -> [UInt8]? {
        try? await vault.record(VaultKey(.activation, [Self.connection, AccountID.defaultName, "app"]))
    }

    /// Turns the connection on as a new user, until the app is left for IFTTT's pages and the attempt is in the vault.
    @MainActor func leaveForService(_ model: ConnectButtonModel) async {
        await Self.submitEmail(model)
        await until { model.state.step == .goingToService }
        while await attempt() == nil { await Task.yield() }
    }

    /// Turns the connection on, and submits the address that the model has.
    @MainActor static func submitEmail(_ model: ConnectButtonModel) async {
        await until { model.state.step == .connect }
        model.send(.turnOn)
        await until { model.state.step == .email }
        model.send(.email(model.email))
    }

    /// Someone who agrees to everything, and returns to the app.
    static func agree(_ visitor: WebVisitor) async throws -> String? {
        try await visitor.press("allow")
        try await visitor.submit(settings)
        return visitor.left
    }
}

/// What a model reported.
@MainActor @Observable final class Heard {
    var events: [String] = []

    init(_ model: ConnectButtonModel) {
        model.onConnect = { self.events.append("connected \($0.status)") }
        model.onDisconnect = { self.events.append("disconnected \($0.status)") }
        model.onFailure = { self.events.append("failed \($0.kind.rawValue)") }
        model.onSetUp = { self.events.append("set up \($0.id)") }
    }
}

/// Returns when a condition of observed values holds.
@MainActor func until(_ condition: () -> Bool) async {
    while true {
        let (changes, change) = AsyncStream.makeStream(of: Void.self)
        let holds = withObservationTracking(condition) {
            change.yield()
        }
        if holds { return }
        for await _ in changes { break }
        if Task.isCancelled { return }
    }
}
