import Foundation
import Handshake
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A connection between two devices that pair.
///
/// It carries messages of at most 2 KiB, each with its length before it. The transport is not trusted: pairing finds out whether another device is in between. A class, because it owns its sockets.
public final class PairingChannel: Sendable {
    /// The longest message.
    static let maximumMessage = 2_048
    /// The longest time from a message's beginning to its end.
    private static let messageTime = Duration.seconds(30)

    private let descriptor: CInt

    fileprivate init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit { closeSocket(descriptor) }

    /// Connects to the device that shows a code.
    ///
    /// - Parameters:
    ///   - address: four or sixteen bytes.
    ///   - port: its port.
    /// - Throws: ``PairingProblem/unreachable(_:)``.
    public static func connect(to address: [UInt8], port: UInt16) async throws -> PairingChannel {
        try await onThread { isCancelled in
            let descriptor = socket(address.count == 4 ? AF_INET : AF_INET6, streamSocket, 0)
            guard descriptor >= 0 else { throw PairingProblem.unreachable(systemReason()) }
            let channel = PairingChannel(owning: descriptor)
            try makeNonBlocking(descriptor)
            let result = withSocketAddress(address, port) { connectSocket(descriptor, $0, $1) }
            guard result == 0 || errno == EINPROGRESS else { throw PairingProblem.unreachable(systemReason()) }
            try wait(for: Int16(POLLOUT), on: descriptor, until: .now + .seconds(10), isCancelled)
            var failure: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &length)
            guard failure == 0 else { throw PairingProblem.unreachable(String(cString: strerror(failure))) }
            return channel
        }
    }

    /// Sends a message.
    public func send(_ message: [UInt8]) async throws {
        guard message.count <= Self.maximumMessage else { throw PairingProblem.malformed }
        let bytes = [UInt8(message.count >> 8), UInt8(truncatingIfNeeded: message.count)] + message
        try await onThread { [self] isCancelled in
            let deadline = ContinuousClock.now + Self.messageTime
            var rest = bytes[...]
            while !rest.isEmpty {
                try wait(for: Int16(POLLOUT), on: descriptor, until: deadline, isCancelled)
                let count = rest.withUnsafeBytes { sendSocket(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EAGAIN || errno == EINTR { continue }
                guard count > 0 else { throw PairingProblem.closed }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// The next message.
    ///
    /// - Parameter seconds: how long it is waited for.
    /// - Throws: ``PairingProblem``.
    public func receive(within seconds: Int) async throws -> [UInt8] {
        try await receive(within: seconds, messageTime: Self.messageTime)
    }

    /// The next message, whose end comes so long after its beginning at most, however its bytes are spread.
    ///
    /// - Parameter now: the clock that `messageTime` is measured on.
    func receive(
        within seconds: Int, messageTime: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) async throws -> [UInt8] {
        try await onThread { [self] isCancelled in
            let head = try read(2, until: .now + .seconds(seconds), isCancelled)
            let length = Int(head[0]) << 8 | Int(head[1])
            guard (1...Self.maximumMessage).contains(length) else { throw PairingProblem.malformed }
            return try read(length, until: now() + messageTime, isCancelled, now)
        }
    }

    private func read(
        _ count: Int, until deadline: ContinuousClock.Instant, _ isCancelled: CancellationState,
        _ now: () -> ContinuousClock.Instant = { .now }
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            try wait(for: Int16(POLLIN), on: descriptor, until: deadline, isCancelled, now)
            var buffer = [UInt8](repeating: 0, count: count - bytes.count)
            let read = buffer.withUnsafeMutableBytes { receiveSocket(descriptor, $0.baseAddress, $0.count) }
            if read < 0, errno == EAGAIN || errno == EINTR { continue }
            guard read > 0 else { throw PairingProblem.closed }
            bytes += buffer.prefix(read)
        }
        return bytes
    }
}

/// Listens for the device that scans a code, for as long as the code is shown.
public final class PairingListener: Sendable {
    private let descriptor: CInt
    /// Where to connect to: the machine's address in its network, and the port.
    public let address: [UInt8]
    public let port: UInt16

    /// Starts to listen where a device beside this one can connect.
    ///
    /// If there are several networks, it chooses one that other devices can be in, and a tunnel only if there is no other.
    ///
    /// - Parameter isLocal: whether only this machine may connect, as tests do.
    /// - Throws: ``PairingProblem/noNetwork`` where a code would lead the other device to itself;
    ///   ``PairingProblem/unreachable(_:)``.
    public convenience init(isLocal: Bool = false) throws {
        try self.init(at: isLocal ? [127, 0, 0, 1] : PairingNetwork.currentAddress())
    }

    /// - Parameter address: this machine's address in a network; nil without one.
    init(at address: [UInt8]?) throws {
        guard let address else { throw PairingProblem.noNetwork }
        let descriptor = socket(AF_INET, streamSocket, 0)
        self.descriptor = descriptor
        self.address = address
        guard descriptor >= 0 else { throw PairingProblem.unreachable(systemReason()) }
        var bound = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withSocketAddress(address, 0) {
            bindSocket(descriptor, $0, $1) == 0 && listen(descriptor, 4) == 0
        }
        let isNamed = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        port = UInt16(bigEndian: bound.sin_port)
        // What is thrown from here on ends in `deinit`, which closes the socket.
        guard isBound, isNamed else { throw PairingProblem.unreachable(systemReason()) }
        try makeNonBlocking(descriptor)
    }

    deinit { closeSocket(descriptor) }

    /// The next device that connects.
    public func accept(within seconds: Int) async throws -> PairingChannel {
        try await onThread { [self] isCancelled in
            let deadline = ContinuousClock.now + .seconds(seconds)
            while true {
                try wait(for: Int16(POLLIN), on: descriptor, until: deadline, isCancelled)
                let connected = acceptSocket(descriptor)
                // A device that was gone before; without descriptors left, trying again would never end.
                if connected < 0, [EAGAIN, EINTR, ECONNABORTED].contains(errno) { continue }
                guard connected >= 0 else { throw PairingProblem.unreachable(systemReason()) }
                let channel = PairingChannel(owning: connected)
                try makeNonBlocking(connected)
                return channel
            }
        }
    }
}

/// Why two devices cannot talk to each other.
public enum PairingProblem: Error, Sendable, Hashable {
    /// The other device cannot be reached.
    case unreachable(String)
    /// This device is in no IPv4 network in which another one can reach it.
    case noNetwork
    /// Nothing came in time.
    case timedOut
    /// The other device has closed the connection.
    case closed
    /// What came is no message.
    case malformed
}

extension PairingProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let reason):
            "The other device cannot be reached (\(reason)). Are both in the same network? Otherwise exchange the messages as text"
        case .noNetwork:
            "This device is in no network, so it cannot show a code. Connect to one, or exchange the messages as text"
        case .timedOut: "The other device did not answer in time. Show a new code"
        case .closed: "The other device has ended the connection. Show a new code"
        case .malformed: "The other device sent something that is no pairing"
        }
    }
}

/// Whether the caller of a blocking function was cancelled.
private final class CancellationState: Sendable {
    private let flag = Mutex(false)

    var isSet: Bool { flag.withLock(\.self) }
    func set() { flag.withLock { $0 = true } }
}

/// Runs a blocking function on a thread of its own; it looks each tenth of a second whether the task was cancelled.
private func onThread<Result: Sendable>(
    _ body: @escaping @Sendable (CancellationState) throws -> Result
) async throws -> Result {
    let state = CancellationState()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body(state) }) }
        }
    } onCancel: {
        state.set()
    }
}

private func wait(
    for events: Int16, on descriptor: CInt, until deadline: ContinuousClock.Instant, _ isCancelled: CancellationState,
    _ now: () -> ContinuousClock.Instant = { .now }
) throws {
    repeat {
        if isCancelled.isSet { throw CancellationError() }
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        // A peer that sends byte by byte is ready each time.
        if poll(&entry, 1, 100) > 0, now() < deadline { return }
    } while now() < deadline
    throw PairingProblem.timedOut
}

private func makeNonBlocking(_ descriptor: CInt) throws {
    let flags = fcntl(descriptor, F_GETFL)
    guard fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
        throw PairingProblem.unreachable(systemReason())
    }
}

private func systemReason() -> String { String(cString: strerror(errno)) }

/// Calls `body` with an IPv4 or IPv6 address as the system reads it.
func withSocketAddress<Result>(
    _ address: [UInt8], _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    if address.count == 4 {
        var inet = sockaddr_in()
        inet.sin_family = sa_family_t(AF_INET)
        inet.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &inet.sin_addr) { $0.copyBytes(from: address) }
        return withUnsafePointer(to: &inet) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
    var inet = sockaddr_in6()
    inet.sin6_family = sa_family_t(AF_INET6)
    inet.sin6_port = port.bigEndian
    withUnsafeMutableBytes(of: &inet.sin6_addr) { $0.copyBytes(from: address.prefix(16)) }
    return withUnsafePointer(to: &inet) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
    }
}

// The system's functions under names that the methods above do not shadow, and their differences.
#if canImport(Darwin)
private let streamSocket = SOCK_STREAM
#else
private let streamSocket = CInt(SOCK_STREAM.rawValue)
#endif
private func closeSocket(_ descriptor: CInt) { close(descriptor) }
private func connectSocket(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
    connect(descriptor, address, length)
}
private func bindSocket(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
    bind(descriptor, address, length)
}
private func acceptSocket(_ descriptor: CInt) -> CInt { accept(descriptor, nil, nil) }
private func sendSocket(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes, count, 0)
    #else
    send(descriptor, bytes, count, CInt(MSG_NOSIGNAL))
    #endif
}
private func receiveSocket(_ descriptor: CInt, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    recv(descriptor, bytes, count, 0)
}
