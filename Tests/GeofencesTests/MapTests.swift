import Geofences
import Testing

@Suite("Maps")
struct MapTests {
    private func circle(_ id: String, _ longitude: Double, radius: Double = 100) throws -> Geofence {
        try Geofence(
            id: id, .circle(Circle(center: Coordinate(latitude: 50, longitude: longitude), radius: radius)))
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
}
