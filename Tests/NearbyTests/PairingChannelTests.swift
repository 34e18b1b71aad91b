import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import Nearby

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("The channel of two devices that pair", .heavy)
struct PairingChannelTests {
    @Test("a message whose bytes come one by one ends in time, and one that comes whole is received")
    func drip() async throws {
        let listener = try PairingListener(isLocal: true)
        let peer = try Peer(port: listener.port)
        let channel = try await listener.accept(within: 600)
        try peer.send([0, 3, 1, 2, 3])
        #expect(try await channel.receive(within: 600, messageTime: .seconds(600)) == [1, 2, 3])
        // 2,048 bytes, the last of which never comes. Each look at the clock takes a second.
        try peer.send([8, 0, 0])
        let start = ContinuousClock.now
        let looks = Mutex(0)
        let dripping = Task {
            for _ in 0..<2_046 {
                try peer.send([0])
                await Task.yield()
            }
        }
        defer { dripping.cancel() }
        await #expect(throws: PairingProblem.timedOut) {
            try await channel.receive(within: 600, messageTime: .seconds(5)) {
                let count = looks.withLock { looks in
                    looks += 1
                    return looks
                }
                return start + .seconds(count)
            }
        }
        // The deadline, five seconds, and one look more where a byte comes at the end: no byte moves the deadline.
        let count = looks.withLock(\.self)
        #expect((6...7).contains(count))
    }

    @Test("CI37: without a network no code is shown, which would lead the other device to itself: the cure is told")
    func noNetwork() {
        let problem = #expect(throws: PairingProblem.self) { try PairingListener(at: nil) }
        #expect(problem == .noNetwork)
        #expect(problem?.description.contains("is in no network, so it cannot show a code") == true)
        #expect(problem?.description.contains("exchange the messages as text") == true)
    }

    @Test(
        "CI37: of several networks the code names the one that a device in the same room is in",
        arguments: [
            ([], nil, nil),
            (["docker0", "eth0"], nil, "eth0"), (["docker0", "wlan0", "eth0"], "eth0", "eth0"),
            (["br-1a2b3c", "veth12", "virbr0", "wlp3s0", "tun0"], "tun0", "wlp3s0"),
            (["pdp_ip0", "en0"], "pdp_ip0", "en0"), (["point0", "en0"], nil, "en0"),
            (["wwan0", "wlan0"], "wwan0", "wlan0"),
            // A phone that is the hotspot is in its network, and a computer with virtual machines in that of the room.
            (["pdp_ip0", "bridge100"], "pdp_ip0", "bridge100"), (["en0", "bridge100"], "en0", "en0"),
            // A bridge that an administrator has made is a network like any other.
            (["br0", "docker0"], nil, "br0"),
            // A tunnel that there is alone is used: both devices may be in it.
            (["tap0", "docker0"], nil, "tap0"), (["tap0", "docker0"], "docker0", "tap0"),
            (["point0", "tap0"], "point0", "tap0"), (["point0"], nil, "point0"),
            // In the network of this machine's containers, and of its mobile provider, no other device can connect.
            (["docker0"], "docker0", nil), (["pdp_ip0", "virbr0"], "pdp_ip0", nil),
            (["self0", "eth1"], nil, "eth1"), (["self0"], nil, "self0"),
        ] as [([String], String?, String?)])
    func networks(_ names: [String], _ preferred: String?, _ chosen: String?) {
        let networks = names.enumerated().map { index, name in
            let start: [UInt8] = name == "self0" ? [169, 254] : [10, 0]
            return PairingNetwork(
                interface: name, address: start + [0, UInt8(index)], isPointToPoint: name == "point0")
        }
        func address(_ name: String?) -> [UInt8]? { networks.first { $0.interface == name }?.address }
        #expect(PairingNetwork.address(in: networks, preferring: address(preferred)) == address(chosen))
    }
}

/// A device that sends what a test chooses.
private final class Peer: Sendable {
    private let descriptor: CInt

    init(port: UInt16) throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        #if canImport(Darwin)
        let flags: CInt = 0
        #else
        let flags = CInt(MSG_NOSIGNAL)
        #endif
        let count = bytes.withUnsafeBytes { buffer in
            #if canImport(Glibc)
            Glibc.send(descriptor, buffer.baseAddress, buffer.count, flags)
            #elseif canImport(Musl)
            Musl.send(descriptor, buffer.baseAddress, buffer.count, flags)
            #else
            Darwin.send(descriptor, buffer.baseAddress, buffer.count, flags)
            #endif
        }
        guard count == bytes.count else { throw POSIXError(.EPIPE) }
    }
}
