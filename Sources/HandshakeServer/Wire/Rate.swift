#if Server
/// A burst, then one more event per interval.
public struct Rate: Sendable, Hashable {
    /// How many events are allowed immediately.
    public let burst: Int
    /// The time after which one more event is allowed.
    public let interval: Duration

    /// - Parameters:
    ///   - burst: how many events are allowed immediately; at least one.
    ///   - interval: the time after which one more is allowed; from a millisecond to a day.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)``.
    public init(burst: Int, interval: Duration) throws(HandshakeServerError) {
        guard burst >= 1, (.milliseconds(1) ... .seconds(86_400)).contains(interval) else {
            throw .configuration(
                member: "rate",
                problem:
                    "the burst must be at least 1 and the interval from a millisecond to a day, not \(burst) and \(interval)"
            )
        }
        self.init(burst, oneEach: interval)
    }

    /// A rate that is a constant of the code.
    init(_ burst: Int, oneEach interval: Duration) {
        (self.burst, self.interval) = (burst, interval)
    }
}
#endif
