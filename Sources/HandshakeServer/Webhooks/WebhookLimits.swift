#if Server
/// The time limits of webhooks.
public struct WebhookLimits: Sendable, Hashable {
    /// The longest age of a webhook that is accepted. IFTTT delivers again after an outage. Each identifier is
    /// remembered for as long, so that a duplicate is dropped. From a minute to a week. Default: a day.
    public var maximumAge = Duration.seconds(86_400)
    /// How far in the future a webhook's time may be, because clocks differ. From zero to a day. Default: five minutes.
    public var clockSkew = Duration.seconds(300)
    /// The timeout for receiving the content. From a millisecond to an hour. Default: ten seconds.
    public var requestTimeout = Duration.seconds(10)
    /// The handler's timeout. After it, the handler is cancelled, and IFTTT may deliver the webhook again. From a millisecond to
    /// an hour. Default: a minute.
    public var handlerTimeout = Duration.seconds(60)

    /// Creates the default limits.
    public init() {}

    func check() throws(HandshakeServerError) {
        let times = Duration.milliseconds(1) ... .seconds(3600)
        let (ages, skews) = (Duration.seconds(60) ... .seconds(7 * 86_400), Duration.zero ... .seconds(86_400))
        for (member, value, range) in [
            ("maximumAge", maximumAge, ages), ("clockSkew", clockSkew, skews),
            ("requestTimeout", requestTimeout, times),
            ("handlerTimeout", handlerTimeout, times),
        ] where !range.contains(value) {
            throw .configuration(member: member, problem: "it must be from \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
#endif
