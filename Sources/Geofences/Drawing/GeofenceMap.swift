#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
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
    /// Whether made-up streets lie under it all.
    package var hasStreets: Bool

    package init(
        regions: [Geofence], track: [Fix] = [], events: [GeofenceEvent] = [], hasStreets: Bool = false
    ) {
        self.regions = regions
        self.track = track
        self.events = events
        self.hasStreets = hasStreets
    }

    /// The picture: 1,000 units wide and high, scaled to its place.
    package var svg: String {
        let plane = MapPlane(regions, track)
        let crossings = crossings()
        var lines = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000" role="img" font-family="sans-serif" font-size="30">"#,
            "<title>Regions: \(regions.count), positions: \(track.count), events: \(events.count)</title>",
            #"<rect width="1000" height="1000" fill="rgb(251,250,247)"/>"#,
        ]
        if hasStreets { lines += MapStreets(plane).lines }
        lines += regions.flatMap { draw($0, on: plane) }
        lines += drawTrack(on: plane)
        lines += crossings.map { draw($0.event, at: $0.position, on: plane) }
        lines += labels(on: plane)
        lines.append(scaleBar(plane))
        lines += legend
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private func draw(_ region: Geofence, on plane: MapPlane) -> [String] {
        let style =
            #"fill="rgb(26,95,180)" fill-opacity="0.12" stroke="rgb(26,95,180)" stroke-width="4" stroke-linecap="round" stroke-linejoin="round""#
        // The name of every region, also of one whose label has no place.
        let title = "<title>\(region.id.escapedForXML)</title>"
        switch region.shape {
        case .circle(let circle):
            let center = plane.point(circle.center)
            return [
                #"<circle cx="\#(center.x.short)" cy="\#(center.y.short)" r="\#((circle.radius * plane.scale).short)" \#(style)>\#(title)</circle>"#
            ]
        case .polygon(let polygon):
            let path = plane.outlines(of: polygon).map { line(through: $0) + "Z" }.joined()
            return [#"<path d="\#(path)" fill-rule="evenodd" \#(style)>\#(title)</path>"#]
        }
    }

    /// A line through the points, without those that are too close to the one before to be seen.
    private func line(through points: [MapPoint]) -> String {
        var shown: [MapPoint] = []
        for (index, point) in points.enumerated() {
            if index < points.count - 1, let last = shown.last, point.isWithin(0.5, of: last) { continue }
            shown.append(point)
        }
        return "M" + shown.map { "\($0.x.short) \($0.y.short)" }.joined(separator: "L")
    }

    private func drawTrack(on plane: MapPlane) -> [String] {
        guard !track.isEmpty else { return [] }
        // More points than the picture can show only make it slow.
        let step = max(track.count / 2_000, 1)
        let shown = track.enumerated().filter { $0.offset % step == 0 || $0.offset == track.count - 1 }.map(\.element)
        let path = line(through: shown.map { plane.point($0.coordinate) })
        var lines: [String] = []
        for fix in shown.enumerated().filter({ $0.offset % max(shown.count / 40, 1) == 0 }).map(\.element) {
            let middle = plane.point(fix.coordinate)
            let radius = max(fix.accuracy * plane.scale, 1)
            lines.append(
                #"<circle class="accuracy" cx="\#(middle.x.short)" cy="\#(middle.y.short)" r="\#(radius.short)" fill="rgb(94,92,100)" fill-opacity="0.1" stroke="rgb(94,92,100)" stroke-opacity="0.3" stroke-width="2"/>"#
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

    private func draw(_ event: GeofenceEvent, at position: Coordinate, on plane: MapPlane) -> String {
        let place = plane.point(position)
        let title = "\(event.kind.rawValue) \(event.region.escapedForXML)"
        return
            #"<path class="\#(event.kind.rawValue)" \#(Self.sign(event.kind)) transform="translate(\#(place.x.short) \#(place.y.short))"><title>\#(title)</title></path>"#
    }

    /// The events with the position where each happened: a region is entered or left at the fix of ``GeofenceEvent/since``, and the
    /// fix that decides is some way behind. A stay is shown where it was decided, so that it does not cover the entry.
    private func crossings() -> [(event: GeofenceEvent, position: Coordinate)] {
        let times = Set(events.flatMap { [$0.since, $0.fix.time] })
        var places: [Date: [Int]] = [:]
        for (place, fix) in track.enumerated() where times.contains(fix.time) {
            places[fix.time, default: []].append(place)
        }
        return events.map { event in
            // A clock that was set back gives a time twice.
            guard event.kind != .dwell,
                let deciding = places[event.fix.time]?.first(where: { track[$0] == event.fix }),
                let crossing = places[event.since]?.last(where: { $0 <= deciding })
            else { return (event, event.fix.coordinate) }
            return (event, track[crossing].coordinate)
        }
    }

    private var shownKinds: [GeofenceEvent.Kind] {
        GeofenceEvent.Kind.allCases.filter { kind in events.contains { $0.kind == kind } }
    }

    /// A sign, “entered” and a space.
    private static let legendStep = 180

    /// What the signs mean, of those that are there; in the corner opposite the scale.
    private var legend: [String] {
        let kinds = shownKinds
        return kinds.enumerated().map { number, kind in
            let (x, word) = (
                980 - Self.legendStep * (kinds.count - number), ["enter": "entered", "exit": "left"][kind.rawValue]
            )
            let rise = kind == .enter ? 962 : kind == .exit ? 936 : 949
            return
                #"<path \#(Self.sign(kind)) transform="translate(\#(x) \#(rise))"/><text x="\#(x + 22)" y="960" fill="rgb(61,56,70)">\#(word ?? "stayed")</text>"#
        }
    }

    /// The names of the regions, those with events first; none where it would cover another, the scale or the legend.
    private func labels(on plane: MapPlane) -> [String] {
        let crossed = Set(events.map(\.region))
        var labels = MapLabels()
        let (metres, text) = scale(plane)
        labels.take(from: 40, to: 40 + max(metres * plane.scale, 18 * Double(text.count)), baseline: 928)
        labels.take(from: 40, to: 40 + metres * plane.scale, baseline: 965)
        if !shownKinds.isEmpty {
            labels.take(from: 960 - Double(Self.legendStep * shownKinds.count), to: 1_000, baseline: 962)
        }
        return (regions.filter { crossed.contains($0.id) } + regions.filter { !crossed.contains($0.id) })
            .compactMap { label($0, on: plane, among: &labels) }
    }

    /// How many areas make a crowd, in which a label above its area would seem to be that of the next one.
    private static let crowd = 50

    /// Above the area, where neither its edge nor the track through it is; below its upper edge where the picture ends; or below it. In a
    /// crowd on the area.
    private func label(_ region: Geofence, on plane: MapPlane, among labels: inout MapLabels) -> String? {
        let (x, top, bottom) = extent(of: region, on: plane)
        let text = region.id.unicodeScalars.count > 24 ? String(region.id.prefix(23)) + "…" : region.id
        // Half of the letters' usual width.
        let half = min(9 * Double(text.count), 480)
        let middle = min(max(x, half + 10), 990 - half)
        let beside = [top < 60 ? max(top, 0) + 40 : top - 14, bottom + 34].filter { $0 < 990 }
        let baselines = regions.count > Self.crowd ? [(top + bottom) / 2 + 10] : beside
        guard let y = labels.takeFirstFree(from: middle - half, to: middle + half, baselines: baselines) else {
            return nil
        }
        return
            #"<text class="label" x="\#(middle.short)" y="\#(y.short)" text-anchor="middle" fill="rgb(11,46,89)" stroke="rgb(251,250,247)" stroke-width="6" paint-order="stroke">\#(text.escapedForXML)</text>"#
    }

    private func extent(of region: Geofence, on plane: MapPlane) -> (x: Double, top: Double, bottom: Double) {
        switch region.shape {
        case .circle(let circle):
            let center = plane.point(circle.center)
            let radius = circle.radius * plane.scale
            return (center.x, center.y - radius, center.y + radius)
        case .polygon(let polygon):
            let points = plane.outlines(of: polygon).joined()
            let west = points.map(\.x).min() ?? 0
            let east = points.map(\.x).max() ?? 0
            return ((west + east) / 2, points.map(\.y).min() ?? 0, points.map(\.y).max() ?? 0)
        }
    }

    /// A length of 1, 2 or 5 times a power of ten in metres, at most a third of the picture.
    private func scale(_ plane: MapPlane) -> (metres: Double, text: String) {
        let longest = 333 / plane.scale
        let power = pow(10, log10(longest).rounded(.down))
        let metres = [5, 2, 1].map { $0 * power }.first { $0 <= longest } ?? power
        return (metres, metres >= 1_000 ? "\((metres / 1_000).short) km" : "\(metres.short) m")
    }

    private func scaleBar(_ plane: MapPlane) -> String {
        let (metres, text) = scale(plane)
        let end = 40 + metres * plane.scale
        return
            #"<path class="scale" d="M40 940V960H\#(end.short)V940" fill="none" stroke="rgb(61,56,70)" stroke-width="5"/><text x="40" y="928" fill="rgb(61,56,70)">\#(text)</text>"#
    }
}

extension Double {
    /// To a tenth, without a trailing zero.
    var short: String {
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
