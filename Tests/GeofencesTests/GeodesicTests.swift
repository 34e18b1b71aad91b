import Geofences
import Testing

@Suite("Distances on the ellipsoid")
struct GeodesicTests {
    struct Line {
        let start: Coordinate
        let end: Coordinate
        let metres: Double
    }

    private static let lines: [Line] = {
        String(decoding: PackageResources.geodesic_csv, as: UTF8.self).split(separator: "\n").dropFirst().compactMap {
            let numbers = $0.split(separator: ",").compactMap { Double($0) }
            guard numbers.count == 5, let start = try? Coordinate(latitude: numbers[0], longitude: numbers[1]),
                let end = try? Coordinate(latitude: numbers[2], longitude: numbers[3])
            else { return nil }
            return Line(start: start, end: end, metres: numbers[4])
        }
    }()

    @Test("distances below 100 km agree with GeographicLib to 1 mm")
    func short() {
        let lines = Self.lines.filter { $0.metres < 100_000 }
        #expect(lines.count >= 790)
        for line in lines {
            let difference = (line.start.distance(to: line.end) - line.metres).magnitude
            #expect(difference < 0.001, "\(line)")
        }
    }

    @Test("any distance agrees to 10 cm, also to the antipode")
    func long() {
        #expect(Self.lines.count == 1_004)
        for line in Self.lines {
            let difference = (line.start.distance(to: line.end) - line.metres).magnitude
            #expect(difference < 0.1, "\(line) differs by \(difference)")
        }
    }

    @Test("a position out of range is refused, and swapped numbers are told")
    func ranges() throws {
        for (latitude, longitude) in [(91.0, 0.0), (0, 181), (.nan, 0), (0, .infinity), (-90.0001, 0)] {
            let error = #expect(throws: GeofencesError.self) {
                try Coordinate(latitude: latitude, longitude: longitude)
            }
            #expect(error?.code == "invalid_coordinate")
        }
        let swapped = #expect(throws: GeofencesError.self) { try Coordinate(latitude: -122.4, longitude: 37.8) }
        #expect(try #require(swapped).description.contains("swapped"))
    }
}
