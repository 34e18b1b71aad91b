import Foundation
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@Suite("The loopback listener", .heavy)
struct LoopbackTests {
    /// Accepts redirects with `state=right`.
    @Sendable private static func judge(_ url: String) -> LoopbackListener.Verdict<String> {
        url.contains("state=right") ? .accepted(url, page: "<p>done</p>") : .ignored(page: "<p>no</p>")
    }

    @Test(
        "I5: it listens on a loopback address literal, on a port that the kernel chose, and closes after its one redirect"
    )
    func oneRedirect() async throws {
        let listener = try LoopbackListener()
        let uri = listener.redirectURI.string
        #expect(uri.firstMatch(of: /^http:\/\/(127\.0\.0\.1|\[::1\]):[0-9]+\/callback$/) != nil)
        #expect(!uri.contains("localhost"))
        async let redirect = listener.redirect(Self.judge)
        let (response, _) = await LoopbackCaller.get(uri + "?code=c&state=right")
        #expect(response.hasPrefix("HTTP/1.1 200"))
        #expect(try await redirect == uri + "?code=c&state=right")
        #expect(await LoopbackCaller.get(uri + "?code=c&state=right").refused)
    }

    @Test("I5: no address of this machine but the one in the redirect URI is listened on")
    func interfaces() throws {
        let listener = try LoopbackListener()
        let port = try WireClient(origin: String(listener.redirectURI.string.dropLast("/callback".count))).port
        LoopbackCaller.end(try WireClient.connected(to: port))
        #expect(throws: WireClient.Failure.self) { try WireClient.connected(to: port, host: 0x7F00_0002) }
    }

    @Test("I5: two sign-ins have two ports")
    func twoListeners() throws {
        #expect(try LoopbackListener().redirectURI != LoopbackListener().redirectURI)
    }

    @Test("a fixed port that is taken is the user's to solve, and is named")
    func takenPort() async throws {
        let first = try LoopbackListener()
        let port = try #require(UInt16(first.redirectURI.string.split(separator: ":").last?.prefix { $0 != "/" } ?? ""))
        let error = await handshakeError { try LoopbackListener(port: port) }
        #expect(error?.description.contains("\(port)") == true)
        _ = first
    }

    /// A request that must not end the flow, and the status that it gets; nil when the connection is just closed.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let request: String
        let status: Int?
        var testDescription: String { name }
    }

    @Test(
        "B5, I6: other requests are rejected, and the right redirect still counts",
        arguments: [
            Row(name: "another path", request: "GET /favicon.ico HTTP/1.1\r\nHost: {host}\r\n\r\n", status: 404),
            Row(
                name: "a longer path", request: "GET /callback/x?state=right HTTP/1.1\r\nHost: {host}\r\n\r\n",
                status: 404),
            Row(
                name: "a percent-encoded path", request: "GET /c%61llback?state=right HTTP/1.1\r\nHost: {host}\r\n\r\n",
                status: 404),
            Row(
                name: "another method", request: "POST /callback?state=right HTTP/1.1\r\nHost: {host}\r\n\r\n",
                status: 405),
            Row(
                name: "another host", request: "GET /callback?state=right HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                status: 400),
            Row(
                name: "localhost", request: "GET /callback?state=right HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
                status: 400),
            Row(name: "no host", request: "GET /callback?state=right HTTP/1.1\r\n\r\n", status: 400),
            Row(
                name: "two hosts",
                request: "GET /callback?state=right HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n", status: 400),
            Row(
                name: "another state", request: "GET /callback?state=wrong HTTP/1.1\r\nHost: {host}\r\n\r\n",
                status: 400),
            Row(
                name: "an absolute target",
                request: "GET http://{host}/callback?state=right HTTP/1.1\r\nHost: {host}\r\n\r\n", status: 404),
            Row(name: "no HTTP", request: "hello\r\n\r\n", status: 400),
            Row(
                name: "not ASCII", request: "GET /callback?state=right\u{e9} HTTP/1.1\r\nHost: {host}\r\n\r\n",
                status: 400),
            Row(
                name: "a tab in the target",
                request: "GET /callback?\tstate=right HTTP/1.1\r\nHost: {host}\r\n\r\n", status: 400),
            Row(
                name: "an endless head",
                request: "GET /callback?state=right HTTP/1.1\r\nX: " + String(repeating: "a", count: 30_000),
                status: 431),
            Row(name: "nothing at all", request: "", status: nil),
        ])
    func others(_ row: Row) async throws {
        let listener = try LoopbackListener()
        let uri = listener.redirectURI.string
        let host = String(uri.dropFirst("http://".count).prefix { $0 != "/" })
        let port = host.split(separator: ":").last.map(String.init) ?? ""
        async let redirect = listener.redirect(Self.judge)
        let request = row.request.replacing("{host}", with: host).replacing("{port}", with: port)
        let (response, _) = await LoopbackCaller.send(request, to: uri)
        if let status = row.status { #expect(response.hasPrefix("HTTP/1.1 \(status)"), "\(response.prefix(40))") }
        #expect(await LoopbackCaller.get(uri + "?state=right").response.hasPrefix("HTTP/1.1 200"))
        #expect(try await redirect.hasSuffix("?state=right"))
    }

    @Test("connections that a browser opens ahead and leaves idle do not block the redirect")
    func idleConnections() async throws {
        let listener = try LoopbackListener()
        async let redirect = listener.redirect(Self.judge)
        let idle = (0..<10).map { _ in LoopbackCaller.connect(to: listener.redirectURI.string) }
        #expect(
            await LoopbackCaller.get(listener.redirectURI.string + "?state=right").response.hasPrefix("HTTP/1.1 200"))
        #expect(try await redirect.hasSuffix("right"))
        for connection in idle { LoopbackCaller.end(connection) }
    }

    @Test("I6: a burst of connections is taken immediately, and leaves a place for the browser that comes behind it")
    func burst() async throws {
        let listener = try LoopbackListener()
        let uri = listener.redirectURI.string
        // Nothing accepts connections yet: a listener can find such a queue after it has looked at another connection.
        let others = (0..<300).map { _ in LoopbackCaller.connectImmediately(to: uri) }
        defer { for connection in others { LoopbackCaller.end(connection) } }
        try #require(others.allSatisfy { $0 != nil })
        async let redirect = listener.redirect(Self.judge)
        #expect(await LoopbackCaller.get(uri + "?state=right").response.hasPrefix("HTTP/1.1 200"))
        #expect(try await redirect.hasSuffix("?state=right"))
    }

    @Test("B8, B9, B10: the page after a redirect loads nothing, links nowhere and tells no referrer")
    func page() async throws {
        let world = try await World()
        let page = Mutex("")
        _ = try await world.app().signIn(
            through: ScriptedBrowser { shown in
                let redirect = try await world.sandbox.approve(shown.url)
                let more = "&error_description=<script>alert(1)</script>&next=https://evil.example/"
                let response = await LoopbackCaller.get(redirect + more).response
                page.withLock { $0 = response }
                return nil
            })
        let response = page.withLock { $0 }
        #expect(response.hasPrefix("HTTP/1.1 200"))
        for field in [
            "Referrer-Policy: no-referrer", "default-src 'none'", "Cache-Control: no-store", "frame-ancestors 'none'",
        ] {
            #expect(response.contains(field))
        }
        for mark in ["<a ", "<script", "<img", "<form", "src=", "alert(1)", "evil.example"] {
            #expect(!response.contains(mark), "\(mark)")
        }
        #expect(response.contains("Recurse Center"))
        await world.sandbox.stop()
    }

    @Test("a service's name is text in the page, also where a combining mark follows a bracket")
    func name() {
        let page = ResultPage.refused(service: "<\u{301}b>", language: .user).html
        #expect(page.utf8.contains("&lt;\u{301}b&gt;".utf8))
    }
}
