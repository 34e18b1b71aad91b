/// Turns many arrivals at the same moment into one alert (circles dossier 7). A pure value.
struct CrowdBrake: Sendable {
    /// So many people may arrive within ``period`` before they are a crowd.
    static let maximumArrivals = 8
    static let period = Duration.seconds(60)
    /// How long a crowd is counted before it is told.
    private static let counting = Duration.seconds(5)
    /// How long after one crowd another one is not told.
    private static let pause = Duration.seconds(600)

    private var began: Duration?
    private var told: Duration?
    private var isTold = false

    /// Whether people are not announced one by one.
    var isActive: Bool { began != nil }

    /// Updates the brake.
    ///
    /// - Parameters:
    ///   - arrivals: how many people arrived within ``period``.
    ///   - instant: the time.
    /// - Returns: the alert to show, if there is one.
    mutating func update(arrivals: Int, at instant: Duration) -> CrowdAlert? {
        guard arrivals > Self.maximumArrivals else {
            began = nil
            isTold = false
            return nil
        }
        let start = began ?? instant
        began = start
        guard !isTold, instant - start >= Self.counting else { return nil }
        isTold = true
        if let told, instant - told < Self.pause { return nil }
        told = instant
        return CrowdAlert(count: arrivals)
    }
}
