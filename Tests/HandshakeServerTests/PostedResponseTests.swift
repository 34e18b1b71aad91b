import Foundation
import Handshake
import Hummingbird
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Responses that the service posts", .heavy)
struct PostedResponseTests {
    private static let address = "https://app.example.test"

    /// A server whose client asks for posted responses, and a browser at the sandbox.
    private struct Scene {
        let sandbox: Sandbox
        let server: RunningServer
        let handshake: Handshake
        let app: WireClient
        let service: WireClient

        static func start(_ mode: AuthorizationRequest.ResponseMode) async throws -> Scene {
            let sandbox = try await Sandbox.start()
            var client = try World.standardClient(of: sandbox, at: address)
            client.options.responseMode = mode
            let handshake = try Handshake(client, vault: MemoryVault())
            let router = Router()
            let routes = try SignInRoutes<BasicRequestContext>(
                handshake, at: try PublicAddress(address), environment: SignInEnvironment(log: World.log)
            ) { request, _ in World.user(request)?.id }
            routes.add(to: router)
            let server = try await RunningServer.start(router)
            return Scene(
                sandbox: sandbox, server: server, handshake: handshake, app: try WireClient(origin: server.origin),
                service: try WireClient(origin: sandbox.standard.origin))
        }

        func stop() async {
            await server.stop()
            await sandbox.stop()
        }

        /// Begins, and returns the fields of the service's page, which posts them, with the cookies of the app.
        func page() async throws -> (fields: [String: String], cookies: [String]) {
            let start = try await app.send(
                "GET", "/standard/start?return_to=/page",
                headers: ["Cookie": "user=ada", "Sec-Fetch-Site": "same-origin"])
            let cookies = start.fields.filter { $0.name.lowercased() == "set-cookie" }
                .map { String($0.value.prefix { $0 != ";" }) }
            let location = try #require(start["Location"])
            let target = String(location.dropFirst(sandbox.standard.origin.count))
            let page = try await answer(to: target)
            #expect(page.status == 200 && page["Location"] == nil && page["Cache-Control"] == "no-store")
            #expect(page.text.contains(#"<form method="post" action="\#(address)/callback">"#))
            #expect(page["Content-Security-Policy"]?.contains("form-action 'self' \(address);") == true)
            return (PostedResponseTests.fields(of: page.text), ["user=ada"] + cookies)
        }

        /// Signs in and says yes on the service's pages, as a browser does.
        private func answer(to target: String) async throws -> WireClient.Answer {
            var cookie = ""
            var form: [String: String] = [:]
            for _ in 0..<4 {
                var headers = ["Cookie": cookie]
                if !form.isEmpty { headers["Content-Type"] = "application/x-www-form-urlencoded" }
                let answer = try await service.send(
                    form.isEmpty ? "GET" : "POST", target, headers: headers, body: PostedResponseTests.encoded(form))
                if let new = answer["Set-Cookie"] { cookie = String(new.prefix { $0 != ";" }) }
                if answer.status == 303 {
                    form = [:]
                    continue
                }
                guard answer.text.contains(#"name="form_token""#) else { return answer }
                form = PostedResponseTests.fields(of: answer.text)
                if answer.text.contains(#"name="password""#) {
                    let user = try #require(sandbox.standard.users.first)
                    (form["email"], form["password"]) = (user.name, user.password)
                } else {
                    form["op"] = "Allow"
                }
            }
            return try #require(nil as WireClient.Answer?, "the pages came to no end")
        }

        /// Posts a form as the service's page does: without a cookie of the app, because the page is another site's.
        func post(_ body: String, type: String = "application/x-www-form-urlencoded") async throws -> WireClient.Answer
        {
            try await app.send(
                "POST", "/callback",
                headers: ["Content-Type": type, "Sec-Fetch-Site": "cross-site", "Origin": sandbox.standard.origin],
                body: body)
        }

        func follow(_ answer: WireClient.Answer, _ cookies: [String]) async throws -> WireClient.Answer {
            let location = try #require(answer["Location"])
            #expect(location.hasPrefix("\(address)/callback?"))
            return try await app.send(
                "GET", String(location.dropFirst(address.count)),
                headers: [
                    "Cookie": cookies.joined(separator: "; "), "Sec-Fetch-Site": "cross-site",
                    "Accept": "application/json",
                ])
        }
    }

    /// The hidden fields of the first form on a page.
    private static func fields(of page: String) -> [String: String] {
        let form = page.components(separatedBy: "</form>")[0]
        return form.matches(of: #/<input type="hidden" name="([^"]+)" value="([^"]*)"/#)
            .reduce(into: [:]) { $0[String($1.1)] = String($1.2).replacingOccurrences(of: "&#x2F;", with: "/") }
    }

    private static func encoded(_ form: [String: String]) -> String {
        form.sorted { $0.key < $1.key }.map { pair in
            "\(pair.key)=" + (pair.value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }.joined(separator: "&")
    }

    @Test(
        "B10: a response that the service's page posts without a cookie signs the user in, in their own browser",
        arguments: [AuthorizationRequest.ResponseMode.formPost, .formPostJWT])
    func whole(_ mode: AuthorizationRequest.ResponseMode) async throws {
        let scene = try await Scene.start(mode)
        let (fields, cookies) = try await scene.page()
        #expect(Set(fields.keys) == (mode.isSigned ? ["response"] : ["code", "state", "iss"]))
        let posted = try await scene.post(Self.encoded(fields) + "&user=%7B%22name%22%3A%22Ada%22%7D")
        #expect(posted.status == 303 && posted["Referrer-Policy"] == "no-referrer")
        #expect(posted["Cache-Control"] == "no-store" && posted["Location"]?.contains("Ada") == false)
        // Nothing has been decided: what follows is checked as in the query mode.
        #expect(try await scene.handshake.accountIDs().ids.isEmpty)
        #expect(try await scene.follow(posted, ["user=ada"]).status == 400)
        #expect(try await scene.follow(posted, ["user=alan"] + cookies.dropFirst()).status == 400)
        #expect(try await scene.follow(posted, Array(cookies.dropFirst())).status == 401)
        let back = try await scene.follow(posted, cookies)
        #expect(back.status == 303 && back["Location"] == "/page")
        #expect(try await scene.handshake.account("ada") != nil)
        // It counts once, and a second time not even the form is passed on.
        #expect(try await scene.post(Self.encoded(fields)).status == 400)
        await scene.stop()
    }

    @Test("B5, B8: a form of no pending attempt, of another type, too long or with other bytes is not passed on")
    func refused() async throws {
        let scene = try await Scene.start(.formPost)
        let (fields, cookies) = try await scene.page()
        let form = Self.encoded(fields)
        let type = "application/x-www-form-urlencoded"
        let cases = [
            ("code=a&state=" + String(repeating: "x", count: 43), type, 400), ("code=a", type, 400), ("", type, 400),
            (form + "&x=\r\nSet-Cookie: a=b", type, 400), (form + "#x", type, 400), (form + "&x=é", type, 400),
            (form, "application/json", 415), (form, "text/plain", 415),
            (form + "&x=" + String(repeating: "y", count: 8_192), type, 413),
        ]
        for (body, type, status) in cases {
            let answer = try await scene.post(body, type: type)
            #expect(answer.status == status && answer["Location"] == nil, "\(body.prefix(40)) \(type)")
        }
        // A parameter that comes twice is passed on twice, and stops the attempt where it is checked.
        let posted = try await scene.post(form + "&code=other")
        #expect(posted.status == 303)
        let back = try await scene.follow(posted, cookies)
        #expect(back.status != 303 && back.string("code") == "parameter_repeated")
        #expect(try await scene.handshake.accountIDs().ids.isEmpty)
        await scene.stop()
    }

    @Test("B12: where a signed response is asked for, a plain form is refused")
    func unsigned() async throws {
        let scene = try await Scene.start(.formPostJWT)
        let (fields, cookies) = try await scene.page()
        let parts = try #require(fields["response"]).split(separator: ".")
        let payload = try JSONValue(parsing: try #require(Base64URL.decode(parts[1])))
        let state = try #require(payload.object?["state"]?.string)
        let posted = try await scene.post("code=a&state=\(state)")
        let answer = try await scene.follow(posted, cookies)
        #expect(answer.status != 303 && answer.string("code") == "response_unsigned")
        #expect(try await scene.handshake.accountIDs().ids.isEmpty)
        await scene.stop()
    }

    @Test(
        "a posted response is asked for only where a web server takes it",
        arguments: [AuthorizationRequest.ResponseMode.formPost, .formPostJWT])
    func elsewhere(_ mode: AuthorizationRequest.ResponseMode) async throws {
        let sandbox = try await Sandbox.start()
        let issuer = try Issuer(sandbox.standard.origin, security: .allowingInsecureLoopback)
        let service = try Service(
            name: "standard", authorizationServer: .discovered(issuer, security: .allowingInsecureLoopback),
            defaultScopes: ["openid"])
        for redirect in ["com.example.app:/callback", "http://127.0.0.1:49152/callback"] {
            var client = Client(service: service, id: "sandbox-public", redirect: .uri(try RedirectURI(redirect)))
            client.options.responseMode = mode
            let handshake = try Handshake(client, vault: MemoryVault())
            do {
                _ = try await handshake.beginSignIn()
                Issue.record("a page was made for \(redirect)")
            } catch HandshakeError.configuration("response_mode", _) {
            }
        }
        await sandbox.stop()
    }
}
