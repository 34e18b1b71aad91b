/// What a press looks like, from the finger's touch to the end of a flash (MO23).
///
/// A value, so that it can be tested without a screen: a view animates each ``Change``.
struct Press: Sendable, Hashable {
    /// A change of the pressed part's opacity.
    struct Change: Sendable, Hashable {
        let opacity: Double
        /// How long it waits, in seconds.
        var delay = 0.0
        /// How long it takes, in seconds.
        let duration: Double
        let curve: Timeline.Curve
    }

    /// When the finger touched, in seconds; nil before the first press and after a tap.
    private var since: Double?
    /// When a flash has ended, in seconds.
    private var flashEnd: Double?

    private static var motion: ConnectButtonMotion { .standard }

    /// The finger has touched, or has left. What is pressed dims after a moment, so that scrolling wins.
    ///
    /// - Returns: nil while a flash runs, which ends by itself.
    mutating func change(isPressed: Bool, at time: Double) -> Change? {
        let motion = Self.motion
        guard isPressed else {
            if let flashEnd, time < flashEnd { return nil }
            return Change(opacity: 1, duration: motion.highlight, curve: .easeInOut)
        }
        since = time
        flashEnd = nil
        return Change(
            opacity: motion.pressOpacity, delay: motion.pressDelay, duration: motion.highlight, curve: .easeInOut)
    }

    /// The finger has left as a tap. One that was too quick to dim anything flashes.
    ///
    /// - Returns: the changes, one after the other; none for a longer press.
    mutating func tap(at time: Double) -> [Change] {
        let motion = Self.motion
        defer { since = nil }
        guard let since, time - since < motion.pressDelay else { return [] }
        flashEnd = time + 2 * motion.press
        return [
            Change(opacity: motion.pressOpacity, duration: motion.press, curve: .easeInOut),
            Change(opacity: 1, duration: motion.press, curve: .easeOut),
        ]
    }
}
