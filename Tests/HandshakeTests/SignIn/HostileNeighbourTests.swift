import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

/// A server that echoes what belongs to another one (RFC 9700, section 4.4; `any-server.md` 9).
@Suite("A hostile server beside an honest one", .heavy, .ownThreads)
struct HostileNeighbourTests {
    private static let evil = "https://evil.example"
    private static let evilRedirect = "com.example.app:/evil"

    /// Both servers: what goes to the hostile one is recorded.
    private final class Net: Transport {
        let honest = ScriptedProvider()
        private let metadata: String
        private let received = Mutex<[RequestMessage]>([])

        init(_ changes: [String: String] = [:]) {
            var members = [
                "issuer": evil, "authorization_endpoint": evil + "/authorize", "token_endpoint": evil + "/token",
                "jwks_uri": evil + "/jwks",
            ]
            members.merge(changes) { $1 }
            let pairs = members.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
            metadata =
                "{\(pairs),\"code_challenge_methods_supported\":[\"S256\"],"
                + "\"authorization_response_iss_parameter_supported\":true}"
        }

        /// The forms that the hostile server received.
        var forms: [String] {
            received.withLock { messages in
                messages.compactMap { message in
                    guard case .bytes(let bytes) = message.content else { return nil }
                    return String(decoding: bytes, as: UTF8.self)
                }
            }
        }

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            guard request.head.authority == "evil.example" else {
                return try await honest.send(request, limits: limits)
            }
            received.withLock { $0.append(request) }
            guard request.head.path == "/.well-known/oauth-authorization-server" else {
                return .json(404, [:])
            }
            return ResponseMessage(
                head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                content: Array(metadata.utf8))
        }
    }

    private static func app(_ net: Net) throws -> Handshake {
        let known = try net.honest.client()
        let key = try SigningKey(parsing: Array(DPoPKey().source.reveal().utf8))
        let other = try Service(
            name: "evil", authorizationServer: .discovered(try Issuer(evil), security: .httpsOnly),
            apiRoot: try EndpointURL(evil + "/"), defaultScopes: ["openid"])
        return try Handshake(
            Client.confidential(service: known.service, id: "app", key: key, redirect: known.redirect),
            Client.confidential(
                service: other, id: "app", key: key, redirect: .uri(try RedirectURI(evilRedirect))),
            vault: MemoryVault(), transport: net, time: net.honest.time.source)
    }

    @Test(
        "M905: a response that carries another server's iss, state or address stops, and no code goes anywhere",
        arguments: [
            (evilRedirect, "evil", ScriptedProvider.issuer, "issuer_mismatch"),
            (evilRedirect, "evil", nil, "issuer_missing"),
            (evilRedirect, "op", evil, "state_mismatch"),
            (ScriptedProvider.redirect, "evil", ScriptedProvider.issuer, "state_mismatch"),
            (ScriptedProvider.redirect, "op", evil, "issuer_mismatch"),
            (ScriptedProvider.redirect, "op", nil, "issuer_missing"),
        ])
    func echoed(_ redirect: String, _ state: String, _ issuer: String?, _ code: String) async throws {
        let net = Net()
        let app = try Self.app(net)
        let attempts = ["evil": try await app.beginSignIn(to: "evil"), "op": try await app.beginSignIn(to: "op")]
        let text = try #require(attempts[state]).request.state.reveal()
        let iss = issuer.map { "&iss=" + $0.replacing(":", with: "%3A").replacing("/", with: "%2F") } ?? ""
        let error = await handshakeError {
            try await app.finishSignIn(redirectURL: "\(redirect)?code=honest-code&state=\(text)\(iss)")
        }
        #expect(error?.code == code)
        #expect(net.forms.isEmpty)
        #expect(net.honest.count("/token") == 0)
    }

    @Test("M905: a document that speaks for another issuer opens no page")
    func foreignIssuer() async throws {
        let net = Net(["issuer": ScriptedProvider.issuer])
        let error = await handshakeError { try await Self.app(net).beginSignIn(to: "evil") }
        #expect(error?.code == "issuer_mismatch")
        #expect(net.forms.isEmpty && net.honest.count("/token") == 0)
    }

    @Test(
        "M905: a hostile server that names an honest token endpoint gets an assertion there for itself alone"
    )
    func borrowedEndpoint() async throws {
        let net = Net(["token_endpoint": ScriptedProvider.issuer + "/token"])
        let app = try Self.app(net)
        let attempt = try await app.beginSignIn(to: "evil")
        let state = attempt.request.state.reveal()
        _ = await handshakeError {
            try await app.finishSignIn(
                redirectURL: "\(Self.evilRedirect)?code=c&state=\(state)&iss=https%3A%2F%2Fevil.example")
        }
        let forms = net.honest.forms("/token")
        #expect(forms.count == 1)
        for form in forms {
            let assertion = try claims(of: try #require(form["client_assertion"]))
            #expect(assertion["aud"] as? String == Self.evil)
        }
        let honest = try await app.signIn(as: "honest", to: "op", through: net.honest.browser)
        #expect(honest.status.state == .signedIn)
        #expect(net.forms.isEmpty, "nothing was posted to the hostile server")
    }

    // MARK: Many at the same time

    private static let canary = "internal-page-4711"

    /// What the hostile host answers to its N-th visitor.
    private static func steps(_ number: Int) -> [RawServer.Step] {
        func answer(_ status: String, _ type: String, _ body: String) -> [RawServer.Step] {
            [
                .send(
                    Array(
                        ("HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                            + body).utf8))
            ]
        }
        let json = "application/json"
        switch number % 10 {
        case 0: return answer("200 OK", "text/html", "<html><title>\(canary)</title></html>")
        case 1:
            return answer(
                "500 Internal Server Error", json, #"{"error":"\#(canary)","error_description":"\#(canary)"}"#)
        case 2: return answer("403 Forbidden", "text/plain", canary)
        case 3: return answer("200 OK", json, #"{"\#(canary)":"\#(canary)"}"#)
        case 4: return answer("200 OK", json, #"["\#(canary)"]"#)
        case 5: return answer("200 OK", json, String(repeating: "[", count: 20_000))
        case 6:
            return answer("200 OK", json, "{" + (0..<2_000).map { "\"\(canary)\($0)\":1" }.joined(separator: ",") + "}")
        case 7:
            return answer(
                "200 OK", json, #"{"resource":"https://other.example","authorization_servers":["\#(canary)"]}"#)
        case 8: return answer("200 OK", json, #"{"issuer":"https://other.example","token_endpoint":"\#(canary)"}"#)
        default:
            return [
                .send(Array("HTTP/1.1 200 OK\r\nContent-Type: \(json)\r\n\r\n{\"a\":\"".utf8)),
                .flood(Array(String(repeating: canary, count: 64).utf8), limit: 1 << 22),
            ]
        }
    }

    /// How many connections a port has, as the system counts them; with those that the client has closed, if asked for.
    private static func connections(to port: UInt16, withClosed: Bool = false) -> Int {
        let digits = String(port, radix: 16, uppercase: true)
        let local = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        // `String(contentsOfFile:)` reads the first page alone of a file of unknown size.
        let table = FileHandle(forReadingAtPath: "/proc/net/tcp").flatMap { try? $0.readToEnd() } ?? Data()
        return [UInt8](table).split(separator: UInt8(ascii: "\n")).count { line in
            let words = line.prefix(40).split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            return words.count > 3 && words[1].hasSuffix(local)
                && (words[3] == "01" || withClosed && words[3] == "08")
        }
    }

    @Test("M908: 1,000 hostile documents end in typed errors, over a bounded number of connections, and none is quoted")
    func manyDocuments() async throws {
        let state = Mutex((number: 0, most: 0, port: UInt16(0)))
        // How many connections there are before the first answer, and how many with those that the client has closed by then,
        // because it waits five seconds for this answer; nil before they are counted.
        let first = Mutex<(open: Int, all: Int)?>(nil)
        let server = try RawServer { _ in
            let (number, port) = state.withLock { state in
                state.number += 1
                return (state.number, state.port)
            }
            // The first visitor counts, and the others wait for it with their connections open.
            first.withLock { first in
                guard first == nil else { return }
                first = (0..<3).reduce((0, 0)) { most, _ in
                    let (open, all) = (Self.connections(to: port), Self.connections(to: port, withClosed: true))
                    return (max(most.0, open), max(most.1, all))
                }
            }
            if number % 64 == 0 {
                let open = Self.connections(to: port)
                state.withLock { $0.most = max($0.most, open) }
            }
            return Self.steps(number)
        }
        state.withLock { $0.port = server.port }
        let limits = TransferLimits(maximumContentLength: 65_536, timeout: .seconds(3_600))
        // A thousand wait for 64 connections, however slow the machine is.
        let transport = AsyncHTTPTransport(connectionTimeout: .seconds(3_600))
        let errors = await withTaskGroup(of: HandshakeError?.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    await handshakeError {
                        try await DiscoveredResource.discover(
                            "\(server.origin)/api/\(number)", transport: transport, limits: limits)
                    }
                }
            }
            return await group.reduce(into: [HandshakeError?]()) { $0.append($1) }
        }
        server.stop()
        #expect(errors.count == 1_000)
        #expect(state.withLock { $0.number } >= 1_000, "each was asked for")
        #expect(Set(errors.compactMap { $0?.code }).count > 1)
        for error in errors {
            let error = try #require(error)
            #expect(!"\(error) \(String(reflecting: error))".contains(Self.canary), "\(error)")
        }
        #if os(Linux)
        let (open, all) = try #require(first.withLock { $0 })
        // The table is no moment of its own: one that closes and one that opens while it is read are both counted.
        #expect(open < 128, "\(open) connections: the transport opens 64 to a host")
        #expect(all >= 1, "the first visitor's own is counted")
        #expect(state.withLock { $0.most } <= 256)
        #endif
    }

    // MARK: Memory

    /// The most memory that this process has had, in bytes; 0 where `/proc` does not say it.
    private static func peakBytes() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }

    /// Asks for a thousand documents of 8 MiB, of each of which 64 KiB may be read.
    ///
    /// The process ends with 3 where it needs 160 MiB more for them: the 64 that are read at the same time have 512.
    private static func readFloods() async throws {
        guard peakBytes() > 0 else { exit(4) }
        // The thread sanitizer keeps several bytes for each one.
        let allowed = dlsym(nil, "__tsan_init") == nil ? 160 << 20 : 2 << 30
        let most = Mutex(Int.max)
        let server = try RawServer { _ in
            if Self.peakBytes() > most.withLock({ $0 }) { exit(3) }
            return [
                .send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\":\""),
                .flood(Array(Self.canary.utf8), limit: 8 << 20), .close,
            ]
        }
        let limits = TransferLimits(maximumContentLength: 65_536, timeout: .seconds(3_600))
        let transport = AsyncHTTPTransport(connectionTimeout: .seconds(3_600))
        let refusal = ResponseMessage(head: HTTPResponse(status: .unauthorized), content: [])
        @Sendable func discover(_ number: Int) async -> HandshakeError? {
            await handshakeError {
                try await DiscoveredResource.discover(
                    "\(server.origin)/api/\(number)", after: refusal, transport: transport, limits: limits)
            }
        }
        // What is loaded and started once is no document's.
        _ = await discover(0)
        most.withLock { $0 = Self.peakBytes() + allowed }
        let refused = await withTaskGroup(of: Bool.self) { group in
            for number in 1...1_000 { group.addTask { await discover(number) != nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        server.stop()
        if refused < 1_000 || peakBytes() > most.withLock({ $0 }) { exit(3) }
    }

    @Test("M908: a thousand documents that are far too long need a bounded amount of memory", .ownThreads)
    func memory() async throws {
        #if os(Linux)
        await #expect(processExitsWith: .success) { try await Self.readFloods() }
        #endif
    }
}
