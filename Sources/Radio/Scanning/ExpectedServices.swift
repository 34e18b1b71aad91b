public import Beacons

/// The service UUIDs that a scan in the background looks for, and until when.
///
/// Core Bluetooth needs such a list while the app is in the background (circles dossier 2).
public struct ExpectedServices: Sendable, Hashable {
    /// The maximum number of them: 100.
    public static let maximumCount = 100

    /// The service UUIDs, the most wanted first.
    public let uuids: [RollingUUID]
    /// When another list is due.
    public let end: Timestamp

    /// Creates a list of the first ``maximumCount`` service UUIDs.
    public init(_ uuids: some Sequence<RollingUUID>, until end: Timestamp) {
        var seen: Set<RollingUUID> = []
        self.uuids = Array(uuids.lazy.filter { seen.insert($0).inserted }.prefix(Self.maximumCount))
        self.end = end
    }
}

/// Which list a scan in the background looks for now, and when it needs another one.
///
/// A pure value: Core Bluetooth, timers and the app's sleep are its caller's.
struct ExpectedScan: Sendable {
    private var current: ExpectedServices?
    /// Whether the system scans for the current list.
    private var isScanning = false

    /// The shortest pause before another list: a list that is over already must not keep the processor busy.
    static let shortestPause = Duration.seconds(10)

    /// Bluetooth has started or stopped, or the system has restored a scan: it looks for what an earlier list has.
    mutating func interrupt() { isScanning = false }

    /// Whether another list is due at a time.
    func isDue(at now: Timestamp) -> Bool { current.map { now >= $0.end } ?? true }

    /// How long the current list is right.
    func pause(at now: Timestamp) -> Duration {
        max(Self.shortestPause, current.map { now.duration(to: $0.end) } ?? .zero)
    }

    /// Takes a list.
    ///
    /// - Returns: what the system is to look for from now on; nil when it does already. Where it is empty the scan is to stop: no
    ///   one is expected, and an empty list could mean everything.
    mutating func take(_ services: ExpectedServices) -> [RollingUUID]? {
        defer { (current, isScanning) = (services, true) }
        return isScanning && services.uuids == current?.uuids ? nil : services.uuids
    }
}
