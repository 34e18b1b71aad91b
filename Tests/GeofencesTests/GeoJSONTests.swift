import TestFixtures
import Testing

@testable import Geofences

@Suite("Regions from GeoJSON")
struct GeoJSONTests {
    private static func read(_ text: String) throws -> [Geofence] { try GeoJSON.regions(in: Array(text.utf8)) }

    private static func collection(_ features: String...) -> String {
        #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
    }

    private static func point(id: String = #""a""#, radius: String = "100", coordinates: String = "[-73.9,40.7]")
        -> String
    {
        #"{"type":"Feature","id":\#(id),"properties":{"radius":\#(radius)},"geometry":{"type":"Point","coordinates":\#(coordinates)}}"#
    }

    /// Combining marks of two classes in turn: comparing them sorts them.
    private static let marks = String(repeating: "\u{301}\u{323}", count: 65_536)

    @Test(
        "names and types of 256 KiB of combining marks are read in linear time",
        arguments: [
            #"{"@":1}"#, #"{"type":"@"}"#,
            #"{"type":"Feature","@":1,"id":"a","properties":{"@":1},"geometry":{"@":1}}"#,
            #"{"type":"Feature","id":"a","geometry":{"type":"@","coordinates":[1,2]}}"#,
        ])
    func marks(pattern: String) {
        let text = pattern.replacing("@", with: Self.marks)
        // Quadratic time takes ten times as long in a debug build.
        #expect(processorTime { _ = try? Self.read(text) } < .seconds(4))
    }

    @Test("points with a radius are circles, polygons are areas, in the order of the file")
    func shapes() throws {
        let regions = try Self.read(
            Self.collection(
                Self.point(),
                #"{"geometry":{"coordinates":[[[0,0],[1,0],[1,1],[0,0]],[[0.5,0.1],[0.6,0.1],[0.6,0.2]]],"type":"Polygon"},"properties":{"id":7},"type":"Feature","x":[{"y":null}]}"#,
                #"{"type":"Feature","id":"m\u00e9\ud83d\ude00","properties":null,"geometry":{"type":"MultiPolygon","coordinates":[[[[0,0,9],[1,0],[1,1]]],[[[5,5],[6,5],[6,6]]]]}}"#
            ))
        #expect(regions.map(\.id) == ["a", "7", "mé😀"])
        let center = try Coordinate(latitude: 40.7, longitude: -73.9)
        #expect(regions[0].shape == .circle(try Circle(center: center, radius: 100)))
        let rings: [[Int]] = regions.map {
            if case .polygon(let polygon) = $0.shape { polygon.rings.map(\.count) } else { [] }
        }
        #expect(rings == [[], [3, 3], [3, 3]])
    }

    @Test("a single feature and an empty collection are read")
    func single() throws {
        #expect(try Self.read("\u{FEFF} " + Self.point()).map(\.id) == ["a"])
        #expect(try Self.read(Self.collection()).isEmpty)
    }

    @Test(
        "what is wrong is told with the region at fault",
        arguments: [
            (point(coordinates: "[40.7,-173.9]"), "swapped"), (point(coordinates: "[1e400,0]"), "finite"),
            (point(coordinates: "[1]"), "longitude and a latitude"), (point(coordinates: "[]"), "longitude"),
            (point(coordinates: #"["1","2"]"#), "number"), (point(radius: "0"), "radius of 0"),
            (point(radius: #""100""#), "radius"), (point(radius: "null"), "radius"), (point(radius: "-5"), "radius"),
            (point(id: #""""#), "identifier"), (point(id: "null"), "identifier"), (point(id: "{}"), "id"),
            (#"{"type":"Feature","id":"a","geometry":{"type":"Point","coordinates":[0,0]}}"#, "radius"),
            (#"{"type":"Feature","id":"a","geometry":{"type":"LineString","coordinates":[[0,0],[1,1]]}}"#, "Polygon"),
            (#"{"type":"Feature","id":"a","geometry":{"type":"Polygon","coordinates":[]}}"#, "ring"),
            (#"{"type":"Feature","id":"a","geometry":null}"#, "geometry"), ("7", "object"),
        ])
    func faults(feature: String, word: String) throws {
        let good = Self.point(id: #""good""#)
        let error = #expect(throws: GeofencesError.self) { try Self.read(Self.collection(good, feature)) }
        let text = try #require(error).description
        #expect(text.hasPrefix("Region 2"))
        #expect(text.contains(word), "\(text)")
    }

    @Test("one identifier twice is refused")
    func duplicates() throws {
        let error = #expect(throws: GeofencesError.self) { try Self.read(Self.collection(Self.point(), Self.point())) }
        #expect(error?.code == "duplicate_identifier")
    }

    @Test(
        "text that is not JSON is refused with its line",
        arguments: [
            "{", "{\"a\":[1,2", "{\"type\":\"Feature\"", "{\"type\" \"Feature\"}", "{\"a\":01}", "{\"a\":1.}",
            "{\"a\":-}",
            "{\"a\":\"\u{1}\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":tru}", "{\"a\":1,}",
            "{\"type\":\"Feature\"}}",
            "{\"a\":nul", "{\"a\":\"", "{\"a\":\"\\", "{\"a\":1e}",
        ])
    func notJSON(text: String) throws {
        #expect(throws: GeofencesError.notJSON(line: 2)) { try Self.read("\n" + text) }
        // Blank lines at the end are not to blame.
        #expect(throws: GeofencesError.notJSON(line: 2)) { try Self.read("\n" + text + " \n\r\n") }
        #expect(throws: GeofencesError.notJSON(line: 1)) { try Self.read("\n") }
    }

    @Test("a value that is no object is named as what it should be", arguments: ["[1]", "3", "\"x\"", "null"])
    func noObject(text: String) throws {
        let error = #expect(throws: GeofencesError.self) { try Self.read(text) }
        #expect(error == .value(expected: "an object, a FeatureCollection or a Feature"))
    }

    @Test("endless nesting is refused")
    func nesting() throws {
        let deep = String(repeating: "[", count: 1_000_000)
        #expect(throws: GeofencesError.notJSON(line: 1)) { try Self.read("{\"x\":\(deep)") }
        let error = #expect(throws: GeofencesError.self) {
            try Self.read(Self.collection(Self.point(coordinates: deep)))
        }
        #expect(error?.code == "not_json")
    }

    @Test(
        "another document is refused by its type",
        arguments: ["{}", #"{"type":"Topology"}"#, #"{"type":"FeatureCollection"}"#, "[]", "null"])
    func types(text: String) throws {
        let error = #expect(throws: GeofencesError.self) { try Self.read(text) }
        #expect(error?.code == "invalid_member")
    }

    @Test("of a polygon with 200,000 positions each byte is passed a few times, and the polygon is searched")
    func manyPositions() throws {
        let count = 200_000
        let ring = (0..<count).map { number -> String in
            let (x, y) = direction(Double(number) / Double(count))
            return "[\(10 + x),\(50 + y)]"
        }
        let text =
            #"{"type":"Feature","id":"a","geometry":{"type":"Polygon","coordinates":[[\#(ring.joined(separator: ","))]]}}"#
        let (regions, visited) = try GeoJSON.read(Array(text.utf8))
        // The object, its geometry and the coordinates are skipped before the coordinates are read.
        #expect(visited <= 4 * text.utf8.count)
        let inside = try Coordinate(latitude: 50, longitude: 10)
        #expect(regions[0].distanceToEdge(from: inside) < -60_000)
    }

    @Test("of hostile nesting and escapes each byte is passed a few times", arguments: ["[", "{\"a\":", "\"\\u0041"])
    func work(piece: String) {
        let text = #"{"type":"FeatureCollection","features":["# + String(repeating: piece, count: 100_000)
        var scanner = JSONScanner(Array(text.utf8))
        #expect(throws: GeofencesError.notJSON(line: 1)) { try scanner.skip() }
        #expect(scanner.visited <= text.utf8.count)
    }

    @Test(
        "numbers are read exactly",
        arguments: ["0.1", "-73.98765432109876", "1e-3", "12345678901234567890e-18", "4.35", "179.99999999999997"])
    func numbers(text: String) throws {
        let region = try Self.read(Self.point(coordinates: "[\(text),0]"))[0]
        guard case .circle(let circle) = region.shape else { throw GeofencesError.identifier }
        #expect(circle.center.longitude == Double(text))
    }
}
