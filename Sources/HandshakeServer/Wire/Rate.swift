#if Server
/// So many at once, and one more after each interval.
public struct Rate: Sendable, Hashable {
    /// How many at once.
    public let burst: Int
    /// How long it takes until there is room for one more.
    public let interval: Duration

    /// - Parameters:
    ///   - burst: how many at once; at least one.
    ///   - interval: how long it takes until there is room for one more; from a millisecond to a day.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)``.
    public init(burst: Int, interval: Duration) throws(HandshakeServerError) {
        guard burst >= 1, (.milliseconds(1) ... .seconds(86_400)).contains(interval) else {
            throw .configuration(member: "rate", problem: "\(burst) at once and one more each \(interval) is none")
        }
        self.init(burst, oneEach: interval)
    }

    /// A rate that stands in the code.
    init(_ burst: Int, oneEach interval: Duration) {
        (self.burst, self.interval) = (burst, interval)
    }
}
#endif
