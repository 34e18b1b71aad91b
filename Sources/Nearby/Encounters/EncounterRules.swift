/// When an encounter ends, and how often a person is announced. It also says how long encounters are stored. All in
/// seconds.
public struct EncounterRules: Sendable, Hashable {
    /// A person is announced again after *more* than this time. Source: `recurse-center.md` RC-18. Default: 3,600.
    public var announcementInterval: Double
    /// An encounter ends when the person was not heard for longer than this. Radios in pockets are often silent for a
    /// minute. Default: 300.
    public var absence: Double
    /// Encounters that ended longer ago are deleted; nil stores them without limit. Default: 30 days.
    public var retention: Double?
    /// How often running encounters are written. A crash loses at most this much of one. Default: 15.
    public var saveInterval: Double

    /// Creates rules. Negative values count as zero.
    ///
    /// - Parameters:
    ///   - announcementInterval: seconds between two announcements of a person.
    ///   - absence: seconds of silence that end an encounter.
    ///   - retention: seconds for which a past encounter is stored; nil for no limit.
    ///   - saveInterval: seconds between two writes of a running encounter.
    public init(
        announcementInterval: Double = 3600, absence: Double = 300, retention: Double? = 30 * 86400,
        saveInterval: Double = 15
    ) {
        self.announcementInterval = max(0, announcementInterval)
        self.absence = max(0, absence)
        self.retention = retention.map { max(0, $0) }
        self.saveInterval = max(0, saveInterval)
    }
}
