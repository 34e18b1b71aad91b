import Foundation
import OAuth
import TestFixtures
import Testing

@testable import Handshake

@Suite("Secrets that a server has given to another process", .heavy)
struct RotatedSecretTests {
    private let network = RegistrationNetwork()
    private let vault = MemoryVault()
    private let now = Shared(1_750_000_000.0)

    /// What a client sends with its secret.
    enum Request: String, CaseIterable, Sendable {
        case code, exchange, push, device, ownDevice, introspection, revocation

        var path: String {
            switch self {
            case .code, .exchange: "/token"
            case .push: "/par"
            case .device: "/device"
            case .ownDevice: "/backchannel"
            case .introspection: "/introspect"
            case .revocation: "/revoke"
            }
        }
    }

    /// An app with an account.
    private func app(
        pushing: Client.Options.Pushing = .never, in vault: any Vault, clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> (Handshake, Account) {
        network.change {
            $0.metadata = [
                "pushed_authorization_request_endpoint": "https://as.example/par",
                "device_authorization_endpoint": "https://as.example/device",
                "backchannel_authentication_endpoint": "https://as.example/backchannel",
                "backchannel_token_delivery_modes_supported": ["poll"],
                "introspection_endpoint": "https://as.example/introspect",
            ]
            $0.answers = [
                "/par": .json(201, ["request_uri": "urn:example:pushed", "expires_in": 60]),
                "/device": .json(
                    200,
                    [
                        "device_code": "device", "user_code": "user", "verification_uri": "https://as.example/enter",
                        "expires_in": 60,
                    ]),
                "/backchannel": .json(200, ["auth_req_id": "request", "expires_in": 60]),
                "/introspect": .json(200, ["active": true]), "/revoke": .json(200, [:]),
            ]
            $0.secretEnds = $0.secretEnds ?? 0
        }
        var client = try await network.client(in: vault)
        client.options.pushedRequests = pushing
        let time = TimeSource(now: { [now] in now.value }, clock: clock)
        let app = try Handshake(client, vault: vault, transport: network, time: time)
        let grant = Grant(
            accessToken: Secret("access"), expiresAt: now.value + 3_600, issuedAt: now.value,
            refreshToken: Secret("refresh"), scopes: ["a"])
        return (app, try await app.adopt(grant))
    }

    /// Another process gets a new secret. The server accepts no other one from now on.
    ///
    /// - Returns: where the registration is, and what the process stores there.
    private func newSecret(in vault: any Vault) async throws -> (place: VaultKey, bytes: [UInt8]) {
        let client = try await network.client(in: vault)
        let registration = try #require(client.registration)
        let place = try #require(registration.vaultKey)
        let bytes = try Registrations.stored(
            client.registered(registration, .secret(Secret("secret-of-1"), .post)))
        network.change { $0.secret = "secret-of-1" }
        return (place, bytes)
    }

    /// Another process gets a new secret and stores it.
    private func rotate() async throws {
        let (place, bytes) = try await newSecret(in: vault)
        try await vault.update(place) { try await $0.replace(with: bytes) }
    }

    /// An account in a file vault, whose registration another process holds.
    private struct HeldRegistration {
        let clock: ManualClock
        let account: Account
        let gate: Gate
        let process: Task<Void, any Error>

        /// The process stores its new secret, and lets go of the registration.
        func release() async throws {
            gate.open()
            try await process.value
        }
    }

    private func heldRegistration() async throws -> HeldRegistration {
        let (folder, clock, gate, isHeld) = (try VaultFolder(), ManualClock(), Gate(), Gate())
        let vault = KeptVault(base: try folder.open(clock: clock), folder: folder)
        let (_, account) = try await app(in: vault)
        let (place, bytes) = try await newSecret(in: vault)
        let other = try folder.open()
        let process = Task {
            try await other.update(place) { locked in
                isHeld.open()
                await gate.wait()
                try await locked.replace(with: bytes)
            }
        }
        await isHeld.wait()
        return HeldRegistration(clock: clock, account: account, gate: gate, process: process)
    }

    /// The secrets that came to an endpoint, in their order.
    private func secrets(at path: String) -> [String] {
        network.requests.filter { $0.head.path == path }.compactMap { request -> String? in
            guard case .bytes(let bytes) = request.content else { return nil }
            var form = URLComponents()
            form.percentEncodedQuery = String(decoding: bytes, as: UTF8.self)
            return form.queryItems?.first { $0.name == "client_secret" }?.value
        }
    }

    @Test(
        "M503: a request whose secret the server no longer accepts is retried with the secret of another process",
        arguments: Request.allCases)
    func retried(_ request: Request) async throws {
        // A sign-in on the user's own device needs openid, and any other one would need an ID token then.
        network.change { $0.scopes = request == .ownDevice ? ["openid"] : ["a"] }
        let (app, account) = try await app(pushing: request == .push ? .always : .never, in: vault)
        try await rotate()
        switch request {
        case .code: _ = try await app.signIn(as: "other", through: network.browser())
        case .exchange:
            network.change {
                $0.token = .json(
                    200,
                    [
                        "access_token": "other", "token_type": "Bearer",
                        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
                    ])
            }
            _ = try await account.exchangedToken()
        case .push:
            let browser = ScriptedBrowser { _ in throw HandshakeError.signInAbandoned(.closed) }
            let error = await handshakeError { try await app.signIn(as: "other", through: browser) }
            #expect(error == .signInAbandoned(.closed))
        case .device:
            let error = await handshakeError {
                try await app.signInOnAnotherDevice(as: "other") { _ in
                    throw HandshakeError.signInAbandoned(.closed)
                }
            }
            #expect(error == .signInAbandoned(.closed))
        case .ownDevice:
            let error = await handshakeError {
                try await app.signInOnOwnDevice(of: .login("ada"), as: "other", timeout: .zero)
            }
            #expect(error == .signInAbandoned(.timedOut))
        case .introspection: #expect(try await account.introspection().isActive)
        case .revocation: #expect(try await account.signOut().revoked == [.refreshToken, .accessToken])
        }
        #expect(secrets(at: request.path).prefix(2) == ["secret-1", "secret-of-1"])
        #expect(try await network.client(in: vault).id == "client-1")
    }

    @Test(
        "M503: a poll whose secret the server no longer accepts is retried with the secret of another process",
        arguments: [Request.device, .ownDevice])
    func polled(_ request: Request) async throws {
        network.change { $0.scopes = request == .ownDevice ? ["openid"] : ["a"] }
        let clock = ManualClock()
        let (app, _) = try await app(in: vault, clock: clock)
        let signIn = Task {
            await handshakeError {
                if request == .device {
                    _ = try await app.signInOnAnotherDevice(as: "other") { _ in }
                } else {
                    _ = try await app.signInOnOwnDevice(of: .login("ada"), as: "other")
                }
            }
        }
        // The deadline, and the pause before the first poll.
        await clock.sleepers(2)
        try await rotate()
        let passing = clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
        let error = await signIn.value
        passing.cancel()
        #expect(secrets(at: "/token") == ["secret-1", "secret-of-1"])
        // The tokens of the other sign-in come without the ID token that it needs.
        #expect(error?.code == (request == .device ? nil : "malformed_response"))
    }

    @Test("M503: a request that is refused with the current secret is not retried, and the registration stays")
    func refused() async throws {
        let (_, account) = try await app(in: vault)
        network.change { $0.secret = "another" }
        #expect(await handshakeError { try await account.introspection() }?.code == "invalid_client")
        #expect(secrets(at: "/introspect") == ["secret-1"])
        #expect(try await network.client(in: vault).id == "client-1")
    }

    @Test("M503: where a server refuses a secret that the user states, the stored one does not take its place")
    func stated() async throws {
        _ = try await app(in: vault)
        let known = try await network.client(in: vault)
        var client = known.registered(try #require(known.registration), .secret(Secret("stated"), .post))
        client.hasStatedCredential = true
        client.options.pushedRequests = .never
        network.change { $0.secret = "secret-1" }
        let other = try Handshake(client, vault: vault, transport: network)
        let error = await handshakeError { try await other.signIn(as: "other", through: network.browser()) }
        #expect(error?.code == "invalid_client")
        #expect(secrets(at: "/token") == ["stated"])
        #expect(try await network.client(in: vault).credential?.secret?.reveal() == "secret-1")
    }

    @Test("M602, M503: the algorithm of an ID token is the one that came with the new secret of another process")
    func algorithm() async throws {
        let provider = ScriptedProvider()
        let registrations = Registrations(in: vault)
        let client = try provider.client()
        func store(_ secret: String, _ algorithm: SignatureAlgorithm) async throws {
            let registration = ClientRegistration(
                name: "App", endpoint: try EndpointURL(ScriptedProvider.issuer + "/register"), scopes: client.scopes,
                redirect: client.redirect, redirectURI: try RedirectURI(ScriptedProvider.redirect),
                isForDevices: false, expiresAt: nil, management: nil, idTokenAlgorithm: algorithm)
            let registered = client.registered(registration, .secret(Secret(secret), .post))
            try await registrations.remember(registered, as: "mine")
        }
        try await store("secret-1", .ps256)
        let app = try provider.app(try #require(try await registrations.client(named: "mine")), vault: vault)
        try await store("secret-of-1", .es256)
        provider.change { state in
            state.overrides["/token"] = { request in
                guard case .bytes(let form) = request.content,
                    String(decoding: form, as: UTF8.self).contains("client_secret=secret-of-1")
                else { return .json(401, ["error": "invalid_client"]) }
                return try provider.answer("/token", request)
            }
        }
        let account = try await app.signIn(through: provider.browser)
        #expect(account.status.identity?.subject == "alice")
    }

    @Test("M503: a refresh whose secret has expired is retried with the secret of another process")
    func expired() async throws {
        network.change { $0.secretEnds = 1_750_000_100 }
        let (_, account) = try await app(in: vault)
        try await rotate()
        now.change { $0 += 200 }
        try await account.refresh()
        #expect(secrets(at: "/token") == ["secret-1", "secret-of-1"])
    }
    @Test("M503: a sign-out waits for a process that is changing the registration, and revokes with its new secret")
    func awaited() async throws {
        let held = try await heldRegistration()
        let signOut = Task { try await held.account.signOut() }
        await held.clock.sleepers(1)
        #expect(secrets(at: "/revoke") == ["secret-1"])
        try await held.release()
        held.clock.advance(by: .seconds(1))
        #expect(try await signOut.value.revoked == [.refreshToken, .accessToken])
        #expect(secrets(at: "/revoke") == ["secret-1", "secret-of-1", "secret-of-1"])
    }

    @Test("M503, C15: where another process holds the registration for too long, the tokens are revoked later")
    func busy() async throws {
        let held = try await heldRegistration()
        let signOut = Task { try await held.account.signOut() }
        await held.clock.sleepers(1)
        let passing = held.clock.pass(inStepsOf: .seconds(60), whileAsleep: 1)
        let report = try await signOut.value
        passing.cancel()
        #expect(report.remaining == [.refreshToken, .accessToken] && report.notRevocable.isEmpty)
        #expect(report.failure?.code == "vault_busy")
        try await held.release()
        #expect(try await held.account.signOut().revoked == [.refreshToken, .accessToken])
    }

    @Test("M503, C15: a sign-out that is cancelled while it waits for the registration revokes the tokens later")
    func cancelled() async throws {
        let held = try await heldRegistration()
        let signOut = Task { try await held.account.signOut() }
        await held.clock.sleepers(1)
        signOut.cancel()
        await #expect(throws: CancellationError.self) { try await signOut.value }
        try await held.release()
        #expect(try await held.account.signOut().revoked == [.refreshToken, .accessToken])
    }

    @Test("M503: a damaged registration has no new secret, and the account can be signed out")
    func damaged() async throws {
        let (_, account) = try await app(in: vault)
        let (place, _) = try await newSecret(in: vault)
        try await vault.update(place) { try await $0.replace(with: Array("{".utf8)) }
        let report = try await account.signOut()
        #expect(report.notRevocable == [.refreshToken, .accessToken] && report.isForgotten)
    }
}
