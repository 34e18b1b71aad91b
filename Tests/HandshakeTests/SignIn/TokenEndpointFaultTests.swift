import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@Suite("Sign-in: what the token endpoint and the metadata may get wrong", .heavy)
struct TokenEndpointFaultTests {
    /// A fault, and the error that has to come of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let fault: String
        let code: String
        var member: String?
        var testDescription: String { "\(fault) is \(code)" }
    }

    private static let token = "\"access_token\":\"canary\""

    @Test(
        "a bad answer to the code exchange is a typed error that names the member; nothing is stored and nothing leaks",
        arguments: [
            Row(fault: "garbage", code: "malformed_response", member: "instead of a JSON object"),
            Row(fault: "body {}", code: "malformed_response", member: "access_token"),
            Row(fault: "body []", code: "malformed_response", member: "instead of a JSON object"),
            Row(fault: "body {\(token)}", code: "malformed_response", member: "token_type"),
            Row(fault: "body {\(token),\"token_type\":\"mac\"}", code: "malformed_response", member: "token_type"),
            Row(fault: "body {\(token),\"token_type\":7}", code: "malformed_response", member: "token_type"),
            Row(
                fault: "body {\(token),\(token),\"token_type\":\"Bearer\"}", code: "malformed_response",
                member: "instead of a JSON object"),
            Row(
                fault: "body {\"access_token\":\"\",\"token_type\":\"Bearer\"}", code: "malformed_response",
                member: "access_token"),
            Row(
                fault: "body {\"access_token\":\"canary\\r\\nX: y\",\"token_type\":\"Bearer\"}",
                code: "malformed_response", member: "access_token"),
            Row(
                fault: "body {\(token),\"token_type\":\"Bearer\",\"expires_in\":-1}", code: "malformed_response",
                member: "expires_in"),
            Row(
                fault: "body {\(token),\"token_type\":\"Bearer\",\"expires_in\":\"soon\"}", code: "malformed_response",
                member: "expires_in"),
            Row(
                fault: "body {\(token),\"token_type\":\"Bearer\",\"expires_in\":1e99}", code: "malformed_response",
                member: "expires_in"),
            Row(
                fault: "body {\(token),\"token_type\":\"Bearer\",\"scope\":[\"a\"]}", code: "malformed_response",
                member: "scope"),
            Row(fault: "status 400 {\"error\":\"invalid_grant\"}", code: "invalid_grant"),
            Row(fault: "status 500 <html>", code: "http_500"),
            Row(fault: "redirect http://127.0.0.1:1/", code: "unexpected_redirect"),
            Row(fault: "huge 2000000", code: "response_too_large"),
            Row(fault: "cut 10", code: "connection_cut"),
        ])
    func codeExchange(_ row: Row) async throws {
        let world = try await World()
        let handshake = try world.app()
        try world.inject("POST /oauth/token => \(row.fault)")
        let error = try #require(
            await handshakeError { try await handshake.signIn(through: ApprovingBrowser(sandbox: world.sandbox)) })
        #expect(error.code == row.code)
        if let member = row.member { #expect(error.description.contains(member)) }
        #expect(!error.description.contains("canary"))
        #expect(try await handshake.account() == nil)
        #expect(try await world.vault.keys(of: .signIn).keys.isEmpty)
        await world.sandbox.stop()
    }

    @Test(
        "bad metadata stops before a page is shown",
        arguments: [
            Row(fault: "garbage", code: "malformed_response"),
            Row(fault: "body {}", code: "malformed_response", member: "issuer"),
            Row(fault: "status 404", code: "http_404", member: "issuer"),
            Row(fault: "status 500", code: "http_500"), Row(fault: "huge 2000000", code: "response_too_large"),
            Row(fault: "redirect http://127.0.0.1:1/", code: "unexpected_redirect"),
            Row(fault: "body {\"issuer\":\"https://evil.example\"}", code: "issuer_mismatch"),
        ])
    func metadata(_ row: Row) async throws {
        let world = try await World(.standard)
        try world.inject("GET /.well-known/* => \(row.fault)")
        let error = try #require(
            await handshakeError {
                try await world.app().signIn(
                    through: ScriptedBrowser { _ in
                        Issue.record("a page was shown")
                        return nil
                    })
            })
        #expect(error.code == row.code)
        if let member = row.member { #expect(error.description.contains(member)) }
        await world.sandbox.stop()
    }
}
