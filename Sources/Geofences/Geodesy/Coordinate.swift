/// A position on the WGS 84 ellipsoid, in degrees.
public struct Coordinate: Sendable, Hashable {
    /// Degrees north of the equator, -90 to 90.
    public let latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public let longitude: Double

    /// Checks the ranges.
    ///
    /// - Throws: ``GeofencesError/coordinate(latitude:longitude:)`` for a number out of range or not a number.
    public init(latitude: Double, longitude: Double) throws(GeofencesError) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else {
            throw .coordinate(latitude: latitude, longitude: longitude)
        }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// The position with longitude reduced to its range; for computed positions.
    init(reducing longitude: Double, latitude: Double) {
        self.latitude = min(max(latitude, -90), 90)
        let turned = longitude.remainder(dividingBy: 360)
        self.longitude = turned.isNaN ? 0 : turned
    }
}

extension Coordinate: Codable {
    private enum CodingKeys: CodingKey { case latitude, longitude }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            latitude: container.decode(Double.self, forKey: .latitude),
            longitude: container.decode(Double.self, forKey: .longitude))
    }
}
