import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("Front-channel logout at the standard server", .heavy)
struct FrontchannelLogoutTests {
    private static let logout = "http://127.0.0.1:49152/frontchannel"

    private func register(_ wire: WireClient, _ changes: [String: any Sendable] = [:]) async throws -> WireClient.Answer
    {
        let members: [String: any Sendable] = [
            "redirect_uris": [OAuthSteps.redirect], "application_type": "native", "token_endpoint_auth_method": "none",
            "frontchannel_logout_uri": Self.logout, "frontchannel_logout_session_required": true,
        ]
        let body = try JSONSerialization.data(withJSONObject: members.merging(changes) { $1 } as [String: Any])
        return try await wire.send(
            "POST", "/register", headers: ["Content-Type": "application/json"],
            body: String(decoding: body, as: UTF8.self))
    }

    /// A user signs in to a client in this browser.
    private func signIn(
        _ browser: WireBrowser, _ sandbox: Sandbox, to client: String, prompt: String? = nil
    ) async throws {
        var query = [
            "response_type": "code", "client_id": client, "redirect_uri": OAuthSteps.redirect, "state": "s",
            "code_challenge": OAuthSteps.challenge, "code_challenge_method": "S256", "scope": "openid api",
        ]
        query["prompt"] = prompt
        try await browser.open("/authorize?" + OAuthSteps.form(query))
        if browser.page.text.contains("id=\"password\"") {
            let user = try #require(sandbox.standard.users.first)
            try await browser.submit(["email": user.name, "password": user.password])
        }
        try await browser.submit(["op": "Allow"])
        #expect(browser.page["Location"]?.hasPrefix(OAuthSteps.redirect) == true, "\(browser.page.text)")
    }

    private func signOut(_ browser: WireBrowser, _ query: String = "") async throws {
        try await browser.open("/end_session" + query)
        if browser.page.text.contains("Sign out?") { try await browser.submit([:], to: "/end_session") }
    }

    @Test("the page at the end has a frame for each client of this browser that has registered one, and then none")
    func frames() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let told = try #require(try await register(wire).string("client_id"))
            let plain =
                ["frontchannel_logout_uri": Self.logout + "?app=2", "frontchannel_logout_session_required": false]
                as [String: any Sendable]
            let untold = try #require(try await register(wire, plain).string("client_id"))
            let stranger = try #require(try await register(wire).string("client_id"))
            let browser = try await WireBrowser(origin: sandbox.standard.origin, opening: "/end_session")
            let other = try await WireBrowser(origin: sandbox.standard.origin, opening: "/end_session")
            for client in [told, untold, "sandbox-public", told] { try await signIn(browser, sandbox, to: client) }
            try await signIn(other, sandbox, to: stranger)
            try await signOut(browser)
            #expect(browser.page.status == 200)
            let frames = browser.frames
            #expect(frames.count == 2, "\(frames)")
            #expect(frames.contains(Self.logout + "?app=2"), "iss and sid only where they are demanded: \(frames)")
            let named = try #require(frames.first { $0.contains("sid=") })
            let query = try #require(URLComponents(string: named)?.queryItems)
            #expect(query.map(\.name) == ["iss", "sid"] && query[0].value == sandbox.standard.origin)
            #expect(query[1].value?.isEmpty == false)
            let policy = try #require(browser.page["Content-Security-Policy"])
            #expect(policy.contains("frame-src http://127.0.0.1:49152"), "\(policy)")
            try await signOut(browser)
            #expect(browser.frames.isEmpty)
            try await signOut(other)
            #expect(other.frames.count == 1)
        }
    }

    @Test("a user who signs in again stays signed in to the apps of this browser, each in its session")
    func signedInAgain() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let first = try #require(try await register(wire).string("client_id"))
            let second = try #require(try await register(wire).string("client_id"))
            let browser = try await WireBrowser(origin: sandbox.standard.origin, opening: "/end_session")
            try await signIn(browser, sandbox, to: first)
            try await signIn(browser, sandbox, to: second, prompt: "login")
            try await signOut(browser)
            #expect(browser.frames.count == 2, "\(browser.frames)")
        }
    }

    @Test("an address that is not registered is refused before the session ends, which then ends with its frames")
    func unregistered() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let client = try #require(try await register(wire).string("client_id"))
            let browser = try await WireBrowser(origin: sandbox.standard.origin, opening: "/end_session")
            try await signIn(browser, sandbox, to: client)
            try await browser.open(
                "/end_session?client_id=\(client)&post_logout_redirect_uri=https%3A%2F%2Felsewhere.example%2Fout")
            #expect(browser.page.status == 400 && browser.page.text.contains("not registered"))
            #expect(browser.page.text.contains("You are still signed in."), "\(browser.page.text)")
            try await signOut(browser)
            #expect(browser.page.status == 200 && browser.frames.count == 1)
        }
    }

    @Test("with frames the user goes on to the app by a link, and without them by a redirect")
    func goingOn() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let client = try #require(try await register(wire).string("client_id"))
            let back = "&post_logout_redirect_uri=http%3A%2F%2F127.0.0.1%2Fsigned-out&state=s1"
            let browser = try await WireBrowser(origin: sandbox.standard.origin, opening: "/end_session")
            try await signIn(browser, sandbox, to: client)
            try await signOut(browser, "?client_id=\(client)" + back)
            #expect(browser.page.status == 200 && browser.frames.count == 1)
            #expect(browser.page.text.contains(#"href="http://127.0.0.1/signed-out?state=s1""#), "\(browser.page.text)")
            try await signIn(browser, sandbox, to: "sandbox-public")
            try await signOut(browser, "?client_id=sandbox-public" + back)
            #expect(browser.page["Location"] == "http://127.0.0.1/signed-out?state=s1")
        }
    }

    @Test(
        "an address that is not at a redirect URI's scheme, host and port is not registered",
        arguments: [
            "https://127.0.0.1:49152/out", "http://127.0.0.1:49153/out", "http://127.0.0.1/out",
            "http://127.0.0.1:49152.evil.example/out", "http://user@127.0.0.1:49152/out", "javascript:alert(1)",
            "http://127.0.0.1:49152/out#f", "/out", "",
        ])
    func foreign(_ address: String) async throws {
        try await withSandbox { sandbox in
            let answer = try await register(
                WireClient(origin: sandbox.standard.origin), ["frontchannel_logout_uri": address])
            #expect(answer.status == 400 && answer.string("error") == "invalid_client_metadata", "\(answer.text)")
        }
    }

    @Test("the server announces it, and tells a client what it has registered")
    func announced() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let metadata = try await wire.send("GET", "/.well-known/openid-configuration").text
            #expect(metadata.contains(#""frontchannel_logout_supported":true"#))
            #expect(metadata.contains(#""frontchannel_logout_session_supported":true"#))
            let registered = try await register(wire)
            #expect(registered.status == 201 && registered.string("frontchannel_logout_uri") == Self.logout)
            #expect(registered.text.contains(#""frontchannel_logout_session_required":true"#))
            let wrong = try await register(wire, ["frontchannel_logout_session_required": "yes"])
            #expect(wrong.status == 400)
        }
    }
}
