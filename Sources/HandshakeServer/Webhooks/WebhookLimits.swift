#if Server
/// When webhooks are taken, and how long they may take.
public struct WebhookLimits: Sendable, Hashable {
    /// How long after it was sent a webhook is taken: a day unless stated, so that what IFTTT delivers again after an outage is not
    /// lost. Each is remembered for as long, which makes it count once; 20,000 each quarter of an hour fill half of the room. From a
    /// minute to a week.
    public var late = Duration.seconds(86_400)
    /// How far in the future a webhook's time may be, by clocks that differ: five minutes unless stated. From zero to a day.
    public var early = Duration.seconds(300)
    /// How long the content may take to arrive: ten seconds unless stated. From a millisecond to an hour.
    public var patience = Duration.seconds(10)
    /// How long the app's handler may be at work: a minute unless stated. Then it is cancelled, and the webhook may come again. From a
    /// millisecond to an hour.
    public var handling = Duration.seconds(60)

    /// The limits that hold unless others are stated.
    public init() {}

    func check() throws(HandshakeServerError) {
        let times = Duration.milliseconds(1) ... .seconds(3600)
        let (lates, earlies) = (Duration.seconds(60) ... .seconds(7 * 86_400), Duration.zero ... .seconds(86_400))
        for (member, value, range) in [
            ("late", late, lates), ("early", early, earlies), ("patience", patience, times),
            ("handling", handling, times),
        ] where !range.contains(value) {
            throw .configuration(member: member, problem: "it is from \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
#endif
