/// A UTC day, counted from 1970: the validity of a day key (dossier 8.4).
public struct RollingDay: Sendable, Hashable, Comparable, Codable {
    public let number: UInt32

    public init(number: UInt32) {
        self.number = number
    }

    public static func < (left: RollingDay, right: RollingDay) -> Bool { left.number < right.number }
}
