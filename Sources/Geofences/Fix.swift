#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A measured position.
public struct Fix: Sendable, Hashable {
    public let coordinate: Coordinate
    /// The radius around `coordinate` that holds the true position, in metres.
    public let accuracy: Double
    /// When it was measured.
    public let time: Date
    /// Speed over ground in metres a second; nil when unknown.
    public let speed: Double?

    /// Checks the values.
    ///
    /// - Throws: ``GeofencesError/accuracy(_:)`` or ``GeofencesError/time``. A speed that is negative or not a number is
    ///   unknown.
    public init(_ coordinate: Coordinate, accuracy: Double, time: Date, speed: Double? = nil) throws(GeofencesError) {
        guard accuracy >= 0, accuracy.isFinite else { throw .accuracy(accuracy) }
        guard (-62_135_596_800...253_402_300_799).contains(time.timeIntervalSince1970) else { throw .time }
        self.coordinate = coordinate
        self.accuracy = accuracy
        self.time = time
        self.speed = speed.flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }
}

extension Fix: Codable {
    private enum CodingKeys: CodingKey { case coordinate, accuracy, time, speed }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            container.decode(Coordinate.self, forKey: .coordinate),
            accuracy: container.decode(Double.self, forKey: .accuracy),
            time: container.decode(Date.self, forKey: .time),
            speed: container.decodeIfPresent(Double.self, forKey: .speed))
    }
}
