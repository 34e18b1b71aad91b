import Foundation
import Testing

@testable import HandshakeCLI

@Suite("Whose program asks for the companion's page")
struct LoopbackPeerTests {
    private static let port = 52_625
    private static let user: UInt32 = 1000

    /// A line of the kernel's table. The addresses are as it writes them on this machine.
    private static func line(_ local: String, _ remote: String, user: UInt32) -> String {
        "   0: \(local) \(remote) 01 00000000:00000000 00:00000000 00000000 \(user)        0 4666873 1\n"
    }

    private static func four(_ number: UInt32) -> String { String(format: "%08X", number.bigEndian) }
    private static func mapped(_ end: String) -> String { four(0) + four(0) + four(0xFFFF) + end }

    private static let listener = four(0x7F00_0001) + ":CD91"
    private static let peer = four(0x7F00_0001) + ":D202"
    /// The listener is its user's, as always.
    private static let head = line(listener, four(0) + ":0000", user: user)

    private func isForeign(_ plain: String, _ mapped: String = "") -> Bool {
        LoopbackPeer.isForeign(
            "127.0.0.1", 53_762, to: Self.port, user: Self.user,
            in: [plain, mapped].map { Data(("  sl  local_address rem_address\n" + $0).utf8) })
    }

    @Test(
        "F7: a connection to the companion's page is its user's, of IPv4 and of IPv6 to an IPv4 address",
        arguments: [1000, 1001] as [UInt32])
    func owner(user: UInt32) {
        let plain = Self.line(Self.peer, Self.listener, user: user)
        #expect(isForeign(Self.head + plain) == (user != Self.user))
        let mapped = Self.line(Self.mapped(Self.peer), Self.mapped(Self.listener), user: user)
        #expect(isForeign(Self.head, mapped) == (user != Self.user))
    }

    @Test("F7: the user's own connection with the same ports at another address says nothing of this one")
    func otherAddress() {
        let elsewhere = Self.line(Self.four(0x7F00_0009) + ":D202", Self.listener, user: Self.user)
        let foreign = Self.line(Self.peer, Self.listener, user: 1001)
        #expect(isForeign(Self.head + elsewhere + foreign))
        let other = Self.line(Self.peer, Self.four(0x7F00_0009) + ":CD91", user: Self.user)
        #expect(isForeign(Self.head + other + foreign))
    }

    @Test("F7: a connection that a table with the listener does not have counts as another user's")
    func unlisted() {
        #expect(isForeign(Self.head))
        #expect(!isForeign(""))
    }
}
