/// A day of Universal Time, counted from 1970: what a day key is for (dossier 8.4).
public struct RollingDay: Sendable, Hashable, Comparable, Codable {
    public let number: UInt32

    public init(number: UInt32) {
        self.number = number
    }

    public static func < (left: RollingDay, right: RollingDay) -> Bool { left.number < right.number }
}
