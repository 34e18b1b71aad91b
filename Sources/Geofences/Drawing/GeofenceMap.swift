#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A picture of regions, a track and its events as SVG, without a server of map tiles. North is up.
///
/// Lines, text and signs keep their size on the screen relative to the picture, so it is legible from 400 to 1600 pixels.
package struct GeofenceMap: Sendable {
    package var regions: [Geofence]
    package var track: [Fix]
    package var events: [GeofenceEvent]

    package init(regions: [Geofence], track: [Fix] = [], events: [GeofenceEvent] = []) {
        self.regions = regions
        self.track = track
        self.events = events
    }

    /// The picture: 1,000 units wide and high, scaled to its place.
    package var svg: String {
        let plane = Plane(regions, track)
        var lines = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000" role="img" font-family="sans-serif" font-size="30">"#,
            "<title>\(regions.count) regions, \(track.count) positions, \(events.count) events</title>",
            #"<rect width="1000" height="1000" fill="rgb(251,250,247)"/>"#,
        ]
        lines += regions.flatMap { draw($0, on: plane) }
        lines += drawTrack(on: plane)
        lines += events.map { draw($0, on: plane) }
        lines += regions.map { label($0, on: plane) }
        lines.append(scaleBar(plane))
        lines += legend
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private func draw(_ region: Geofence, on plane: Plane) -> [String] {
        let style = #"fill="rgb(26,95,180)" fill-opacity="0.12" stroke="rgb(26,95,180)" stroke-width="4""#
        switch region.shape {
        case .circle(let circle):
            let (x, y) = plane.point(circle.center)
            return [
                #"<circle cx="\#(x.short)" cy="\#(y.short)" r="\#((circle.radius * plane.scale).short)" \#(style)/>"#
            ]
        case .polygon(let polygon):
            let path = polygon.rings.map { "M" + points($0, on: plane) + "Z" }.joined()
            return [#"<path d="\#(path)" fill-rule="evenodd" \#(style)/>"#]
        }
    }

    private func points(_ positions: [Coordinate], on plane: Plane) -> String {
        positions.map { position in
            let (x, y) = plane.point(position)
            return "\(x.short) \(y.short)"
        }
        .joined(separator: "L")
    }

    private func drawTrack(on plane: Plane) -> [String] {
        guard !track.isEmpty else { return [] }
        // More points than the picture can show only make it slow.
        let step = max(track.count / 2_000, 1)
        let shown = track.enumerated().filter { $0.offset % step == 0 || $0.offset == track.count - 1 }.map(\.element)
        let path = "M" + points(shown.map(\.coordinate), on: plane)
        var lines: [String] = []
        for fix in shown.enumerated().filter({ $0.offset % max(shown.count / 40, 1) == 0 }).map(\.element) {
            let (x, y) = plane.point(fix.coordinate)
            let radius = max(fix.accuracy * plane.scale, 1)
            lines.append(
                #"<circle class="accuracy" cx="\#(x.short)" cy="\#(y.short)" r="\#(radius.short)" fill="rgb(94,92,100)" fill-opacity="0.1" stroke="rgb(94,92,100)" stroke-opacity="0.3" stroke-width="2"/>"#
            )
        }
        return lines + [
            #"<path d="\#(path)" fill="none" stroke="rgb(61,56,70)" stroke-width="5" stroke-linejoin="round"/>"#
        ]
    }

    /// Shapes differ, not only colours: a triangle that points down onto the position into a region, one from below out of it, so
    /// that neither covers the other, and a square for a stay.
    private static func sign(_ kind: GeofenceEvent.Kind) -> String {
        let (shape, color) =
            switch kind {
            case .enter: ("M-14 -26L14 -26L0 0Z", "#26a269")
            case .exit: ("M-14 26L14 26L0 0Z", "#c01c28")
            case .dwell: ("M-11 -11L11 -11L11 11L-11 11Z", "#9141ac")
            }
        return #"d="\#(shape)" fill="\#(color)" stroke="white" stroke-width="3""#
    }

    private func draw(_ event: GeofenceEvent, on plane: Plane) -> String {
        let (x, y) = plane.point(event.fix.coordinate)
        let title = "\(event.kind.rawValue) \(event.region.escapedForXML)"
        return
            #"<path class="\#(event.kind.rawValue)" \#(Self.sign(event.kind)) transform="translate(\#(x.short) \#(y.short))"><title>\#(title)</title></path>"#
    }

    /// What the signs mean, of those that are there; in the corner opposite the scale.
    private var legend: [String] {
        let kinds = GeofenceEvent.Kind.allCases.filter { kind in events.contains { $0.kind == kind } }
        return kinds.enumerated().map { number, kind in
            let (x, word) = (980 - 150 * (kinds.count - number), ["enter": "entered", "exit": "left"][kind.rawValue])
            let rise = kind == .enter ? 962 : kind == .exit ? 936 : 949
            return
                #"<path \#(Self.sign(kind)) transform="translate(\#(x) \#(rise))"/><text x="\#(x + 22)" y="960" fill="rgb(61,56,70)">\#(word ?? "stayed")</text>"#
        }
    }

    /// Above the area, where neither its edge nor the track through it is; below its edge where the picture ends.
    private func label(_ region: Geofence, on plane: Plane) -> String {
        let (x, top) = middleAndTop(of: region, on: plane)
        let text = region.id.unicodeScalars.count > 24 ? String(region.id.prefix(23)) + "…" : region.id
        // Half of the letters' usual width.
        let half = min(9 * Double(text.count), 480)
        let middle = min(max(x, half + 10), 990 - half)
        let y = top < 60 ? max(top, 0) + 40 : top - 14
        return
            #"<text class="label" x="\#(middle.short)" y="\#(y.short)" text-anchor="middle" fill="rgb(11,46,89)" stroke="rgb(251,250,247)" stroke-width="6" paint-order="stroke">\#(text.escapedForXML)</text>"#
    }

    private func middleAndTop(of region: Geofence, on plane: Plane) -> (x: Double, top: Double) {
        switch region.shape {
        case .circle(let circle):
            let (x, y) = plane.point(circle.center)
            return (x, y - circle.radius * plane.scale)
        case .polygon(let polygon):
            let points = polygon.rings.joined().map { plane.point($0) }
            let west = points.map(\.x).min() ?? 0
            let east = points.map(\.x).max() ?? 0
            return ((west + east) / 2, points.map(\.y).min() ?? 0)
        }
    }

    /// A bar of 1, 2 or 5 times a power of ten, at most a third of the picture.
    private func scaleBar(_ plane: Plane) -> String {
        let longest = 333 / plane.scale
        let power = pow(10, log10(longest).rounded(.down))
        let metres = [5, 2, 1].map { $0 * power }.first { $0 <= longest } ?? power
        let text = metres >= 1_000 ? "\((metres / 1_000).short) km" : "\(metres.short) m"
        let end = 40 + metres * plane.scale
        return
            #"<path class="scale" d="M40 940V960H\#(end.short)V940" fill="none" stroke="rgb(61,56,70)" stroke-width="5"/><text x="40" y="928" fill="rgb(61,56,70)">\#(text)</text>"#
    }

    /// A map of the surroundings of a point: metres east and north of it, scaled to the picture.
    private struct Plane {
        let middle: Coordinate
        let scale: Double
        private let shift: (x: Double, y: Double)

        init(_ regions: [Geofence], _ track: [Fix]) {
            var positions = track.map { ($0.coordinate, 0.0) }
            for region in regions {
                switch region.shape {
                case .circle(let circle): positions.append((circle.center, circle.radius))
                case .polygon(let polygon): positions += polygon.rings.joined().map { ($0, 0) }
                }
            }
            let first = positions.first?.0 ?? Coordinate(reducing: 0, latitude: 0)
            middle = first
            var west = 0.0
            var east = 0.0
            var south = 0.0
            var north = 0.0
            for (position, radius) in positions {
                let (x, y) = Self.metres(position, from: first)
                west = min(west, x - radius)
                east = max(east, x + radius)
                south = min(south, y - radius)
                north = max(north, y + radius)
            }
            scale = 880 / max(east - west, north - south, 50)
            shift = (500 - (west + east) / 2 * scale, 500 + (south + north) / 2 * scale)
        }

        private static func metres(_ position: Coordinate, from middle: Coordinate) -> (x: Double, y: Double) {
            let east = (position.longitude - middle.longitude).remainder(dividingBy: 360).inRadians
            let north = (position.latitude - middle.latitude).inRadians
            return (
                east * WGS84.semiMajorAxis * max(cos(middle.latitude.inRadians), 0.01), north * WGS84.semiMajorAxis
            )
        }

        func point(_ position: Coordinate) -> (x: Double, y: Double) {
            let (x, y) = Self.metres(position, from: middle)
            return (shift.x + x * scale, shift.y - y * scale)
        }
    }
}

extension Double {
    /// To a tenth, without a trailing zero.
    fileprivate var short: String {
        let text = "\((self * 10).rounded() / 10)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension String {
    /// Text for XML 1.0. Controls, noncharacters, of which XML forbids some, and controls of the writing direction, with which a name
    /// could pass for another, become U+FFFD.
    fileprivate var escapedForXML: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "&": text += "&amp;"
            case "\"": text += "&quot;"
            default: text.unicodeScalars.append(scalar.isUnfitForXML ? "\u{FFFD}" : scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    fileprivate var isUnfitForXML: Bool {
        properties.generalCategory == .control || properties.isNoncharacterCodePoint || properties.isBidiControl
    }
}
