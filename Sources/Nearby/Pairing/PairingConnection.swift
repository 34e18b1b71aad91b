public import Circles
import Synchronization

/// A pairing's messages over the local network.
///
/// The device that shows the code listens for as long as this is held, and the other one connects. A class, because it has the
/// connection.
public final class PairingConnection: PairingTransport {
    private struct State {
        var channel: PairingChannel?
        /// Whether the other device has sent a message.
        var isHeard = false
    }

    /// How long the first message of a device that has connected is waited for, in seconds: it is sent immediately.
    static let firstTimeout = 10

    private let listener: PairingListener?
    private let state: Mutex<State>

    /// Starts to listen on the device that shows the code.
    ///
    /// - Parameter isLocal: whether only this machine may connect, to pair two of its users.
    /// - Throws: ``PairingProblem/noNetwork``; ``PairingProblem/unreachable(_:)``.
    public init(isLocal: Bool = false) throws {
        listener = try PairingListener(isLocal: isLocal)
        state = Mutex(State())
    }

    private init(_ channel: PairingChannel) {
        listener = nil
        state = Mutex(State(channel: channel))
    }

    /// Connects to the device that shows a code.
    ///
    /// - Throws: ``PairingProblem/unreachable(_:)``; ``PairingProblem/timedOut``.
    public static func connect(to address: PairingCode.Address) async throws -> PairingConnection {
        switch address {
        case .ipv4(let bytes, let port), .ipv6(let bytes, let port):
            return PairingConnection(try await PairingChannel.connect(to: bytes, port: port))
        }
    }

    /// Where this machine listens; nil on the device that has connected.
    public var address: PairingCode.Address? { listener.map { .ipv4($0.address, port: $0.port) } }

    public func send(_ message: [UInt8]) async throws {
        try await connected(within: Int(PairingSession.timeout)).send(message)
    }

    public func receive(within seconds: Int) async throws -> [UInt8] {
        let channel = try await connected(within: seconds)
        let isFirst = listener != nil && !state.withLock(\.isHeard)
        let message = try await channel.receive(within: isFirst ? min(seconds, Self.firstTimeout) : seconds)
        state.withLock { $0.isHeard = true }
        return message
    }

    public func waitForAnother(within seconds: Int) async throws -> Bool {
        guard listener != nil else { return false }
        // It closes the connection.
        state.withLock { $0 = State() }
        _ = try await connected(within: seconds)
        return true
    }

    /// The device that has connected; where there is none yet it is waited for.
    private func connected(within seconds: Int) async throws -> PairingChannel {
        if let channel = state.withLock(\.channel) { return channel }
        guard let listener else { throw PairingProblem.closed }
        let channel = try await listener.accept(within: seconds)
        state.withLock { $0 = State(channel: channel) }
        return channel
    }
}
