import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import HandshakeServer

/// The sandbox's page at the end of a session and the app's route, as a browser brings them together.
@Suite("Front-channel logout, from the server's page to the app's route", .heavy)
struct FrontchannelPairTests {
    private static let address = "https://app.example.test"

    /// Registers the app at the sandbox, as OpenID Connect Front-Channel Logout section 2 has it.
    private static func register(at sandbox: Sandbox) async throws -> String {
        let members: [String: Any] = [
            "redirect_uris": [address + "/callback"], "application_type": "web", "token_endpoint_auth_method": "none",
            "frontchannel_logout_uri": address + "/standard/frontchannel-logout",
            "frontchannel_logout_session_required": true,
        ]
        let body = String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
        let answer = try await WireClient(origin: sandbox.standard.origin)
            .send("POST", "/register", headers: ["Content-Type": "application/json"], body: body)
        return try #require(answer.string("client_id"), "\(answer.text)")
    }

    private static func app(_ client: String, at sandbox: Sandbox) throws -> Handshake {
        let security = TransportSecurity.allowingInsecureLoopback
        let service = try Service(
            name: "standard",
            authorizationServer: .discovered(
                try Issuer(sandbox.standard.origin, security: security), security: security),
            defaultScopes: ["openid", "api"])
        return try Handshake(
            Client(service: service, id: client, redirect: .uri(try RedirectURI(address + "/callback"))),
            vault: MemoryVault())
    }

    /// A user of the app signs in through this browser.
    private static func signIn(
        _ user: String, _ handshake: Handshake, _ browser: WireBrowser, at sandbox: Sandbox, as number: Int = 0
    ) async throws {
        let page = try await handshake.beginSignIn(as: user).page.url
        try await browser.open(String(page.dropFirst(sandbox.standard.origin.count)))
        let person = sandbox.standard.users[number]
        if browser.page.text.contains("id=\"password\"") {
            try await browser.submit(["email": person.name, "password": person.password])
        }
        try await browser.submit(["op": "Allow"])
        let redirect = try #require(browser.page["Location"], "\(browser.page.text)")
        _ = try await handshake.finishSignIn(redirectURL: redirect, as: user)
    }

    @Test("M610: the server's frame ends the session of its own user's browser in the app, and no other, and no tokens")
    func pair() async throws {
        let sandbox = try await Sandbox.start()
        let handshake = try Self.app(try await Self.register(at: sandbox), at: sandbox)
        let router = Router()
        LogoutRoutes<BasicRequestContext>(
            handshake, at: try PublicAddress(Self.address), environment: SignInEnvironment(log: World.log),
            endBrowserSession: { _, _ in [.setCookie: "user=; Max-Age=0"] }
        ) { request, _ in World.user(request)?.id }
        .add(to: router)
        let server = try await RunningServer.start(router)
        let app = try WireClient(origin: server.origin)
        let origin = sandbox.standard.origin
        let browser = try await WireBrowser(origin: origin, opening: "/end_session")
        let elsewhere = try await WireBrowser(origin: origin, opening: "/end_session")
        try await Self.signIn("one", handshake, browser, at: sandbox)
        try await Self.signIn("two", handshake, elsewhere, at: sandbox)
        // The user signs out at the server.
        try await browser.open("/end_session")
        try await browser.submit([:], to: "/end_session")
        let frame = try #require(browser.frames.first, "\(browser.page.text)")
        #expect(browser.frames.count == 1 && frame.hasPrefix(Self.address + "/standard/frontchannel-logout?"))
        #expect(browser.page["Content-Security-Policy"]?.contains("frame-src \(Self.address)") == true)
        // The browser loads the frame, with the app's cookie.
        let target = String(frame.dropFirst(Self.address.count))
        for user in ["user=two", "user=unknown", ""] {
            let answer = try await app.send("GET", target, headers: user.isEmpty ? [:] : ["Cookie": user])
            #expect(answer.status == 400 && answer["Set-Cookie"] == nil, "\(user)")
        }
        let answer = try await app.send("GET", target, headers: ["Cookie": "user=one"])
        #expect(answer.status == 200 && answer["Set-Cookie"] == "user=; Max-Age=0", "\(answer.text)")
        #expect(answer["Content-Security-Policy"]?.contains("frame-ancestors \(origin)") == true)
        #expect(answer["X-Frame-Options"] == nil, "a browser would not show it in the frame")
        for user in ["one", "two"] { #expect(try await handshake.account(user)?.status.state == .signedIn) }
        await server.stop()
        await sandbox.stop()
    }
}
