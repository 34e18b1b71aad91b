import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("Services that are imitated", .heavy)
struct ImitatedServiceTests {
    @Test("every service that is supported can be imitated, but for the one whose clients sign their secret")
    func all() throws {
        let refused = try ServiceSteps.names.filter { name in
            let isSupported = try !ServiceSteps.line(name).contains(#""unsupported":"#)
            return isSupported && (try? ServiceSteps.imitated(name)) == nil
        }
        #expect(refused == ["apple"] && ServiceSteps.names.count > 280)
    }

    @Test(
        "a service that cannot be imitated is refused with the reason",
        arguments: [
            (#""token_url":"https://a.example/t""#, "its description has no page to sign in on (authorize_url)"),
            (#""authorize_url":"https://a.example/t""#, "its description has no token endpoint (token_url)"),
            (#""unsupported":"it is closed""#, "it is closed"),
            (#""requires_dpop":true"#, "its tokens are bound to a key"),
            (#""requires_pushed_authorization":true"#, "its authorization requests are pushed"),
            (#""client_authentication":"private_key_jwt""#, "its clients sign what they authenticate with"),
            (#""error_status":4000"#, "its error_status is no status"),
        ])
    func refused(_ member: String, _ reason: String) {
        let error = #expect(throws: ImitationError.self) {
            try ImitatedService(parsing: #"{"name":"a","title":"A","# + member + "}")
        }
        #expect(error?.description == "The sandbox cannot imitate A: \(reason).")
    }

    @Test("a text that is no description is refused", arguments: ["", "[]", "{}", #"{"name":"A b"}"#, #"{"name":1}"#])
    func noDescription(_ text: String) {
        #expect(throws: ImitationError.notADescription) { try ImitatedService(parsing: text) }
    }

    private static let hostile =
        #"{"name":"acme","title":"<b>Acme</b>","authorize_url":"https://acme.example/oauth","#
        + #""token_url":"https://acme.example/t"}"#

    @Test("the pages say whose stand-in they are of and that it is not the service, with its name as text")
    func pages() async throws {
        let sandbox = try await Sandbox.start(imitating: [try ImitatedService(parsing: Self.hostile)])
        do {
            let service = try #require(sandbox.services.last)
            let wire = try WireClient(origin: service.origin)
            let query = OAuthSteps.form([
                "response_type": "code", "client_id": "sandbox", "redirect_uri": ServiceSteps.redirect, "state": "s-1",
                "scope": "read <i>all</i>",
            ])
            var page = try await wire.send("GET", "/oauth?" + query)
            #expect(page.text.contains("Sign in to &lt;b&gt;Acme&lt;/b&gt;’s stand-in"), "\(page.text)")
            var cookie = String((page["Set-Cookie"] ?? "").prefix { $0 != ";" })
            func submit(_ fields: [String: String]) async throws {
                let token = try #require(page.text.firstMatch(of: /name="form_token" value="([^"]+)"/)?.1)
                let form = ["form_token": String(token)].merging(fields) { $1 }
                page = try await wire.send(
                    "POST", "/oauth?" + query,
                    headers: ["Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie],
                    body: OAuthSteps.form(form))
                if let field = page["Set-Cookie"] { cookie = String(field.prefix { $0 != ";" }) }
            }
            let user = try #require(service.users.first)
            try await submit(["form_id": "sandbox_sign_in_form", "email": user.name, "password": user.password])
            #expect(page.status == 303)
            page = try await wire.send("GET", "/oauth?" + query, headers: ["Cookie": cookie])
            for words in [
                "It is not &lt;b&gt;Acme&lt;/b&gt;", "know who you are", "what &lt;b&gt;Acme&lt;/b&gt; calls “read”",
                "“&lt;i&gt;all&lt;/i&gt;”", ">Allow<", ">Deny<",
            ] { #expect(page.text.contains(words), "\(words): \(page.text)") }
            #expect(!page.text.contains("<b>") && !page.text.contains("<i>"))
            try await submit(["form_id": "oauth2_server_authorize_form", "op": "Deny"])
            #expect(page["Location"]?.contains("error=access_denied") == true)
            page = try await wire.send("GET", "/oauth?" + query, headers: ["Cookie": cookie])
            try await submit(["form_id": "oauth2_server_authorize_form", "op": "Allow"])
            #expect(page["Location"]?.contains("code=") == true)
        } catch {
            await sandbox.stop()
            throw error
        }
        await sandbox.stop()
    }

    @Test("a stand-in of a description bounds bodies, answers hostile bytes and takes faults by its name")
    func hostileBytes() async throws {
        try await withImitations("github", "livechat") { sandbox in
            let steps = try ServiceSteps(sandbox, "github")
            let path = try steps.target("token_url")
            let long = try await steps.wire.send("POST", path, body: String(repeating: "a", count: 1_100_000))
            #expect(long.status == 413)
            let deep = String(repeating: "[", count: 100_000)
            for type in ["application/json", "application/x-www-form-urlencoded", "text/plain"] {
                for body in [deep, "%ff%zz=%", "grant_type=" + String(repeating: "%CC%81", count: 30_000), "null"] {
                    let answer = try await steps.wire.send("POST", path, headers: ["Content-Type": type], body: body)
                    #expect(answer.status < 500 && answer.value("/access_token") == nil)
                }
            }
            let page = try steps.target("authorize_url")
            for target in ["/", "//", "/{app}", page + "/", page + "?%ff", page + "?client_id=%00", "/%2e%2e/user"] {
                #expect(try await steps.wire.send("GET", target).status < 500)
            }
            #expect(try await steps.wire.send("PUT", path).status == 405)
            // The page of a service at its origin's root stands there, and the sandbox's beside it.
            let root = try ServiceSteps(sandbox, "livechat")
            #expect(try await root.wire.send("GET", try root.authorization()).text.contains("Sign in to LiveChat"))
            #expect(try await root.wire.send("GET", "/sandbox").text.contains("in the sandbox"))
            let services = try ["github", "livechat"].map { try ServiceSteps.imitated($0) }
            sandbox.inject(try FaultRule(parsing: "github POST \(path) => status 503", imitating: services))
            #expect(try await steps.wire.send("POST", path).status == 503)
        }
    }
}
