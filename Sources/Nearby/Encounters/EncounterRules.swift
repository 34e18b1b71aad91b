/// When an encounter ends, how often a person is announced, and how long encounters are kept. All in seconds.
public struct EncounterRules: Sendable, Hashable {
    /// A person is announced again when *more* than this has passed since the last time (`recurse-center.md` RC-18). Default: 3,600.
    public var announcementInterval: Double
    /// An encounter is over when the person was not heard for longer than this. Radios in pockets are often silent for a
    /// minute. Default: 300.
    public var absence: Double
    /// Encounters that ended longer ago than this are removed; nil keeps them. Default: 30 days.
    public var retention: Double?
    /// How often what goes on is written down: this much of an encounter is lost in a crash at most. Default: 15.
    public var saveInterval: Double

    /// Sets the rules. Values below zero count as zero.
    ///
    /// - Parameters:
    ///   - announcementInterval: seconds between two announcements of a person.
    ///   - absence: seconds of silence that end an encounter.
    ///   - retention: seconds for which a past encounter is kept; nil for ever.
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
