import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

/// A server whose every byte is chosen to break a client.
@Suite("A hostile HTTP server", .heavy, .serialized)
struct HostileServerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: [RawServer.Step]
        let code: String
        var limits = TransferLimits()
        var testDescription: String { "\(name) is \(code)" }

        init(_ name: String, _ steps: RawServer.Step..., code: String, limits: TransferLimits = TransferLimits()) {
            self.name = name
            self.steps = steps
            self.code = code
            self.limits = limits
        }
    }

    private static let ok = RawServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private static func status(_ status: String, code: String = "invalid_response") -> Row {
        Row("status \(status)", .send("HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\nhi"), code: code)
    }

    @Test(
        "C9: an answer that is no HTTP ends in a typed error, and the transport goes on working",
        arguments: [
            status("099"), status("000"), status("001"), status("-1"), status("1000"), status("99"), status("2OO"),
            status("600"), status("999"), status("101"), status(""), status("18446744073709551616"),
            status("\u{661}\u{662}\u{663}"),
            Row("status 099 without content", .send("HTTP/1.1 099 X\r\n\r\n"), .close, code: "invalid_response"),
            Row(
                "status 099 with chunks",
                .send("HTTP/1.1 099 X\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
                code: "invalid_response"),
            Row("a greeting", .send("220 mail.example ESMTP\r\n\r\n"), code: "invalid_response"),
            Row("zero bytes", .send([UInt8](repeating: 0, count: 4096)), code: "invalid_response"),
            Row("HTTP/3.7", .send("HTTP/3.7 200 OK\r\n\r\n"), code: "invalid_response"),
            Row("ICY", .send("ICY 200 OK\r\n\r\n"), code: "invalid_response"),
            Row("endless informational responses", .flood("HTTP/1.1 100 Continue\r\n\r\n"), code: "invalid_response"),
            Row("endless early hints", .flood("HTTP/1.1 103 Early\r\nLink: a\r\n\r\n"), code: "invalid_response"),
            Row("endless fields", .send("HTTP/1.1 200 OK\r\n"), .flood("X-A: b\r\n"), code: "invalid_response"),
            Row("one endless field", .send("HTTP/1.1 200 OK\r\nX: "), .flood("aaaa"), code: "invalid_response"),
            Row("one endless field name", .send("HTTP/1.1 200 OK\r\n"), .flood("aaaa"), code: "invalid_response"),
            Row(
                "an endless reason", .send("HTTP/1.1 200 "), .flood("aaaa"), code: "timed_out",
                limits: TransferLimits(timeout: .milliseconds(300))),
            Row(
                "endless trailers", .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"),
                .flood("X-A: b\r\n"), code: "invalid_response"),
            Row("a negative length", .send("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), code: "invalid_response"),
            Row(
                "a length beyond 64 bits", .send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"),
                code: "invalid_response"),
            Row(
                "two lengths", .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk"),
                code: "invalid_response"),
            Row(
                "a length too small, and more after it", .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokabc"),
                code: "none"),
            Row(
                "a length too large", .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok"), .close,
                code: "connection_cut"),
            Row(
                "a huge length and as much content",
                .send("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n"), .flood("aaaa"),
                code: "response_too_large"),
            Row("endless content", .send("HTTP/1.1 200 OK\r\n\r\n"), .flood("aaaa"), code: "response_too_large"),
            Row(
                "endless chunks", .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .flood("1\r\na\r\n"),
                code: "response_too_large", limits: TransferLimits(maximumContentLength: 1_000)),
            Row(
                "a chunk length that is none", .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
                code: "invalid_response"),
            Row(
                "a negative chunk length", .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"),
                code: "invalid_response"),
            Row(
                "a chunk length beyond 64 bits",
                .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n"),
                code: "invalid_response"),
            Row(
                "a chunk that is longer than it says",
                .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"), code: "invalid_response"),
            Row(
                "length and chunks",
                .send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                code: "invalid_response"),
            Row(
                "an end within a chunk", .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"), .close,
                code: "connection_cut"),
            Row(
                "an end before the last chunk",
                .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"),
                .close, code: "connection_cut"),
            Row("an end before the answer", .close, code: "connection_cut"),
            Row("an end in the status line", .send("HTTP/1.1 2"), .close, code: "connection_cut"),
            Row("an end in a field", .send("HTTP/1.1 200 OK\r\nX: y"), .close, code: "connection_cut"),
            Row(
                "an end between informational responses", .send("HTTP/1.1 100 Continue\r\n\r\n"), .close,
                code: "connection_cut"),
            Row(
                "a field name that is none", .send("HTTP/1.1 200 OK\r\nA B: c\r\nContent-Length: 0\r\n\r\n"),
                code: "invalid_response"),
            Row(
                "two answers to one request",
                .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\nhi"),
                code: "none"),
            Row(
                "informational responses before the answer",
                .send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"), ok, code: "none"),
            Row(
                "a byte now and then", .send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"),
                .drip([UInt8](repeating: 0x61, count: 100_000)), code: "timed_out",
                limits: TransferLimits(timeout: .milliseconds(300))),
            Row("silence", .hold, code: "timed_out", limits: TransferLimits(timeout: .milliseconds(300))),
        ])
    func answers(_ row: Row) async throws {
        let isFirst = Mutex(true)
        let server = try RawServer { _ in
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? row.steps : [Self.ok]
            }
        }
        defer { server.stop() }
        let transport = PlatformTransport()
        let request = RequestMessage(.get, try EndpointURL(server.origin + "/", security: .allowingInsecureLoopback))
        var code = "none"
        do {
            _ = try await transport.send(request, limits: row.limits)
        } catch let error as TransportError {
            code = error.code
            #expect(error.mayHaveArrived)
        }
        #expect(code == row.code)
        // The connection of the first answer may break off while the next request is on it.
        var next = try? await transport.send(request, limits: TransferLimits())
        if next == nil { next = try await transport.send(request, limits: TransferLimits()) }
        #expect(next?.content == Array("ok".utf8))
    }

    #if os(Linux)
    @Test("HTTP/1.1 is the only protocol that is offered: the libraries do not check the statuses of HTTP/2")
    func onlyHTTP1() async throws {
        let hello = Shared<[UInt8]>([])
        let server = try RawServer(isRaw: true) { bytes in
            hello.change { $0 = bytes }
            return [.close]
        }
        defer { server.stop() }
        let request = RequestMessage(.get, try EndpointURL("https://127.0.0.1:\(server.port)/"))
        await #expect(throws: TransportError.self) {
            try await PlatformTransport().send(request, limits: TransferLimits())
        }
        // The protocols of the client's greeting, each with its length before it (RFC 7301, section 3.1).
        #expect(hello.value.firstRange(of: [8] + Array("http/1.1".utf8)) != nil)
        #expect(hello.value.firstRange(of: [2] + Array("h2".utf8)) == nil)
    }
    #endif
}
