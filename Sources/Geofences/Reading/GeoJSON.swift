/// Reads regions from GeoJSON (RFC 7946): a FeatureCollection or a Feature.
///
/// A Point with a `radius` in metres is a circle; a Polygon or MultiPolygon is an area. The identifier is the feature's `id`, a
/// string or a number, or the property `id`; the radius is the property `radius`. Unknown members are ignored.
public enum GeoJSON {
    /// The maximum number of regions of a file.
    public static let maximumRegions = 2_000_000
    /// The maximum number of positions of a file, in all its polygons.
    public static let maximumPositions = 10_000_000

    /// Reads the regions in the order of the file, in time linear in its length.
    ///
    /// - Throws: ``GeofencesError``, naming the region at fault.
    public static func regions(in bytes: [UInt8]) throws(GeofencesError) -> [Geofence] {
        try read(bytes).regions
    }

    /// Also returns how many bytes were passed, those that were read again more than once.
    static func read(_ bytes: [UInt8]) throws(GeofencesError) -> (regions: [Geofence], visited: Int) {
        var reader = GeoJSONReader(bytes)
        return (try reader.read(), reader.visited)
    }
}

private struct GeoJSONReader {
    private var scanner: JSONScanner
    private var regions: [Geofence] = []
    private var names: Set<String> = []
    private var positions = 0

    private struct Feature {
        var id: String?
        var propertyID: String?
        var radius: Double?
        /// Where the geometry's coordinates begin, which are read once its type is known.
        var coordinates: Int?
        var geometry: String?
    }

    init(_ bytes: [UInt8]) { scanner = JSONScanner(bytes) }

    var visited: Int { scanner.visited }

    mutating func read() throws(GeofencesError) -> [Geofence] {
        guard [UInt8(ascii: "{"), 0].contains(scanner.peek()) else { throw try notObject() }
        let start = scanner.offset
        var type: String?
        var features: Int?
        try scanner.object { scanner, name throws(GeofencesError) in
            switch name {
            case "type": type = try Self.named(name) { () throws(JSONScanner.Failure) in try scanner.word() }
            case "features":
                _ = scanner.peek()
                features = scanner.offset
                try scanner.skip()
            default: try scanner.skip()
            }
        }
        try mapped { () throws(JSONScanner.Failure) in try scanner.end() }
        switch (type, features) {
        case ("Feature", _): try readFeature(at: start)
        case ("FeatureCollection", let features?):
            scanner.offset = features
            var starts: [Int] = []
            try scanner.array { scanner throws(GeofencesError) in
                _ = scanner.peek()
                starts.append(scanner.offset)
                try scanner.skip()
            }
            guard starts.count <= GeoJSON.maximumRegions else {
                throw .tooMany("regions", limit: GeoJSON.maximumRegions)
            }
            regions.reserveCapacity(starts.count)
            for start in starts { try readFeature(at: start) }
        case ("FeatureCollection", nil): throw .member("features", expected: "an array of features")
        default: throw .member("type", expected: "\"FeatureCollection\" or \"Feature\"")
        }
        return regions
    }

    /// Why a text is no object: text that is not JSON at all says so.
    private mutating func notObject() throws(GeofencesError) -> GeofencesError {
        try scanner.skip()
        try mapped { () throws(JSONScanner.Failure) in try scanner.end() }
        return .value(expected: "an object, a FeatureCollection or a Feature")
    }

    private mutating func readFeature(at start: Int) throws(GeofencesError) {
        var feature = Feature()
        do throws(GeofencesError) {
            scanner.offset = start
            try scanner.object { scanner, name throws(GeofencesError) in
                switch name {
                case "id": feature.id = try Self.identifier(&scanner)
                case "properties": try Self.readProperties(&scanner, into: &feature)
                case "geometry": try Self.readGeometry(&scanner, into: &feature)
                default: try scanner.skip()
                }
            }
            guard let id = feature.id ?? feature.propertyID else { throw GeofencesError.identifier }
            let region = try Geofence(id: id, shape(of: feature))
            guard names.insert(id).inserted else { throw GeofencesError.duplicateIdentifier(id) }
            regions.append(region)
        } catch {
            throw .region(number: regions.count + 1, id: feature.id ?? feature.propertyID, reason: error)
        }
    }

    private static func named<Value>(
        _ name: String, _ step: () throws(JSONScanner.Failure) -> Value
    ) throws(GeofencesError) -> Value {
        do { return try step() } catch .type(let expected) {
            throw .member(name, expected: expected)
        } catch { throw GeofencesError(error) }
    }

    /// A string, or a number in its shortest spelling.
    private static func identifier(_ scanner: inout JSONScanner) throws(GeofencesError) -> String? {
        if scanner.peek() == UInt8(ascii: "n") {
            try scanner.skip()
            return nil
        }
        if scanner.peek() == UInt8(ascii: "\"") {
            return try mapped { () throws(JSONScanner.Failure) in try scanner.string() }
        }
        let number = try named("id") { () throws(JSONScanner.Failure) in try scanner.number() }
        return Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    private static func readProperties(
        _ scanner: inout JSONScanner, into feature: inout Feature
    ) throws(GeofencesError) {
        guard scanner.peek() == UInt8(ascii: "{") else { return try scanner.skip() }
        try scanner.object { scanner, name throws(GeofencesError) in
            switch name {
            case "id" where scanner.peek() != UInt8(ascii: "{") && scanner.peek() != UInt8(ascii: "["):
                feature.propertyID = try identifier(&scanner)
            case "radius":
                feature.radius = try named(name) { () throws(JSONScanner.Failure) in try scanner.number() }
            default: try scanner.skip()
            }
        }
    }

    private static func readGeometry(
        _ scanner: inout JSONScanner, into feature: inout Feature
    ) throws(GeofencesError) {
        guard scanner.peek() == UInt8(ascii: "{") else { return try scanner.skip() }
        try scanner.object { scanner, name throws(GeofencesError) in
            switch name {
            case "type": feature.geometry = try named(name) { () throws(JSONScanner.Failure) in try scanner.word() }
            case "coordinates":
                _ = scanner.peek()
                feature.coordinates = scanner.offset
                try scanner.skip()
            default: try scanner.skip()
            }
        }
    }

    private mutating func shape(of feature: Feature) throws(GeofencesError) -> Geofence.Shape {
        guard let coordinates = feature.coordinates else {
            throw .member("geometry", expected: "a Point, a Polygon or a MultiPolygon with coordinates")
        }
        scanner.offset = coordinates
        switch feature.geometry {
        case "Point":
            guard let radius = feature.radius else {
                throw .member("radius", expected: "the circle's radius in metres, in \"properties\"")
            }
            return .circle(try Circle(center: Self.position(&scanner, &positions), radius: radius))
        case "Polygon": return .polygon(try Polygon(rings: Self.rings(&scanner, &positions)))
        case "MultiPolygon":
            var all: [[Coordinate]] = []
            var count = positions
            try scanner.array { scanner throws(GeofencesError) in all += try Self.rings(&scanner, &count) }
            positions = count
            return .polygon(try Polygon(rings: all))
        default: throw .member("geometry", expected: "a Point, a Polygon or a MultiPolygon")
        }
    }

    private static func rings(
        _ scanner: inout JSONScanner, _ positions: inout Int
    ) throws(GeofencesError) -> [[Coordinate]] {
        var rings: [[Coordinate]] = []
        var count = positions
        try scanner.array { scanner throws(GeofencesError) in
            var ring: [Coordinate] = []
            try scanner.array { scanner throws(GeofencesError) in ring.append(try position(&scanner, &count)) }
            rings.append(ring)
        }
        positions = count
        return rings
    }

    /// Longitude, latitude, and anything behind them.
    private static func position(
        _ scanner: inout JSONScanner, _ positions: inout Int
    ) throws(GeofencesError) -> Coordinate {
        positions += 1
        guard positions <= GeoJSON.maximumPositions else {
            throw .tooMany("positions", limit: GeoJSON.maximumPositions)
        }
        var longitude = Double.nan
        var latitude = Double.nan
        var count = 0
        try scanner.array { scanner throws(GeofencesError) in
            let number = try named("coordinates") { () throws(JSONScanner.Failure) in try scanner.number() }
            if count == 0 { longitude = number }
            if count == 1 { latitude = number }
            count += 1
        }
        guard count > 1 else { throw .member("coordinates", expected: "a longitude and a latitude") }
        return try Coordinate(latitude: latitude, longitude: longitude)
    }
}
