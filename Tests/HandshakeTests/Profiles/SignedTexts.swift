import Foundation
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

/// Signed texts of the sandbox, and the client's readers of each kind.
struct SignedTexts: Sendable {
    let world: World
    let app: Handshake
    /// An app of the same client that asks for signed responses.
    let listening: Handshake
    let account: Account

    /// A text of a kind, with a state as a claim where one is given.
    private func made(_ kind: String, state: String? = nil) async throws -> String {
        defer { world.sandbox.clearFaults() }
        let routes = ["id_token": "standard POST /token", "userinfo": "standard /userinfo"]
        if let state, let route = routes[kind] {
            try world.inject(#"\#(route) => \#(kind) claim state "\#(state)""#)
        }
        switch kind {
        case "id_token":
            let made = try await app.signIn(as: "made", through: ApprovingBrowser(sandbox: world.sandbox))
            return try #require(try await made.idToken()).reveal()
        case "response":
            return try await response()
        case "userinfo":
            let answer = try await account.send(.get, world.sandbox.standard.origin + "/userinfo")
            return String(decoding: answer.content, as: UTF8.self)
        default:
            let changes: [String: String?] = state.map { ["state": "\"\($0)\""] } ?? [:]
            let subject = try #require(account.status.identity?.subject)
            return world.sandbox.logoutToken(for: account.id.client, subject: subject, changing: changes)
        }
    }

    /// The signed response to the request of a page.
    private func response(to page: SignInPage) async throws -> String {
        String(try await world.sandbox.approve(page.url).split(separator: "=").last ?? "")
    }

    /// The signed response to a request whose sign-in then ends.
    private func response() async throws -> String {
        let kept = Shared("")
        _ = await handshakeError {
            try await listening.signIn(
                as: "abandoned",
                through: ScriptedBrowser { page in
                    let text = try await response(to: page)
                    kept.change { $0 = text }
                    throw HandshakeError.signInAbandoned(.closed)
                })
        }
        return kept.value
    }

    /// A browser that comes back with a text of a kind, which has the state of the page's request.
    private func browser(bringing kind: String) -> ScriptedBrowser {
        ScriptedBrowser { page in
            let push = try #require(world.sandbox.requests(.standard).last { $0.path == "/par" })
            let request = try claims(of: try #require(push.sentForm["request"]))
            let state = try #require(request["state"] as? String)
            let text = try await kind == "response" ? response(to: page) : made(kind, state: state)
            let stated = try claims(of: text)["state"] as? String
            #expect(stated == state, "\(kind)")
            return page.redirectURI.string + "?response=" + text
        }
    }

    /// The code of the error by which a reader refuses a text of a kind; nil when it takes it.
    func refusal(of kind: String, readAs reader: String) async throws -> String? {
        defer { world.sandbox.clearFaults() }
        let name = kind == reader ? reader : "other"
        if reader == "response" {
            let browser = browser(bringing: kind)
            return await handshakeError { try await listening.signIn(as: name, through: browser) }?.code
        }
        let text = try await made(kind)
        try #require(text.split(separator: ".").count == 3, "\(kind)")
        switch reader {
        case "id_token":
            // Of its own kind the reader takes the ID token that has this sign-in's nonce: the sandbox's usual one.
            if kind != reader { try world.inject("standard POST /token => member id_token \(text)") }
            let browser = ApprovingBrowser(sandbox: world.sandbox)
            return await handshakeError { try await app.signIn(as: name, through: browser) }?.code
        case "userinfo":
            try world.inject("standard /userinfo => header Content-Type application/jwt")
            try world.inject("standard /userinfo => body \(text)")
            return await handshakeError { try await account.identity() }?.code
        default:
            return await handshakeError { try await app.endSessions(logoutToken: Secret(text)) }?.code
        }
    }
}
