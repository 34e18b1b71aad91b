/// The number by which a community knows a person, as beacons carry it: from 1 to 2³¹ − 1 (beacons dossier 2.4).
///
/// A number received over the air is a claim, not a proof: anyone can send any number (beacons dossier 8.1).
public struct PersonID: Sendable, Hashable, Comparable, Codable {
    /// From 1 to 2³¹ − 1.
    public let number: UInt32

    /// A person's number, or nil when no beacon can carry it. 0 stands for nobody (dossier RC-20).
    public init?(_ number: some BinaryInteger) {
        guard let number = UInt32(exactly: number), (1..<1 << 31).contains(number) else { return nil }
        self.number = number
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let checked = PersonID(try container.decode(UInt32.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no person has this number")
        }
        self = checked
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    public static func < (left: PersonID, right: PersonID) -> Bool {
        left.number < right.number
    }
}

extension PersonID: CustomStringConvertible {
    public var description: String { String(number) }
}
