#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The user at the other end of a loopback connection.
///
/// Other users of the machine can read a page's address in the process list while the browser is started, and connect to the same
/// port. On Linux the kernel lists the user of each connection; elsewhere nothing is known.
package enum LoopbackPeer {
    /// The address and port of one end of a connection.
    package struct End: Sendable, Hashable {
        /// Four bytes of IPv4, or sixteen of IPv6.
        let address: [UInt8]
        let port: UInt16

        init(address: [UInt8], port: UInt16) {
            (self.address, self.port) = (address, port)
        }

        /// Creates an end from an IPv4 address in dotted form; nil for any other text.
        package init?(_ address: String, port: Int) {
            let bytes = address.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
            guard bytes.count == 4, let port = UInt16(exactly: port) else { return nil }
            self.init(address: bytes, port: port)
        }
    }

    /// What the kernel's tables say of a connection.
    package enum Owner: Sendable, Hashable {
        /// The user ID of the process at that end.
        case user(UInt32)
        /// The process has closed its end, and the kernel no longer lists a user for it.
        case gone
        /// The tables list the end on this side, but not the other one.
        case missing
        /// The system does not list connections, or not all of them.
        case unlisted
    }

    /// The most of a table that is read, in bytes.
    private static let limit = 16 << 20
    /// The kernel's tables. A connection of an IPv6 socket to an IPv4 address is in the second one alone.
    private static let files = ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
    /// How often the tables are read: one reading is not atomic, and may lack a connection while others come and go.
    private static let looks = 3

    /// The user who has the other end of a connection.
    package static func owner(of peer: End, connectedTo local: End) -> Owner {
        #if os(Linux)
        owner(of: peer, connectedTo: local, listedIn: files)
        #else
        .unlisted
        #endif
    }

    /// The same, by the tables in some files. One that is there and cannot be read, as without a free descriptor, leaves the owner
    /// missing: who connects can use up the descriptors.
    static func owner(of peer: End, connectedTo local: End, listedIn files: [String]) -> Owner {
        for _ in 0..<looks {
            let owner = (try? Self.owner(of: peer, connectedTo: local, in: files.map(contents))) ?? .missing
            guard owner == .missing else { return owner }
        }
        return absence(under: (try? contents(of: "/proc/sys/kernel/osrelease")) ?? [])
    }

    /// What it means that the tables do not have a connection.
    ///
    /// With WSL's mirrored network, programs of Windows connect to 127.0.0.1 too, and Linux lists none of theirs: the browser is one.
    ///
    /// - Parameter release: the kernel's, as in `5.15.133.1-microsoft-standard-WSL2`.
    static func absence(under release: [UInt8]) -> Owner {
        String(decoding: release, as: UTF8.self).lowercased().contains("microsoft") ? .unlisted : .missing
    }

    /// A table; empty where the system has none, or shows none.
    private static func contents(of file: String) throws(SystemFailure) -> [UInt8] {
        do {
            return try Descriptor(path: file, O_RDONLY).readAll(capacity: limit)
        } catch {
            guard [ENOENT, EACCES, EPERM].contains(error.code) else { throw error }
            return []
        }
    }

    /// Looks for a connection in tables with lines of `sl local remote state queues timers retransmits uid timeout inode …`.
    ///
    /// Whole ends are compared: another user can choose the same port at another address.
    static func owner(of peer: End, connectedTo local: End, in tables: [[UInt8]]) -> Owner {
        let (peer, local) = (texts(of: peer), texts(of: local))
        var owner = Owner.unlisted
        for line in tables.flatMap({ $0.split(separator: UInt8(ascii: "\n")) }) {
            let fields = line.prefix(256).split(separator: UInt8(ascii: " ")).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard fields.count > 9 else { continue }
            if peer.contains(fields[1]), local.contains(fields[2]) {
                return fields[9] == "0" ? .gone : UInt32(fields[7]).map { .user($0) } ?? .missing
            }
            if local.contains(fields[1]) { owner = .missing }
        }
        return owner
    }

    /// An end as the kernel writes it: an IPv4 address also as one of IPv6 (RFC 4291, section 2.5.5.2).
    private static func texts(of end: End) -> [String] {
        var forms = [end.address]
        if end.address.count == 4 { forms.append([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + end.address) }
        return forms.map { address in
            let words = stride(from: 0, to: address.count, by: 4).map { start in
                // Four bytes as this machine reads them.
                let number = address[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                return hexadecimal(number.bigEndian, digits: 8)
            }
            return words.joined() + ":" + hexadecimal(UInt32(end.port), digits: 4)
        }
    }

    private static func hexadecimal(_ number: UInt32, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

extension LoopbackPeer {
    /// The users whose programs count as the user's own: root's may be relays, and `sudo` starts this program for another user.
    package static var users: [UInt32] { users(startedBy: sudoer) }

    /// The user for whom `sudo` started this program; nil without it.
    private static var sudoer: String? { getenv("SUDO_UID").map { String(cString: $0) } }

    static func users(startedBy sudoer: String?) -> [UInt32] {
        [0, geteuid()] + [sudoer.flatMap { UInt32($0) }].compactMap(\.self)
    }

    /// Whether an accepted connection is another user's, or one that the kernel's tables lack.
    ///
    /// Connections of root, such as a relay's, and of the user who ran `sudo` are not foreign. None is foreign where the system
    /// lists no connections, or where root runs this program without `sudo`: then the browser may be any user's.
    static func isForeign(_ connection: CInt) -> Bool {
        #if os(Linux)
        guard geteuid() != 0 || sudoer != nil else { return false }
        return isForeign(connection, to: users)
        #else
        return false
        #endif
    }

    /// Whether an owner is none of these users.
    package static func isForeign(_ owner: Owner, to users: [UInt32]) -> Bool {
        switch owner {
        case .user(let user): !users.contains(user)
        case .gone, .missing: true
        case .unlisted: false
        }
    }

    #if os(Linux)
    /// Whether a connection is none of these users'.
    ///
    /// One that its program has reset has no peer any more, and its request can still be read: it is.
    static func isForeign(_ connection: CInt, to users: [UInt32]) -> Bool {
        guard let local = end(of: connection, getsockname), let peer = end(of: connection, getpeername) else {
            return true
        }
        return isForeign(owner(of: peer, connectedTo: local), to: users)
    }

    typealias Naming = (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> CInt

    /// An end of a connection, as `getsockname` or `getpeername` says it.
    static func end(of connection: CInt, _ name: Naming) -> End? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> End? in
                guard name(connection, address, &length) == 0 else { return nil }
                switch CInt(address.pointee.sa_family) {
                case AF_INET:
                    return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { four in
                        End(
                            address: withUnsafeBytes(of: four.pointee.sin_addr) { Array($0) },
                            port: UInt16(bigEndian: four.pointee.sin_port))
                    }
                case AF_INET6:
                    return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { six in
                        End(
                            address: withUnsafeBytes(of: six.pointee.sin6_addr) { Array($0) },
                            port: UInt16(bigEndian: six.pointee.sin6_port))
                    }
                default: return nil
                }
            }
        }
    }
    #endif
}
