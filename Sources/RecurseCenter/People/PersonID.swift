/// The identifier of a person at the Recurse Center (dossier 4.5). It is a positive number, which may exceed 65535.
public struct PersonID: Sendable, Hashable {
    public let number: Int64

    /// - Returns: nil for numbers below 1.
    public init?(_ number: Int64) {
        guard number > 0 else { return nil }
        self.number = number
    }
}

extension PersonID: CustomStringConvertible, Comparable {
    public var description: String { String(number) }

    public static func < (one: PersonID, other: PersonID) -> Bool { one.number < other.number }
}
