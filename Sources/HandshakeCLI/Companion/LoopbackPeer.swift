#if CommandLine
import Foundation
import Hummingbird
import NIOCore

/// The context of a request to the companion, with the sender's port.
struct CompanionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let peer: Int?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress?.port
    }
}

/// Whose program is at the other end of a connection on this machine.
///
/// Other users of the machine can read the link in the list of programs while the browser is started. Their programs get nothing
/// for it.
enum LoopbackPeer {
    /// The longest table that is read.
    private static let limit = 4 << 20

    /// Whether a connection is another user's. Where the system does not say, it counts as the user's own.
    static func isForeign(_ peer: Int?, to port: Int) -> Bool {
        #if os(Linux)
        guard let peer, let file = FileHandle(forReadingAtPath: "/proc/self/net/tcp") else { return false }
        defer { try? file.close() }
        guard let table = try? file.read(upToCount: limit) else { return false }
        return owner(of: peer, to: port, in: String(decoding: table, as: UTF8.self)).map { $0 != getuid() } ?? false
        #else
        return false
        #endif
    }

    /// The user of a connection in the kernel's table: `sl local remote state queues timers retransmits uid …`.
    static func owner(of peer: Int, to port: Int, in table: String) -> UInt32? {
        func end(_ port: Int) -> String { String(format: ":%04X", port) }
        for line in table.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: " ")
            guard fields.count > 7, fields[1].hasSuffix(end(peer)), fields[2].hasSuffix(end(port)) else { continue }
            return UInt32(fields[7])
        }
        return nil
    }
}
#endif
