public import OAuth

/// One request in, one response out: the only way in which this package reaches the network.
///
/// A transport never follows a redirect, never changes a request, never sends it twice, and reads at most
/// ``TransferLimits/maximumContentLength`` bytes within ``TransferLimits/deadline``.
public protocol Transport: Sendable {
    /// Sends a request and reads the whole response, whatever its status.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` at once when the calling task is cancelled.
    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage
}

/// What one exchange may cost at most.
public struct TransferLimits: Sendable, Hashable {
    /// The longest content that is read, in bytes; 1 MiB unless stated.
    public var maximumContentLength: Int
    /// The time from the first byte sent to the last byte read; 20 seconds unless stated.
    public var deadline: Duration

    public init(maximumContentLength: Int = 1 << 20, deadline: Duration = .seconds(20)) {
        self.maximumContentLength = maximumContentLength
        self.deadline = deadline
    }
}
