import Foundation
import Geofences
import Synchronization
import TestFixtures
import Testing

@testable import Positions

@Suite("gpsd", .heavy)
struct GPSDTests {
    static let version = #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#
    static let fix =
        #"{"class":"TPV","device":"/dev/pts/1","mode":3,"time":"2026-03-02T15:00:00.000Z","ept":0.005,"lat":40.690000000,"lon":-73.985000000,"speed":11.832,"eph":20.900}"#

    private static func update(_ line: String) throws -> PositionUpdate? {
        try GPSD.update(of: Array(line.utf8), source: "gpsd")
    }

    private static var expected: PositionUpdate {
        get throws {
            .fix(
                try Fix(
                    Coordinate(latitude: 40.69, longitude: -73.985), accuracy: 20.9,
                    time: Date(timeIntervalSince1970: 1_772_463_600), speed: 11.832))
        }
    }

    @Test("a report with position and time is a fix")
    func fixes() throws { #expect(try Self.update(Self.fix) == Self.expected) }

    @Test(
        "BE-27: reports of less than two dimensions, without time or position, and of other classes are no fix",
        arguments: [
            (#"{"class":"TPV","mode":1}"#, PositionUpdate.unavailable(.noFix)),
            (#"{"class":"TPV","mode":0}"#, .unavailable(.noFix)),
            (#"{"class":"TPV"}"#, .unavailable(.noFix)),
            (#"{"class":"DEVICES","devices":[]}"#, .unavailable(.noReceiver)),
            (#"{"class":"DEVICE","path":"/dev/x","activated":0}"#, .unavailable(.noReceiver)),
            (#"{"class":"DEVICE","path":"/dev/x","activated":"2026-11-21T00:14:52.077Z"}"#, nil),
            (#"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/x"}]}"#, nil), (version, nil),
            (#"{"class":"TPV","mode":3,"lat":1,"lon":2}"#, nil),
            (#"{"class":"TPV","mode":3,"time":"2026-03-02T15:00:00Z"}"#, nil),
            (#"{"class":"TPV","mode":3,"lat":91,"lon":2,"time":"2026-03-02T15:00:00Z"}"#, nil),
            (#"{"class":"TPV","mode":3,"lat":"1","lon":[2],"time":5}"#, nil),
            (#"{"class":"SKY","hdop":1.1,"satellites":[{"PRN":2}]}"#, nil),
            (#"{"class":7}"#, nil), ("{}", nil),
            // Beyond a Double's range.
            (#"{"class":"TPV","mode":1e400}"#, .unavailable(.noFix)),
            (#"{"class":"TPV","mode":3,"lat":-1e400,"lon":2,"time":"2026-03-02T15:00:00Z"}"#, nil),
            (#"{"class":"TPV","mode":3,"lat":1,"lon":2,"lat":1e400,"time":"2026-03-02T15:00:00Z"}"#, nil),
            (#"{"class":"VERSION","proto_major":1e400}"#, nil),
        ])
    func others(line: String, expected: PositionUpdate?) throws { #expect(try Self.update(line) == expected) }

    @Test("an error estimate that is missing or senseless is replaced")
    func accuracies() throws {
        func accuracy(_ members: String) throws -> Double? {
            let line = #"{"class":"TPV","mode":2,"lat":1,"lon":2,"time":"2026-03-02T15:00:00Z"\#(members)}"#
            guard case .fix(let fix)? = try Self.update(line) else { return nil }
            return fix.accuracy
        }
        #expect(try accuracy("") == 50)
        #expect(try accuracy(#","epx":3,"epy":4"#) == 5)
        #expect(try accuracy(#","eph":-1"#) == 50)
        #expect(try accuracy(#","eph":0"#) == 50)
        #expect(try accuracy(#","eph":1e400,"speed":1e400"#) == 50)
    }

    @Test(
        "what is not JSON ends the connection; another major version ends the updates",
        arguments: ["garbage", "{", "[1]", "HTTP/1.1 400 Bad Request", #"{"lat":1e"#, #"{"lat":-}"#])
    func garbage(line: String) {
        let error = #expect(throws: PositionsError.self) { try Self.update(line) }
        #expect(error?.code == "position_source_lost")
        #expect(throws: PositionsError.protocolVersion(4)) { try Self.update(#"{"class":"VERSION","proto_major":4}"#) }
    }

    @Test(
        "addresses are a host with or without a port",
        arguments: [
            ("localhost", "localhost", 2_947), ("localhost:2950", "localhost", 2_950), ("[::1]:2950", "::1", 2_950),
            ("[::1]", "::1", 2_947),
            ("::1", "::1", 2_947),
        ])
    func addresses(text: String, host: String, port: UInt16) throws {
        let gpsd = try GPSD(address: text)
        #expect(gpsd.host == host)
        #expect(gpsd.port == port)
    }

    @Test(
        "what is no address is refused",
        arguments: ["", ":2947", "host:", "host:0", "host:70000", "a b", "[]", "host\n"])
    func noAddress(text: String) { #expect(throws: PositionsError.address(text)) { try GPSD(address: text) } }

    @Test("a daemon that drips, dies, sends garbage and comes back gives every fix it sent whole")
    func reconnects() async throws {
        let whole = Self.version + "\n" + Self.fix + "\r\n"
        let daemon = try StandIn(sessions: [
            [whole], [String(whole.prefix(200))], ["garbage\n"], [String(repeating: "x", count: 70_000)], [],
            whole.map { String($0) },
        ])
        defer { daemon.stop() }
        let source = GPSD(port: daemon.port, clock: HurriedClock())
        var updates: [PositionUpdate] = []
        for try await update in source.updates() {
            updates.append(update)
            if updates.count(where: { if case .fix = $0 { true } else { false } }) == 2 { break }
        }
        #expect(try updates.first == Self.expected)
        #expect(try updates.last == Self.expected)
        let reasons = updates.compactMap { if case .unavailable(let error) = $0 { error.code } else { nil } }
        #expect(reasons == Array(repeating: "position_source_lost", count: 5))
        #expect(daemon.requests.allSatisfy { $0 == "?WATCH={\"enable\":true,\"json\":true};\n" })
    }

    @Test("names and classes of combining marks are read in linear time", arguments: [#"{"@":1}"#, #"{"class":"@"}"#])
    func marks(pattern: String) {
        let marks = String(repeating: "\u{301}\u{323}", count: 65_536)
        let line = Array(pattern.replacing("@", with: marks).utf8)
        #expect(processorTime { _ = try? GPSDReport(line) } < .seconds(4))
    }

    @Test("a daemon that greets and closes is asked less and less often")
    func greetings() async throws {
        let daemon = try StandIn(sessions: Array(repeating: [Self.version + "\n"], count: 5))
        defer { daemon.stop() }
        let clock = HurriedClock()
        var failures = 0
        for try await update in GPSD(port: daemon.port, clock: clock).updates() {
            guard case .unavailable = update else { continue }
            failures += 1
            if failures == 5 { break }
        }
        #expect(clock.pauses.prefix(4) == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
    }

    @Test("a daemon that falls silent without closing counts as lost and is connected to again")
    func silent() async throws {
        let session = [Self.version + "\n" + Self.fix + "\n"]
        let daemon = try StandIn(sessions: Array(repeating: session, count: 20), goesOn: true)
        defer { daemon.stop() }
        var source = GPSD(port: daemon.port, clock: HurriedClock())
        source.maximumSilence = 1
        var updates: [PositionUpdate] = []
        for try await update in source.updates() {
            updates.append(update)
            // Each session has one.
            if try updates.count(where: { try $0 == Self.expected }) == 2 { break }
        }
        let name = "gpsd at 127.0.0.1:\(daemon.port)"
        #expect(updates.contains(.unavailable(.lost(source: name, reason: "it said nothing for 1 s"))))
    }

    @Test("a daemon with nothing to tell is asked whether it lives, and is not lost if it answers")
    func asked() async throws {
        // The fix is the answer to the question.
        let daemon = try StandIn(
            sessions: Array(repeating: [Self.version + "\n"], count: 20), goesOn: true, answer: Self.fix + "\n")
        defer { daemon.stop() }
        var source = GPSD(port: daemon.port, clock: HurriedClock())
        source.maximumSilence = 2
        var updates: [PositionUpdate] = []
        for try await update in source.updates() {
            updates.append(update)
            // On a busy machine the answer may be late.
            if case .fix = update { break }
            if updates.count == 10 { break }
        }
        #expect(try updates.last == Self.expected)
        #expect(daemon.requests.contains("?VERSION;\n"))
    }

    @Test("a missing server is reported, and waiting ends with the task")
    func unreachable() async throws {
        let daemon = try StandIn(sessions: [])
        daemon.stop()
        let source = GPSD(port: daemon.port, clock: HurriedClock())
        var codes: [String] = []
        for try await update in source.updates() {
            guard case .unavailable(let error) = update else { continue }
            codes.append(error.code)
            if codes.count == 3 { break }
        }
        #expect(codes == Array(repeating: "position_source_unreachable", count: 3))
        let endless = GPSD(port: daemon.port)
        let task = Task { for try await _ in endless.updates() {} }
        task.cancel()
        _ = await task.result
    }
}

/// A daemon on loopback that sends given pieces in each session and closes it, or goes on in silence.
final class StandIn: Sendable {
    let port: UInt16
    private let descriptor: CInt
    private let received = Mutex<[String]>([])

    var requests: [String] { received.withLock { $0 } }

    /// - Parameters:
    ///   - goesOn: whether a session ends only when the client closes it.
    ///   - answer: sent after each further request of a session.
    init(sessions: [[String]], goesOn: Bool = false, answer: String? = nil) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = self.descriptor
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) | listen(descriptor, 8) | getsockname(descriptor, address, &length)
            }
        }
        try #require(status == 0)
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            for pieces in sessions {
                let peer = accept(descriptor, nil, nil)
                guard peer >= 0 else { return }
                var buffer = [UInt8](repeating: 0, count: 256)
                let count = recv(peer, &buffer, buffer.count, 0)
                received.withLock { $0.append(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)) }
                for piece in pieces { _ = piece.withCString { send(peer, $0, strlen($0), CInt(MSG_NOSIGNAL)) } }
                if !goesOn { shutdown(peer, CInt(SHUT_WR)) }
                // Until the client has gone, so that nothing sent is lost.
                while case let count = recv(peer, &buffer, buffer.count, 0), count > 0 {
                    received.withLock { $0.append(String(decoding: buffer.prefix(count), as: UTF8.self)) }
                    if let answer { _ = answer.withCString { send(peer, $0, strlen($0), CInt(MSG_NOSIGNAL)) } }
                }
                close(peer)
            }
        }
    }

    func stop() {
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }
}
