public import Beacons

extension Recognition {
    /// The service UUIDs that the owners of these keys send about now.
    ///
    /// They are in the order of the keys.
    /// A phone scans in the background for a list of service UUIDs only (circles dossier 2): give it to `expecting` of `AppleRadio`,
    /// which takes the first hundred. Friends come first, then the people who were met lately. An identifier changes up to five
    /// minutes after its quarter of an hour has begun, so for seven minutes the one before it is expected too.
    ///
    /// - Parameters:
    ///   - keys: the day keys, also of other days.
    ///   - time: the present.
    public static func expected(of keys: [DayKey], at time: Timestamp) -> [RollingUUID] {
        guard let window = try? RollingWindow(at: time) else { return [] }
        var windows = [window]
        if window.number > 0, window.start.duration(to: time) < overlap {
            windows.append(RollingWindow(number: window.number - 1))
        }
        return keys.flatMap { key in windows.compactMap { key.token(in: $0).map { RollingUUID($0) } } }
    }

    /// The longest delay of a change, and how much clocks may differ.
    private static let overlap = Duration.seconds(300 + 120)
}
