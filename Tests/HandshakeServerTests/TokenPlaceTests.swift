import Foundation
import Handshake
import Hummingbird
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Where the tokens of a server's users are", .heavy)
struct TokenPlaceTests {
    @Test("F7: no answer of the sign-in routes has a token, in a cookie, an address, a page or a field")
    func answers() async throws {
        let address = "https://app.example.test"
        let sandbox = try await Sandbox.start()
        let client = try World.standardClient(of: sandbox, at: address)
        let handshake = try Handshake(client, vault: MemoryVault())
        let router = Router()
        try SignInRoutes<BasicRequestContext>(handshake, at: try PublicAddress(address)) { request, _ in
            World.user(request)?.id
        }.add(to: router)
        let server = try await RunningServer.start(router)
        let wire = try WireClient(origin: server.origin)
        var answers: [WireClient.Answer] = []
        func send(_ method: String, _ target: String, cookies: [String] = [], body: String = "") async throws
            -> WireClient.Answer
        {
            let answer = try await wire.send(
                method, target,
                headers: [
                    "Cookie": (["user=ada"] + cookies).joined(separator: "; "), "Content-Type": "application/json",
                    "Sec-Fetch-Site": "same-origin",
                ], body: body)
            answers.append(answer)
            return answer
        }
        let start = try await send("GET", "/standard/start?return_to=/page")
        let cookies = start.fields.filter { $0.name.lowercased() == "set-cookie" }
            .map { String($0.value.prefix { $0 != ";" }) }
        let redirect = try await sandbox.approve(try #require(start["Location"]))
        let target = String(redirect.dropFirst(address.count))
        #expect(try await send("GET", target, cookies: cookies)["Location"] == "/page")
        let account = try #require(try await handshake.account("ada"))
        let first = try await account.accessToken().reveal()
        _ = try await send("GET", target, cookies: cookies)
        try await account.refresh()
        let second = try await account.accessToken().reveal()
        let state = try await send("GET", "/standard")
        _ = try await send("POST", "/standard/disconnect", body: #"{"token":"\#(state.string("token") ?? "")"}"#)
        #expect(answers.count == 5 && first != second)
        let code = try #require(target.firstMatch(of: /code=([^&]+)/)).1
        for answer in answers {
            let text = answer.text + answer.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            for secret in [first, second, String(code)] { #expect(!text.contains(secret)) }
        }
        await server.stop()
        await sandbox.stop()
    }
}
