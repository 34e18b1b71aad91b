import Foundation
import Sandbox
import TestFixtures
import Testing

/// Runs a test body against a sandbox with stand-ins of these services, and stops it afterwards.
func withImitations(_ names: String..., body: (Sandbox) async throws -> Void) async throws {
    let sandbox = try await Sandbox.start(imitating: try names.map { try ServiceSteps.imitated($0) })
    do { try await body(sandbox) } catch {
        await sandbox.stop()
        throw error
    }
    await sandbox.stop()
}

/// A sign-in at a service's stand-in, as the service's line in `ServiceLines.swift` has it. It reads that line with code of its own.
struct ServiceSteps {
    static let redirect = "http://127.0.0.1:49152/callback"

    /// The lines by service.
    private static let lines: [String: String] = {
        let path = #filePath.replacingOccurrences(
            of: "Tests/SandboxTests/ServiceSteps.swift", with: "Sources/Handshake/Services/ServiceLines.swift")
        let lines = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n")
            .map(String.init).filter { $0.hasPrefix("{") }
        return lines.reduce(into: [:]) { lines, line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            lines[object?["name"] as? String ?? line] = line
        }
    }()

    /// The names of all services that are described.
    static var names: [String] { lines.keys.sorted() }

    static func line(_ name: String) throws -> String { try #require(lines[name]) }

    static func imitated(_ name: String) throws -> ImitatedService { try ImitatedService(parsing: try line(name)) }

    let sandbox: Sandbox
    let service: SandboxService
    let facts: [String: Any]
    let wire: WireClient

    init(_ sandbox: Sandbox, _ name: String) throws {
        self.sandbox = sandbox
        service = try #require(sandbox.services.first { $0.name.rawValue == name })
        wire = try WireClient(origin: service.origin)
        var line = try Self.line(name)
        let described = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        for (place, members) in described["placeholders"] as? [String: [String: String]] ?? [:] {
            line = line.replacingOccurrences(of: "{\(place)}", with: members["example"] ?? "")
        }
        facts = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    }

    func text(_ name: String) -> String? { facts[name] as? String }

    private func table(_ name: String) -> [String: String] { facts[name] as? [String: String] ?? [:] }

    /// Path and query of one of the service's addresses.
    func target(_ member: String) throws -> String {
        let address = try #require(text(member))
        let url = try #require(URLComponents(string: address))
        let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
        return path + (url.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// Path and query of an authorization request; a nil change leaves a parameter out.
    func authorization(_ changes: [String: String?] = [:]) throws -> String {
        let offline = facts["offline"] as? [String: Any] ?? [:]
        let scopes = (facts["default_scopes"] as? [String] ?? []) + (offline["scopes"] as? [String] ?? [])
        var parameters: [String: String?] = [
            "response_type": "code", "client_id": "sandbox", "redirect_uri": Self.redirect, "state": "s-1",
            "nonce": "n-1", "code_challenge": OAuthSteps.challenge, "code_challenge_method": "S256",
        ]
        if !scopes.isEmpty {
            parameters[text("scope_parameter") ?? "scope"] = scopes.joined(separator: text("scope_delimiter") ?? " ")
        }
        for (name, value) in table("authorize_parameters") { parameters[name] = value }
        for (name, value) in offline["parameters"] as? [String: String] ?? [:] { parameters[name] = value }
        for (name, value) in changes { parameters[name] = value }
        return try target("authorize_url") + "?" + OAuthSteps.form(parameters.compactMapValues { $0 })
    }

    /// The parameters of the redirect after the user consented.
    func allowed(_ changes: [String: String?] = [:]) async throws -> [String: String] {
        Self.query(try await sandbox.approve(service.origin + authorization(changes)))
    }

    static func query(_ url: String) -> [String: String] {
        let items = URLComponents(string: url)?.queryItems ?? []
        return items.reduce(into: [:]) { $0[$1.name] = $1.value }
    }

    /// The fields that the service requires.
    func required() -> [String: String] {
        table("required_headers").mapValues { $0.replacingOccurrences(of: "{client_id}", with: "sandbox") }
    }

    /// A token request as the service likes it, with changes to its fields and parameters; a nil change leaves one out.
    func token(
        _ parameters: [String: String?], fields: [String: String?] = [:], at member: String = "token_url"
    ) async throws -> WireClient.Answer {
        var form: [String: String?] = ["client_id": "sandbox"]
        var headers: [String: String?] = required()
        let secret = service.clients[0].secret
        if let secret, text("client_authentication") == "basic" {
            let isRaw = text("credential_encoding") == "raw"
            headers["Authorization"] = OAuthSteps.basic("sandbox", isRaw ? secret : OAuthSteps.encoded(secret))
        } else {
            form["client_secret"] = secret
        }
        for (name, value) in table("token_parameters") { form[name] = value }
        if facts["repeats_scope"] as? Bool == true {
            form["scope"] = (facts["default_scopes"] as? [String] ?? []).joined(separator: " ")
        }
        for (name, value) in parameters { form[name] = value }
        let isJSON = text("token_request") == "json"
        headers["Content-Type"] = isJSON ? "application/json" : "application/x-www-form-urlencoded"
        for (name, value) in fields { headers[name] = value }
        let sent = form.compactMapValues { $0 }
        let body =
            isJSON ? String(decoding: try JSONEncoder().encode(sent), as: UTF8.self) : OAuthSteps.form(sent)
        return try await wire.send("POST", target(member), headers: headers.compactMapValues { $0 }, body: body)
    }

    /// The token request for a code.
    func redeem(
        _ changes: [String: String?] = [:], fields: [String: String?] = [:], code: String? = nil
    ) async throws -> WireClient.Answer {
        let own: String
        if let code { own = code } else { own = try #require(try await allowed()["code"]) }
        var parameters: [String: String?] = [
            "grant_type": "authorization_code", "code": own, "redirect_uri": Self.redirect,
            "code_verifier": OAuthSteps.verifier,
        ]
        for (name, value) in changes { parameters[name] = value }
        return try await token(parameters, fields: fields)
    }

    func refresh(_ token: String, at member: String? = nil) async throws -> WireClient.Answer {
        try await self.token(
            ["grant_type": "refresh_token", "refresh_token": token],
            at: member ?? (text("refresh_url") == nil ? "token_url" : "refresh_url"))
    }

    /// Who the user is, asked as the service has it.
    func user(_ token: String, scheme: String? = nil) async throws -> WireClient.Answer {
        let scheme = scheme ?? text("authorization_scheme") ?? "Bearer"
        return try await wire.send(
            text("userinfo_method") ?? "GET", target("userinfo_url"),
            headers: required().merging(["Authorization": "\(scheme) \(token)"]) { $1 })
    }
}

extension WireClient.Answer {
    /// What stands at a JSON Pointer in the body, which may be a form.
    func value(_ pointer: String) -> Any? {
        if self["Content-Type"] == "application/x-www-form-urlencoded" {
            return ServiceSteps.query("http://x/?" + text.replacingOccurrences(of: "+", with: "%20"))[
                String(pointer.dropFirst())]
        }
        var value = try? JSONSerialization.jsonObject(with: Data(body))
        for part in pointer.split(separator: "/") {
            if let list = value as? [Any] {
                value = Int(part).flatMap { list.indices.contains($0) ? list[$0] : nil }
            } else {
                value = (value as? [String: Any])?[String(part)]
            }
        }
        return value
    }
}
