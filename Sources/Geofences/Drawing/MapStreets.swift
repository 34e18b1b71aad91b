#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A town that is made up, as the ground of a map: streets, buildings, parks and a river.
///
/// A place has the same town on every map of about the same scale.
struct MapStreets: Sendable {
    private let plane: MapPlane
    /// Metres from one street to the next.
    private let step: Double
    /// The numbers of the streets in the picture.
    private let columns: ClosedRange<Int>
    private let rows: ClosedRange<Int>

    /// How the town is turned against north.
    private static let turn = (cos: cos(0.2), sin: sin(0.2))

    init(_ plane: MapPlane) {
        // From 70 to 140 units of the picture.
        let step = pow(2, log2(70 / plane.scale).rounded(.up))
        let corners = [(0.0, 0.0), (1_000, 0), (0, 1_000), (1_000, 1_000)].map {
            let (east, north) = plane.metres(MapPoint(x: $0.0, y: $0.1))
            return (east * Self.turn.cos + north * Self.turn.sin, north * Self.turn.cos - east * Self.turn.sin)
        }
        func numbers(_ values: [Double]) -> ClosedRange<Int> {
            let first = Int(((values.min() ?? 0) / step).rounded(.down)) - 1
            return first...max(first, Int(((values.max() ?? 0) / step).rounded(.up)) + 1)
        }
        self.plane = plane
        self.step = step
        columns = numbers(corners.map(\.0))
        rows = numbers(corners.map(\.1))
    }

    /// What is drawn, the lowest first.
    var lines: [String] {
        var (parks, buildings) = ("", "")
        for column in columns {
            for row in rows {
                let chance = Self.chance(column, row)
                if chance < 2 { parks += block(column, row, from: (0, 0), to: (1, 1)) }
                guard chance > 3 else { continue }
                // One building, or two with a yard between them.
                let middle = chance.isMultiple(of: 3) ? 0.86 : 0.2 + Double(chance) * 0.02
                buildings += block(column, row, from: (0.14, 0.14), to: (middle, 0.86))
                if middle < 0.7 { buildings += block(column, row, from: (middle + 0.16, 0.14), to: (0.86, 0.6)) }
            }
        }
        // A pattern ends where the picture ends; its name is its content's, as a page may have several maps.
        let (east, north) = plane.metres(MapPoint(x: 0, y: 0))
        let name = "town-\(Int(east))-\(Int(north))-\(Int(step))"
        return [
            #"<pattern id="\#(name)" width="1000" height="1000" patternUnits="userSpaceOnUse">"#,
            shape("park", "rgb(213,232,203)", parks), shape("building", "rgb(233,226,214)", buildings),
            line("water", "rgb(170,211,223)", 0.4, [river]),
        ] + streets(areMain: false) + streets(areMain: true) + [
            "</pattern>", #"<path class="town" d="M0 0H1000V1000H0Z" fill="url(#\#(name))"/>"#,
        ]
    }

    private func streets(areMain: Bool) -> [String] {
        let ways =
            columns.filter { Self.isMain($0) == areMain }.map { column in
                [place(column, rows.lowerBound), place(column, rows.upperBound)]
            }
            + rows.filter { Self.isMain($0) == areMain }.map { row in
                [place(columns.lowerBound, row), place(columns.upperBound, row)]
            }
        return areMain
            ? [line("main edge", "rgb(217,181,98)", 0.17, ways), line("main", "rgb(252,226,164)", 0.13, ways)]
            : [line("street edge", "rgb(209,203,192)", 0.11, ways), line("street", "rgb(255,255,255)", 0.08, ways)]
    }

    private static func isMain(_ number: Int) -> Bool { number.isMultiple(of: 5) }

    /// A river in every 16 rows, with bends.
    private var river: [MapPoint] {
        let row = Int((Double(rows.lowerBound + rows.upperBound) / 32).rounded()) * 16 + 3
        return stride(from: Double(columns.lowerBound), through: Double(columns.upperBound), by: 0.25).map { column in
            point(column, Double(row) + 1.3 * sin(column / 3) + 0.5 * sin(column * 0.9))
        }
    }

    /// A part of what lies between two columns and two rows.
    private func block(_ column: Int, _ row: Int, from: (Double, Double), to: (Double, Double)) -> String {
        let (west, south) = (Self.shifted(column), Self.shifted(row))
        let (width, height) = (Self.shifted(column + 1) - west, Self.shifted(row + 1) - south)
        return path(
            [(from.0, from.1), (to.0, from.1), (to.0, to.1), (from.0, to.1)].map {
                point(west + $0.0 * width, south + $0.1 * height)
            }) + "Z"
    }

    private func place(_ column: Int, _ row: Int) -> MapPoint { point(Self.shifted(column), Self.shifted(row)) }

    /// Streets are not quite evenly apart.
    private static func shifted(_ number: Int) -> Double { Double(number) + Double(chance(number, 0)) / 40 }

    private func point(_ column: Double, _ row: Double) -> MapPoint {
        plane.point(
            east: (column * Self.turn.cos - row * Self.turn.sin) * step,
            north: (column * Self.turn.sin + row * Self.turn.cos) * step)
    }

    /// From 0 to 15, the same for the same numbers.
    private static func chance(_ a: Int, _ b: Int) -> Int {
        let (first, second) = (UInt64(bitPattern: Int64(a)), UInt64(bitPattern: Int64(b)))
        var mixed = first &* 0x9E37_79B9_7F4A_7C15 ^ second &* 0xC2B2_AE3D_27D4_EB4F
        mixed = (mixed ^ mixed >> 29) &* 0xBF58_476D_1CE4_E5B9
        return Int(mixed >> 60)
    }

    private func path(_ points: [MapPoint]) -> String {
        "M" + points.map { "\($0.x.short) \($0.y.short)" }.joined(separator: "L")
    }

    private func shape(_ name: String, _ color: String, _ path: String) -> String {
        #"<path class="\#(name)" d="\#(path)" fill="\#(color)"/>"#
    }

    private func line(_ name: String, _ color: String, _ width: Double, _ ways: [[MapPoint]]) -> String {
        let width = (width * step * plane.scale).short
        return
            #"<path class="\#(name)" d="\#(ways.map(path).joined())" fill="none" stroke="\#(color)" stroke-width="\#(width)"/>"#
    }
}
