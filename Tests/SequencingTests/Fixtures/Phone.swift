import FileSelector
import Foundation
import Handshake
import OAuth
import Sandbox
import Sequencing
import TestFixtures
import Testing

@testable import WeatherMyWay

/// A phone: its vault, its settings, and who sits in front of it.
@MainActor
final class Phone {
    let sandbox: Sandbox
    let vault = MemoryVault()
    var settings: Data?
    var user = "ada@example.test"
    /// Whether the user leaves the browser instead of signing in.
    var leaves = false
    /// The sign-in pages that were opened.
    var pages = 0
    /// Holds the first page until it is open; nil does not.
    var gate: Gate?
    /// Opens when the first page is shown.
    private let shown = Gate()

    init() async throws {
        sandbox = try await Sandbox.start()
    }

    private struct Approval: Browser {
        let sandbox: Sandbox
        let user: String
        let leaves: Bool
        let gate: Gate?
        let shown: Gate

        func show(_ page: SignInPage) async throws -> String? {
            shown.open()
            await gate?.wait()
            try Task.checkCancellation()
            if leaves { throw HandshakeError.signInAbandoned(.closed) }
            return try await sandbox.approve(page.url, as: user)
        }
    }

    /// The app after a launch.
    ///
    /// - Parameter secret: the client's secret, for an app that can ask for the copy of a file.
    func launched(secret: Secret? = nil) async -> WeatherModel {
        let (sandbox, vault) = (sandbox, vault)
        let model = WeatherModel(
            WeatherModel.Device(
                client: {
                    let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
                    return Client(service: .sequencing.at(origin), id: "my-genome-app")
                },
                vault: { vault }, browser: { self.browser() },
                choices: KeptChoice.Store(read: { self.settings }, write: { self.settings = $0 }),
                genome: { Sequencing($0, polling: Polling(jitter: 0), clock: HurriedClock()) },
                copy: Self.copy(to: sandbox, with: secret)))
        await model.open()
        return model
    }

    private func browser() -> Approval {
        pages += 1
        return Approval(
            sandbox: sandbox, user: user, leaves: leaves, gate: pages == 1 ? gate : nil, shown: shown)
    }

    /// Begins a sign-in. Returns once its page is shown, or it has ended without one.
    func beginSignIn(in model: WeatherModel) async -> Task<Void, Never> {
        let shown = shown
        let signingIn = Task {
            await model.signIn()
            shown.open()
        }
        await shown.wait()
        return signingIn
    }

    private static func copy(
        to sandbox: Sandbox, with secret: Secret?
    ) -> (@Sendable (ConnectRequest) async throws -> ConnectDelivery.Outcome)? {
        guard let secret else { return nil }
        return { request in
            let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
            let codec = try LegacyConnectCodec(secret: secret)
            return try await ConnectDelivery().deliver(try codec.link(request, at: Sequencing.Hosts(allAt: origin)))
        }
    }

    /// The app of a user who has signed in and chosen their own file.
    func chosen() async throws -> WeatherModel {
        let model = await launched()
        await model.signIn()
        try await choose(in: model)
        return model
    }

    func choose(in model: WeatherModel) async throws {
        guard case .signedIn(let genome) = model.step else {
            Issue.record("\(model.step), \(model.problem ?? "")")
            return
        }
        await model.choose(try #require(try await genome.files(.uploaded).first))
    }
}
