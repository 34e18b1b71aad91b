import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Whose program connects to this one", .heavy)
struct LoopbackPeerTests {
    private static let user: UInt32 = 1000

    /// Four bytes of an address as the kernel writes them on this machine.
    private static func four(_ number: UInt32) -> String {
        let text = String(number.bigEndian, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - text.utf8.count) + text
    }

    private static let loopback = four(0x7F00_0001)
    private static let elsewhere = four(0x7F00_0009)
    /// What stands before an IPv4 address in the table of IPv6.
    private static let mapping = four(0) + four(0) + four(0xFFFF)
    private static let (listener, peer) = (loopback + ":CD91", loopback + ":D202")
    private static let head = line(listener, four(0) + ":0000", user: 0)

    private static func line(_ local: String, _ remote: String, user: UInt32, inode: Int = 4_666_873) -> String {
        "   0: \(local) \(remote) 01 00000000:00000000 00:00000000 00000000  \(user)        0 \(inode) 1\n"
    }

    private func owner(
        _ plain: String, _ mapped: String = "", peer: LoopbackPeer.End? = nil, local: LoopbackPeer.End? = nil
    ) throws -> LoopbackPeer.Owner {
        LoopbackPeer.owner(
            of: try peer ?? #require(LoopbackPeer.End("127.0.0.1", port: 0xD202)),
            connectedTo: try local ?? #require(LoopbackPeer.End("127.0.0.1", port: 0xCD91)),
            in: [plain, mapped].map { Array(("  sl  local_address rem_address\n" + $0).utf8) })
    }

    @Test("F7, I6: a connection has its user, of IPv4, of IPv6, and of IPv6 to an IPv4 address")
    func user() throws {
        #expect(try owner(Self.head + Self.line(Self.peer, Self.listener, user: 1001)) == .user(1001))
        let mapped = Self.line(Self.mapping + Self.peer, Self.mapping + Self.listener, user: 1002)
        #expect(try owner(Self.head, mapped) == .user(1002))
        let six = Self.four(0) + Self.four(0) + Self.four(0) + Self.four(1)
        let end = { LoopbackPeer.End(address: [UInt8](repeating: 0, count: 15) + [1], port: $0) }
        let plain = Self.line(six + ":D202", six + ":CD91", user: 1003)
        #expect(try owner(Self.head, plain, peer: end(0xD202), local: end(0xCD91)) == .user(1003))
    }

    @Test("F7, I6: a connection with the same ports at another address says nothing of this one")
    func otherAddress() throws {
        let foreign = Self.line(Self.peer, Self.listener, user: 1001)
        for other in [
            Self.line(Self.elsewhere + ":D202", Self.listener, user: Self.user),
            Self.line(Self.peer, Self.elsewhere + ":CD91", user: Self.user),
        ] { #expect(try owner(Self.head + other + foreign) == .user(1001)) }
    }

    @Test("F7, I6: what the tables do not say is told apart, and an end that was closed has no user")
    func unknown() throws {
        #expect(try owner(Self.head) == .missing)
        #expect(try owner("") == .unlisted)
        // The kernel writes root's number for it.
        #expect(try owner(Self.head + Self.line(Self.peer, Self.listener, user: 0, inode: 0)) == .gone)
    }

    @Test("I6: tables that cannot be read make each connection foreign, and those that are not there none")
    func unreadable() throws {
        let end = try #require(LoopbackPeer.End("127.0.0.1", port: 0xD202))
        #expect(LoopbackPeer.owner(of: end, connectedTo: end, listedIn: ["/"]) == .missing)
        #expect(LoopbackPeer.owner(of: end, connectedTo: end, listedIn: ["/no/table"]) == .unlisted)
    }

    @Test("I6: under WSL a connection that Linux does not list may be that of a program of Windows")
    func windows() {
        #expect(LoopbackPeer.absence(under: Array("5.15.133.1-microsoft-standard-WSL2\n".utf8)) == .unlisted)
        #expect(LoopbackPeer.absence(under: Array("4.4.0-19041-Microsoft\n".utf8)) == .unlisted)
        for other in ["6.12.48-generic\n", ""] { #expect(LoopbackPeer.absence(under: Array(other.utf8)) == .missing) }
    }

    @Test(
        "I6: another user's connection is foreign, and one that is not known where the system lists connections",
        arguments: [
            (.user(1000), false), (.user(0), false), (.user(1001), true), (.gone, true), (.missing, true),
            (.unlisted, false),
        ] as [(LoopbackPeer.Owner, Bool)])
    func foreign(_ owner: LoopbackPeer.Owner, _ isForeign: Bool) {
        #expect(LoopbackPeer.isForeign(owner, to: [0, Self.user]) == isForeign)
    }

    @Test("F7, I6: root's programs, and those of the user for whom sudo started this one, count as the user's own")
    func users() {
        #expect(LoopbackPeer.users(startedBy: nil) == [0, geteuid()])
        #expect(LoopbackPeer.users(startedBy: "1001") == [0, geteuid(), 1001])
        for text in ["", "-1", "ada", "4294967296"] { #expect(LoopbackPeer.users(startedBy: text) == [0, geteuid()]) }
    }

    @Test("I6: a redirect that another user's program sends does not count, and the user's own still does")
    func redirect() async throws {
        let count = Mutex(0)
        let lines = LogLines()
        let listener = try LoopbackListener(log: lines.logger) { _ in
            count.withLock { count in
                count += 1
                return count <= 2
            }
        }
        let uri = listener.redirectURI.string
        async let redirect = listener.redirect { url in .accepted(url, page: "<p>done</p>") }
        for _ in 1...2 {
            let answer = await LoopbackCaller.get(uri + "?state=right&code=theirs").response
            #expect(answer.hasPrefix("HTTP/1.1 403"))
            // Where it is the user's own browser after all, the page and the program say what was wrong.
            #expect(answer.hasSuffix(ResultPage.foreign(language: .user).html))
        }
        #expect(lines.take().map { $0.contains("another user of this machine") } == [true])
        #expect(await LoopbackCaller.get(uri + "?state=right&code=own").response.hasPrefix("HTTP/1.1 200"))
        #expect(try await redirect.hasSuffix("code=own"))
    }

    #if os(Linux)
    @Test("I6: the kernel says whose a connection of this machine is")
    func kernel() throws {
        let listener = try LoopbackListener()
        let origin = String(listener.redirectURI.string.dropLast("/callback".count))
        let program = try WireClient.connected(to: WireClient(origin: origin).port)
        defer { LoopbackCaller.end(program) }
        let peer = try #require(LoopbackPeer.end(of: program, getsockname))
        let end = try #require(LoopbackPeer.end(of: program, getpeername))
        #expect(LoopbackPeer.owner(of: peer, connectedTo: end) == .user(geteuid()))
    }

    @Test("I6: a connection that its program has reset is foreign, for its request can still be read")
    func reset() throws {
        let listener = try ListeningSocket(port: 0)
        let program = try WireClient.connected(to: WireClient(origin: listener.authority).port)
        try #require(wait(listener.descriptor, for: POLLIN))
        let connection = try #require(listener.accept())
        defer { LoopbackCaller.end(connection) }
        #expect(!LoopbackPeer.isForeign(connection, to: [geteuid()]))
        let head = Array("GET /callback?state=right HTTP/1.1\r\n\r\n".utf8)
        #expect(send(program, head, head.count, 0) == head.count)
        var immediately = linger(l_onoff: 1, l_linger: 0)
        #expect(setsockopt(program, SOL_SOCKET, SO_LINGER, &immediately, socklen_t(MemoryLayout<linger>.size)) == 0)
        LoopbackCaller.end(program)
        try #require(wait(connection, for: POLLHUP))
        #expect(LoopbackPeer.isForeign(connection, to: [geteuid()]))
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(recv(connection, &buffer, buffer.count, 0) == head.count)
    }

    /// Waits until a connection is there to accept (`POLLIN`) or has ended (`POLLHUP`).
    private func wait(_ descriptor: CInt, for event: Int32) -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        return poll(&item, 1, -1) == 1
    }
    #endif
}
