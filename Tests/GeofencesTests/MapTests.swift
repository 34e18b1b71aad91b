import Foundation
import Geofences
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("Maps")
struct MapTests {
    private func circle(_ id: String, _ longitude: Double, radius: Double = 100) throws -> Geofence {
        try Geofence(
            id: id, .circle(Circle(center: Coordinate(latitude: 50, longitude: longitude), radius: radius)))
    }

    private func fix(_ longitude: Double, _ seconds: Double) throws -> Fix {
        try Fix(
            Coordinate(latitude: 50, longitude: longitude), accuracy: 5,
            time: Date(timeIntervalSince1970: 1_700_000_000 + seconds))
    }

    private func events(of regions: [Geofence], _ track: [Fix]) throws -> [GeofenceEvent] {
        var monitor = try GeofenceMonitor(regions)
        return track.flatMap { monitor.receive($0).events }
    }

    @Test("labels stand above their areas and within the picture, whatever the names are")
    func labels() throws {
        let long = String(repeating: "W", count: 40)
        let regions = try [circle(long, 10), circle("b", 10.01), circle("<&\"\u{7}", 10.02), circle(long + "2", 10.03)]
        let svg = GeofenceMap(regions: regions).svg
        let labels = svg.matches(of: /<text class="label" x="([0-9.]+)" y="([0-9.]+)"[^>]*>([^<]*)</)
        #expect(labels.count == 4)
        let tops = svg.matches(of: /<circle cx="[0-9.]+" cy="([0-9.]+)" r="([0-9.]+)"/)
        for (label, circle) in zip(labels, tops) {
            let (x, y) = (try #require(Double(label.1)), try #require(Double(label.2)))
            let half = 9 * Double(label.3.count)
            let top = try #require(Double(circle.1)) - (try #require(Double(circle.2)))
            #expect(x - half >= 0 && x + half <= 1_000)
            #expect(y < top)
        }
        #expect(labels[2].3 == "&lt;&amp;&quot;\u{FFFD}")
    }

    @Test("an area as high as the picture has its label within it")
    func high() throws {
        let svg = try GeofenceMap(regions: [circle("all", 10)]).svg
        let label = try #require(svg.firstMatch(of: /class="label" x="500" y="([0-9.]+)"/))
        #expect((30...940).contains(try #require(Double(label.1))))
    }

    @Test(
        "a name of any characters makes a picture that opens, and none turns the writing direction",
        arguments: [0xFFFF, 0xFFFE, 0xFDD0, 0x10FFFF, 0, 0xB, 0x7F, 0x85, 0x202E, 0x2066, 0x200F] as [UInt32])
    func characters(number: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(number))
        let id = "a\(scalar)<]]>&"
        let region = try circle(id, 10)
        let track = try [fix(9.99, 0), fix(10, 60), fix(10, 90)]
        let svg = try GeofenceMap(regions: [region], track: track, events: events(of: [region], track)).svg
        #expect(svg.contains("<title>enter a"))
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(svg.contains("a\u{FFFD}&lt;]]&gt;&amp;"))
        #expect(!svg.unicodeScalars.contains(scalar))
    }
}
