#if Server
import NIOCore

/// Where a request comes from, as the places of attempts to join are shared (circles dossier 4).
///
/// The narrowest network is that of a machine or a household: an IPv4 address, or a /64 of IPv6. Each is part of wider ones, which
/// are those of a customer, of a site, and of a provider.
struct CallerNetwork: Sendable, Hashable {
    private enum Version: UInt8 { case unknown, four, six }

    /// From the widest network to the narrowest.
    static let levels = 0..<4
    /// How many bits the networks of IPv4 have: an address is a customer.
    private static let lengths4 = [16, 24, 32, 32]
    /// How many bits those of IPv6 have. Customers get a /56, some a /48, and providers a /32.
    private static let lengths6 = [32, 48, 56, 64]

    private let version: Version
    /// The first half of an IPv6 address. The 32 bits of IPv4 stand on the left.
    private let bits: UInt64

    /// The one of all whose address is unknown.
    static let unknown = CallerNetwork(version: .unknown, bits: 0)

    private init(version: Version, bits: UInt64) {
        (self.version, self.bits) = (version, bits)
    }

    /// Reads the narrowest network of an address. Nil for what is no address.
    ///
    /// Some proxies add a port, and write an IPv6 address in brackets.
    init?(address: String) {
        // No longer than any address is.
        var text = String(decoding: address.utf8.prefix(64), as: UTF8.self)
        if text.hasPrefix("[") {
            text = String(text.dropFirst().prefix { $0 != "]" })
        } else if let colon = text.firstIndex(of: ":"), text[colon...].dropFirst().allSatisfy(\.isNumber),
            text.contains(".")
        {
            text = String(text[..<colon])
        }
        // Without the zone.
        text = String(text.prefix { $0 != "%" })
        guard var plain = (try? SocketAddress(ipAddress: text, port: 0))?.ipAddress else { return nil }
        // An IPv4 address that a socket of both kinds maps (RFC 4291, section 2.5.5.2).
        if plain.hasPrefix("::ffff:"), plain.contains(".") { plain = String(plain.dropFirst("::ffff:".count)) }
        if plain.contains(":") {
            let groups = Self.groups(of: plain).prefix(4)
            self.init(version: .six, bits: groups.reduce(0) { $0 << 16 | (UInt64($1, radix: 16) ?? 0) })
        } else {
            let octets = plain.split(separator: ".").prefix(4)
            self.init(version: .four, bits: octets.reduce(0) { $0 << 8 | (UInt64($1) ?? 0) } << 32)
        }
    }

    /// The network that this one is part of; at the last level it is this one.
    func network(at level: Int) -> CallerNetwork {
        let length = (version == .six ? Self.lengths6 : Self.lengths4)[level]
        return CallerNetwork(version: version, bits: bits & (.max << UInt64(64 - length)))
    }

    /// A name that no other network has.
    var name: String { "\(version.rawValue) \(bits)" }

    /// The eight groups of an IPv6 address.
    private static func groups(of address: String) -> [Substring] {
        let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.split(separator: ":") }
        let zeros = Array(repeating: Substring("0"), count: max(0, 8 - halves.reduce(0) { $0 + $1.count }))
        return (halves.first ?? []) + zeros + halves.dropFirst().joined()
    }
}
#endif
