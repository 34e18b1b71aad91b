import Crypto
import Foundation
import Sandbox
import TestFixtures
import Testing

/// Runs a test body against a sandbox of its own and stops it afterwards, also after a failure.
func withSandbox(
    _ configuration: Sandbox.Configuration = .init(), _ body: (Sandbox) async throws -> Void
) async throws {
    let sandbox = try await Sandbox.start(configuration)
    do { try await body(sandbox) } catch {
        await sandbox.stop()
        throw error
    }
    await sandbox.stop()
}

/// The time of ``withHeldSandbox(_:)``, in seconds since 1970.
let heldTime = 1_795_000_000

/// Runs a test at a sandbox whose clock stands still at ``heldTime``: what is signed at that time counts, however slow the machine is.
func withHeldSandbox(_ body: (Sandbox) async throws -> Void) async throws {
    try await withSandbox { sandbox in
        sandbox.holdClock(at: Date(timeIntervalSince1970: Double(heldTime)))
        try await body(sandbox)
    }
}

/// The steps of OAuth as a test writes them, one service and one client at a time.
struct OAuthSteps: Sendable {
    static let redirect = "http://127.0.0.1:49152/callback"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    let sandbox: Sandbox
    let service: SandboxService
    let client: SandboxClient
    let wire: WireClient

    init(_ sandbox: Sandbox, _ service: SandboxService, client index: Int = 0) throws {
        self.sandbox = sandbox
        self.service = service
        self.client = service.clients[index]
        wire = try WireClient(origin: service.origin)
    }

    var authorizePath: String {
        ["sequencing": "/oauth2/authorize", "recurse-center": "/oauth/authorize"][service.name.rawValue] ?? "/authorize"
    }

    var tokenPath: String {
        ["sequencing": "/oauth2/token", "recurse-center": "/oauth/token"][service.name.rawValue] ?? "/token"
    }

    /// Path and query of an authorization request; a nil change leaves a parameter out.
    func authorizationTarget(_ changes: [String: String?] = [:], path: String? = nil) -> String {
        var parameters: [String: String?] = [
            "response_type": "code", "client_id": client.id, "redirect_uri": Self.redirect, "state": "s-1",
            "code_challenge": Self.challenge, "code_challenge_method": "S256",
        ]
        for (name, value) in changes { parameters[name] = value }
        let path = path ?? authorizePath
        return path + (path.contains("?") ? "&" : "?") + Self.form(parameters.compactMapValues { $0 })
    }

    /// The redirect after the user consented.
    func redirect(_ changes: [String: String?] = [:], as user: String? = nil) async throws -> String {
        try await sandbox.approve(service.origin + authorizationTarget(changes), as: user)
    }

    /// A code that the user allowed.
    func code(_ changes: [String: String?] = [:], as user: String? = nil) async throws -> String {
        let redirect = try await redirect(changes, as: user)
        return try #require(Self.parameter("code", of: redirect), "no code in \(redirect)")
    }

    /// A token request, with the client authenticated as its service likes it.
    func token(_ parameters: [String: String], path: String? = nil) async throws -> WireClient.Answer {
        var parameters = parameters
        var headers = ["Content-Type": "application/x-www-form-urlencoded"]
        if let secret = client.secret, service.name == .recurseCenter {
            parameters["client_id"] = client.id
            parameters["client_secret"] = secret
        } else if let secret = client.secret {
            let encode = service.name == .standard ? Self.encoded : { $0 }
            headers["Authorization"] = Self.basic(encode(client.id), encode(secret))
        } else {
            parameters["client_id"] = client.id
        }
        return try await wire.send("POST", path ?? tokenPath, headers: headers, body: Self.form(parameters))
    }

    /// The token request for a code.
    func redeem(_ code: String, redirect: String = Self.redirect, verifier: String? = Self.verifier) async throws
        -> WireClient.Answer
    {
        var parameters = ["grant_type": "authorization_code", "code": code, "redirect_uri": redirect]
        parameters["code_verifier"] = verifier
        return try await token(parameters)
    }

    func refresh(_ token: String, path: String? = nil) async throws -> WireClient.Answer {
        try await self.token(["grant_type": "refresh_token", "refresh_token": token], path: path)
    }

    /// A whole sign-in.
    func signIn(_ changes: [String: String?] = [:], as user: String? = nil) async throws -> (
        access: String, refresh: String
    ) {
        let answer = try await redeem(try await code(changes, as: user))
        return (try #require(answer.string("access_token"), "\(answer.text)"), answer.string("refresh_token") ?? "")
    }

    func get(_ target: String, bearer: String?) async throws -> WireClient.Answer {
        try await wire.send("GET", target, headers: bearer.map { ["Authorization": "Bearer \($0)"] } ?? [:])
    }

    func post(_ path: String, _ parameters: [String: String], headers: [String: String] = [:]) async throws
        -> WireClient.Answer
    {
        let fields = ["Content-Type": "application/x-www-form-urlencoded"].merging(headers) { $1 }
        return try await wire.send("POST", path, headers: fields, body: Self.form(parameters))
    }

    /// A control route with a plain body.
    func control(_ method: String, _ path: String, _ body: String = "") async throws -> WireClient.Answer {
        try await wire.send(method, "/_sandbox" + path, body: body)
    }

    static func form(_ parameters: [String: String]) -> String {
        parameters.sorted { $0.key < $1.key }.map { "\(encoded($0.key))=\(encoded($0.value))" }.joined(separator: "&")
    }

    static func encoded(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
    }

    static func parameter(_ name: String, of url: String) -> String? {
        URLComponents(string: url)?.queryItems?.first { $0.name == name }?.value
    }
}
