import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An IPv4 network that this machine is in.
struct PairingNetwork: Sendable, Hashable {
    /// The name of the interface, as in eth0.
    let interface: String
    /// This machine's address in it: four bytes.
    let address: [UInt8]
    /// Whether the interface leads to one other machine only, as a tunnel's or a phone's to its provider.
    var isPointToPoint = false

    /// Interfaces to this machine's own containers and virtual machines, and to the mobile network: no other device can connect
    /// there. The network of a phone that is a hotspot, bridge100, is none of them: the other device is in it.
    private static let closed = [
        "docker", "podman", "cni", "veth", "vnet", "vmnet", "vboxnet", "br-", "virbr", "lxcbr", "lxdbr", "pdp_ip",
        "rmnet", "wwan",
    ]

    /// Interfaces of tunnels, in which the other device is only if it uses the same one.
    private static let tunnels = ["tun", "tap", "utun", "wg", "tailscale", "zt", "ppp"]

    private func isOne(of names: [String]) -> Bool { names.contains { interface.hasPrefix($0) } }

    /// Whether the machine has chosen the address itself, because the network gives out none.
    private var isSelfChosen: Bool { address.starts(with: [169, 254]) }

    /// The address at which a device beside this one reaches it.
    ///
    /// - Parameters:
    ///   - networks: this machine's networks, in the system's order.
    ///   - preferred: the address from which this machine reaches the internet; nil where it does not.
    /// - Returns: four bytes; nil without a network in which another device can be.
    static func address(in networks: [PairingNetwork], preferring preferred: [UInt8]?) -> [UInt8]? {
        let open = networks.filter { !$0.isOne(of: closed) }
        let plain = open.filter { !$0.isPointToPoint }
        let shared = plain.filter { !$0.isOne(of: tunnels) }
        let candidates = [shared, plain, open].first { !$0.isEmpty } ?? []
        let best = candidates.first { $0.address == preferred } ?? candidates.first { !$0.isSelfChosen }
        return (best ?? candidates.first)?.address
    }

    /// The address of this machine, as it is now.
    static func currentAddress() -> [UInt8]? { address(in: all(), preferring: sourceAddress()) }

    /// The networks of all interfaces that are up, except the machine's own.
    private static func all() -> [PairingNetwork] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var networks: [PairingNetwork] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let flags = entry.ifa_flags
            guard let address = entry.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
                flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0
            else { continue }
            let bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
            }
            networks.append(
                PairingNetwork(
                    interface: String(cString: entry.ifa_name), address: bytes,
                    isPointToPoint: flags & UInt32(IFF_POINTOPOINT) != 0))
        }
        return networks
    }

    /// The address from which packets to the internet are sent. None is sent: the system looks into its routes alone.
    private static func sourceAddress() -> [UInt8]? {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_DGRAM, 0)
        #else
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // An address for documentation (RFC 5737), which is no machine's.
        guard withSocketAddress([203, 0, 113, 1], 9, { connect(descriptor, $0, $1) }) == 0 else { return nil }
        var source = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutablePointer(to: &source) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        return isNamed ? withUnsafeBytes(of: source.sin_addr) { Array($0) } : nil
    }
}
