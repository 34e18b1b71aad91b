import Foundation
import Geofences
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("Maps")
struct MapTests {
    private func circle(
        _ id: String, _ longitude: Double, latitude: Double = 50, radius: Double = 100
    ) throws -> Geofence {
        try Geofence(
            id: id, .circle(Circle(center: Coordinate(latitude: latitude, longitude: longitude), radius: radius)))
    }

    private func polygon(_ id: String, _ rings: [[(Double, Double)]]) throws -> Geofence {
        let rings = try rings.map { try $0.map { try Coordinate(latitude: $0.1, longitude: $0.0) } }
        return try Geofence(id: id, .polygon(Polygon(rings: rings)))
    }

    /// The points of each ring of the first polygon.
    private func outlines(_ svg: String) throws -> [[(x: Double, y: Double)]] {
        let path = try #require(svg.firstMatch(of: /<path d="([^"]*)" fill-rule/)).1
        return try path.split(separator: "Z").map { ring in
            try ring.dropFirst().split(separator: "L").map { point in
                let numbers = try point.split(separator: " ").map { try #require(Double($0)) }
                return (numbers[0], numbers[1])
            }
        }
    }

    /// The labels with their room: 30 units high, 18 for each letter.
    private func labels(_ svg: String) throws -> [(text: String, from: Double, to: Double, y: Double)] {
        try svg.matches(of: /<text class="label" x="([0-9.]+)" y="([0-9.]+)"[^>]*>([^<]*)</).map { label in
            let (x, y) = (try #require(Double(label.1)), try #require(Double(label.2)))
            return (String(label.3), x - 9 * Double(label.3.count), x + 9 * Double(label.3.count), y)
        }
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
        let regions = try [
            circle(long, 10), circle("b", 10.01, latitude: 50.003), circle("<&\"\u{7}", 10.02, latitude: 49.998),
            circle(long + "2", 10.03),
        ]
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

    @Test("an entry and an exit are drawn where the edge was crossed, a stay where it was decided")
    func signs() throws {
        // 7 m a second, from 1.4 km before an area of 700 m to 1.4 km behind it, with a rest in its middle.
        let area = try circle("office", 10, radius: 700)
        var seconds = 0.0
        let track = try (0...400).map { step in
            seconds += step == 201 ? 400 : 1
            return try fix(9.98 + 0.0001 * Double(step), seconds)
        }
        let events = try events(of: [area], track)
        #expect(events.map(\.kind) == [.enter, .dwell, .exit])
        let svg = GeofenceMap(regions: [area], track: track, events: events).svg
        let circle = try #require(svg.firstMatch(of: /<circle cx="([0-9.]+)" cy="[0-9.]+" r="([0-9.]+)"/))
        let (middle, radius) = (try #require(Double(circle.1)), try #require(Double(circle.2)))
        let scale = radius / 700
        func place(_ kind: Substring) throws -> Double {
            let signs = svg.matches(of: /class="([a-z]+)"[^>]*translate\(([0-9.]+)/)
            let sign = try #require(signs.first { $0.1 == kind })
            return try #require(Double(sign.2))
        }
        // Within the accuracy and one step of the edge; 20 seconds later it would be 140 m.
        #expect((0...15 * scale).contains(try place("enter") - (middle - radius)))
        // Beyond the hysteresis of 70 m.
        #expect((70 * scale...85 * scale).contains(try place("exit") - (middle + radius)))
        #expect((0...10 * scale).contains(try place("dwell") - middle))
    }

    @Test("an event whose crossing is not on the track is drawn where it was decided")
    func signsOfAnotherTrack() throws {
        let area = try circle("office", 10, radius: 700)
        let track = try [fix(9.98, 0), fix(10, 60), fix(10, 90)]
        let events = try events(of: [area], track)
        #expect(events.count == 1)
        for part in [[], [track[2]], track] {
            #expect(GeofenceMap(regions: [area], track: part, events: events).svg.contains(#"class="enter""#))
        }
    }

    @Test("the legend's words do not touch the next sign")
    func legend() throws {
        let area = try circle("office", 10, radius: 700)
        let track = try (0...400).map { try fix(9.98 + 0.0001 * Double($0), Double($0) * 4) }
        let svg = try GeofenceMap(regions: [area], track: track, events: events(of: [area], track)).svg
        let words = svg.matches(of: /<text x="([0-9]+)" y="960"[^>]*>([a-z]+)</)
        #expect(words.map(\.2) == ["entered", "left", "stayed"])
        let starts = try words.map { try #require(Double($0.1)) }
        for (word, next) in zip(words, zip(starts, starts.dropFirst())) {
            // Signs are 14 units wide on each side and stand 22 units before their words.
            #expect(next.0 + 18 * Double(word.2.count) <= next.1 - 36)
        }
    }

    @Test("of 300 areas those are labelled that have the room, first those with events, and all tell their name")
    func crowd() throws {
        let regions = try (0..<300).map { number in
            try circle("area \(number)", 10 + 0.002 * Double(number % 20), latitude: 50 + 0.0018 * Double(number / 20))
        }
        let track = try (0...200).map { try fix(10.037 + 0.00001 * Double($0), Double($0)) }
        let svg = try GeofenceMap(regions: regions, track: track, events: events(of: regions, track)).svg
        let labels = try labels(svg)
        #expect((20...200).contains(labels.count))
        let scaleText = try #require(svg.firstMatch(of: /H([0-9.]+)V940/)).1
        let scale = try #require(Double(scaleText))
        for (number, one) in labels.enumerated() {
            for other in labels[..<number] {
                #expect(
                    one.to <= other.from || other.to <= one.from || (one.y - other.y).magnitude >= 36,
                    "\(one) \(other)")
            }
            #expect(one.y < 892 || one.from >= scale, "\(one)")
        }
        #expect(labels.contains { $0.y >= 892 })
        // The walk begins in it and leaves it.
        #expect(labels.first?.text == "area 18")
        #expect(regions.map(\.id).filter { !svg.contains("<title>\($0)</title>") } == [])
    }

    @Test("no label is written over the legend")
    func legendIsFree() throws {
        let regions = try [circle("far", 10, latitude: 50.03), circle("one", 10.045), circle("two", 10.045)]
        let track = try (0...100).map { try fix(10.045 + 0.000_05 * Double($0), Double($0)) }
        let names = { (track: [Fix]) in
            try labels(GeofenceMap(regions: regions, track: track, events: events(of: regions, track)).svg).map(\.text)
        }
        // Both have one place: the first above, the second below, where the legend is if there is one.
        #expect(try names([]) == ["far", "one", "two"])
        #expect(try names(track) == ["one", "far"])
    }

    @Test("an area of most of the Earth's width is drawn whole, wherever the map begins")
    func wide() throws {
        let wide = try polygon(
            "wide",
            [
                [(-170, -20), (-60, -20), (60, -20), (170, -20), (170, 20), (60, 20), (-60, 20), (-170, 20)],
                [(100, -5), (120, -5), (120, 5), (100, 5)],
            ])
        let places = try [[], [circle("here", 120, latitude: 0)], [circle("there", -179, latitude: 0)]]
        for others in places {
            let svg = GeofenceMap(regions: others + [wide]).svg
            let rings = try outlines(svg)
            #expect(rings.map(\.count) == [8, 4])
            let scale = try #require(rings.first).map(\.x)
            let (west, east) = (try #require(scale.min()), try #require(scale.max()))
            // Eastwards along the southern edge, and back.
            #expect(Array(scale.prefix(4)) == scale.prefix(4).sorted())
            #expect(Array(scale.suffix(4)) == scale.suffix(4).sorted(by: >))
            let unit = (east - west) / 340
            #expect((rings[1][0].x - (west + 270 * unit)).magnitude < 0.2)
            #expect((rings[1][1].x - (west + 290 * unit)).magnitude < 0.2)
        }
        let here = GeofenceMap(regions: [try circle("here", 120, latitude: 0), wide]).svg
        let circle = try #require(here.firstMatch(of: /<circle cx="([0-9.]+)"/))
        let x = try #require(Double(circle.1))
        #expect((x - (try outlines(here))[1][1].x).magnitude < 0.2)
    }

    @Test("an area across the antimeridian, and one around a pole, are drawn whole")
    func antimeridianAndPole() throws {
        let fiji = try polygon("fiji", [[(179, -17), (-179, -17), (-179, -16), (179, -16)]])
        let xs = try outlines(GeofenceMap(regions: [try circle("a", -179.5, latitude: -16.5), fiji]).svg)[0].map(\.x)
        #expect(xs[0] < xs[1] && xs[0] == xs[3] && xs[1] == xs[2])
        // With a hole on the other side of the antimeridian than the beginning of the area.
        let pacific = try polygon(
            "pacific",
            [
                [(150, -10), (-150, -10), (-150, 10), (150, 10)], [(-170, -5), (-160, -5), (-160, 5), (-170, 5)],
            ])
        let rings = try outlines(GeofenceMap(regions: [try circle("a", 0, latitude: 0), pacific]).svg)
        #expect(rings[1].allSatisfy { rings[0][0].x < $0.x && $0.x < rings[0][1].x })
        let arctic = try polygon("arctic", [[(0, 66), (90, 66), (180, 66), (-90, 66)]])
        let ring = try outlines(GeofenceMap(regions: [arctic]).svg)[0]
        #expect(ring.count == 7)
        #expect(ring.prefix(5).map(\.x) == ring.prefix(5).map(\.x).sorted())
        #expect(ring[5].x == ring[4].x && ring[6].x == ring[0].x && ring[5].y < ring[4].y)
    }

    @Test("what is too small to be seen takes no place in the file, but no area vanishes")
    func small() throws {
        let count = 60_000
        let ring = (0..<count).map { corner in
            let (x, y) = direction(Double(corner) / Double(count))
            return (10 + x, 50 + y)
        }
        let tiny = try polygon("tiny", [[(14, 50), (14.000_01, 50), (14, 50.000_01)]])
        let svg = GeofenceMap(regions: [try polygon("round", [ring]), tiny]).svg
        #expect(svg.utf8.count < 100_000)
        let points = try outlines(svg)[0]
        #expect((800...6_000).contains(points.count))
        for (one, next) in zip(points, points.dropFirst()) {
            #expect((one.x - next.x).magnitude < 1 && (one.y - next.y).magnitude < 1)
        }
        // Both ends of the line through it are there, and round ends make even a line without length visible.
        #expect(
            svg.matches(of: /<path d="M[0-9. ]+L[0-9. ]+Z" fill-rule="evenodd"[^>]*stroke-linecap="round"/).count == 1)
    }

    @Test("a map has a made-up town under its areas when it is asked for, the same one each time and anywhere")
    func streets() throws {
        #expect(try !GeofenceMap(regions: [circle("a", 10)]).svg.contains("street"))
        for (longitude, latitude, radius) in [
            (10.0, 50.0, 100.0), (180, 0, 1), (-180, 89.999, 50_000), (13.4, -90, 250), (0, 0, 20_000_000),
        ] {
            let map = try GeofenceMap(
                regions: [circle("a", longitude, latitude: latitude, radius: radius)], hasStreets: true)
            let svg = map.svg
            #expect(svg == map.svg && svg.utf8.count < 150_000)
            let area = try #require(svg.firstRange(of: "<circle")).lowerBound
            for part in ["park", "building", "water", "street edge", "street", "main edge", "main"] {
                let path = try #require(svg.firstMatch(of: try Regex("<path class=\"\(part)\" d=\"(M[^\"]+)\"")))
                #expect(path.range.upperBound < area, "\(part) lies under the areas")
                for number in try #require(path[1].substring).split(whereSeparator: { "MLZ ".contains($0) }) {
                    #expect(Double(number)?.isFinite == true, "\(number)")
                }
            }
            let parser = XMLParser(data: Data(svg.utf8))
            #expect(parser.parse(), "\(String(describing: parser.parserError))")
        }
    }
}
