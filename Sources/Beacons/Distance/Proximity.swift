/// The range of a beacon's distance, with Core Location's raw values (dossier 5.3).
public enum Proximity: Int, Sendable, Hashable, Codable, CaseIterable {
    case unknown = 0
    /// Up to half a metre.
    case immediate = 1
    /// Less than three metres.
    case near = 2
    case far = 3

    /// Where immediate ends, in metres.
    static let immediateBorder = 0.5
    /// Where near ends, in metres.
    static let nearBorder = 3.0

    /// The range of a distance in metres. Unknown without a distance, for negative values and for NaN.
    public init(metres: Double?) {
        guard let metres, metres >= 0 else {
            self = .unknown
            return
        }
        self = metres <= Self.immediateBorder ? .immediate : metres < Self.nearBorder ? .near : .far
    }
}
