import HTTPTypes
import OAuth
import Testing

@testable import Handshake

@Suite("Secure unless said otherwise")
struct SecurityDefaultsTests {
    @Test("M1: no service of this package, and no description of one, allows unencrypted requests")
    func services() throws {
        let described = BuiltInService.all.filter { $0.unsupportedReason == nil && $0.placeholders.isEmpty }
        let services = try Service.builtIn + [.ifttt] + described.map { try $0.service() }
        #expect(services.count > 100)
        for service in services {
            #expect(service.authorizationServer.security == .httpsOnly, "\(service.name)")
            if case .described(let server) = service.authorizationServer {
                #expect(server.tokenEndpoint.origin.scheme == .https, "\(service.name)")
            }
            for origin in service.apiOrigins { #expect(origin.scheme == .https, "\(service.name)") }
        }
        let facts: JSONObject = [
            "token_url": .string("http://127.0.0.1/token"), "security": .string("insecure_loopback_allowed"),
        ]
        #expect(throws: HandshakeError.self) { try BuiltInService(name: "mine", facts: facts).service() }
    }

    @Test("M1: plain http is refused unless the caller names the exception, also for an API beside a secure server")
    func named() throws {
        let insecure = "http://127.0.0.1:8080/"
        #expect(throws: OAuthError.self) { try EndpointURL(insecure) }
        #expect(throws: OAuthError.self) { try Issuer("http://127.0.0.1:8080") }
        #expect(try EndpointURL(insecure, security: .allowingInsecureLoopback).origin.scheme == .http)
        let issuer = try Issuer("https://op.example")
        #expect(AuthorizationServerMetadata(issuer: issuer, tokenEndpoint: issuer.url).security == .httpsOnly)
        #expect(MetadataRequest(issuer: issuer, location: issuer.url).security == .httpsOnly)
    }

    @Test("M2: time, randomness, network and storage are the app's to choose")
    func injected() async throws {
        let provider = ScriptedProvider()
        let time = TimeSource(now: { 2_000_000_000 }, clock: ContinuousClock())
        let counter = Shared<UInt8>(0)
        let random = RandomSource { count in
            counter.change { $0 += 1 }
            return Array(repeating: counter.value, count: count)
        }
        let vault = MemoryVault()
        let app = try Handshake(provider.client(), vault: vault, transport: provider, time: time, random: random)
        let attempt = try await app.beginSignIn()
        #expect(attempt.expiresAt == 2_000_000_600)
        #expect(attempt.request.state.reveal() == Base64URL.encode(Array(repeating: 1, count: 32)))
        #expect(provider.count("/.well-known/openid-configuration") == 1)
        #expect(try await vault.keys(of: .signIn).keys.count == 1)
    }

    @Test("M2: what an app does not choose is the secure choice")
    func defaults() async throws {
        let app = try Handshake(ScriptedProvider().client(), vault: MemoryVault())
        #expect(app.environment.transport is PlatformTransport)
        #expect(app.environment.limits == TransferLimits())
        #expect(TransferLimits().maximumContentLength == 1 << 20 && TransferLimits().timeout == .seconds(20))
        let states = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    try await Handshake(
                        ScriptedProvider().client(), vault: MemoryVault(), transport: ScriptedProvider()
                    )
                    .beginSignIn().request.state.reveal()
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(states.count == 64)
        #expect(abs(app.environment.time.now() - TimeSource.system.now()) < 3_600)
    }
}
