#if CommandLine
import Foundation
import Hummingbird
import NIOCore

/// The context of a request to the companion, with the sender's end of the connection.
struct CompanionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let peer: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress
    }
}

/// Whose program is at the other end of a connection on this machine.
///
/// Other users of the machine can read the link in the list of programs while the browser is started. Their programs get nothing
/// for it.
enum LoopbackPeer {
    /// The most of a table that is read, in bytes.
    private static let limit = 16 << 20
    /// The kernel's tables of connections. That of an IPv6 socket to an IPv4 address is in the second one alone.
    private static let files = ["/proc/self/net/tcp", "/proc/self/net/tcp6"]

    /// Whether a connection may be another user's. Where the system lists no connections, it counts as the user's own.
    static func isForeign(_ peer: SocketAddress?, to port: Int) -> Bool {
        #if os(Linux)
        guard let address = peer?.ipAddress, let peerPort = peer?.port else { return false }
        return isForeign(address, peerPort, to: port, user: getuid(), in: files.map(contents))
        #else
        return false
        #endif
    }

    private static func contents(of file: String) -> Data {
        guard let handle = FileHandle(forReadingAtPath: file) else { return Data() }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: limit)) ?? Data()
    }

    /// Looks for a connection to 127.0.0.1 in tables with lines of `sl local remote state queues timers retransmits uid …`.
    ///
    /// Whole ends are compared: another user can choose the same port at another address.
    static func isForeign(_ address: String, _ peerPort: Int, to port: Int, user: UInt32, in tables: [Data]) -> Bool {
        let (local, remote) = (ends(address, peerPort), ends("127.0.0.1", port))
        var isListed = false
        for line in tables.joined().split(separator: UInt8(ascii: "\n")) {
            let fields = String(decoding: line.prefix(256), as: UTF8.self).split(separator: " ").map(String.init)
            guard fields.count > 7 else { continue }
            if local.contains(fields[1]), remote.contains(fields[2]) { return UInt32(fields[7]) != user }
            if remote.contains(fields[1]) { isListed = true }
        }
        // The table has the listener, so it would have the connection too.
        return isListed
    }

    /// An end of a connection as the kernel writes it, as one of IPv4 and of IPv6. The bytes of each four are in the machine's order.
    private static func ends(_ address: String, _ port: Int) -> [String] {
        let number = address.split(separator: ".").reduce(UInt32(0)) { $0 << 8 | UInt32(UInt8($1) ?? 0) }
        let plain = String(format: "%08X:%04X", number.bigEndian, port)
        return [plain, String(repeating: "0", count: 16) + String(format: "%08X", UInt32(0xFFFF).bigEndian) + plain]
    }
}
#endif
