#if Sandbox
import Foundation
import SandboxCore

/// A balcony with plants in front of hills in the evening, twice as wide as high (section 1.5), with the grain of a photograph.
enum CoverPicture {
    /// One thing of the picture, in 42 shades from its dark to its bright colour.
    private enum Part: Int, CaseIterable {
        case sky, hills, town, railing, pots, leaves

        var shades: (dark: (Double, Double, Double), bright: (Double, Double, Double)) {
            switch self {
            case .sky: ((70, 98, 150), (255, 214, 165))
            case .hills: ((58, 78, 104), (140, 138, 158))
            case .town: ((38, 52, 66), (92, 96, 104))
            case .railing: ((22, 24, 28), (74, 70, 66))
            case .pots: ((96, 44, 26), (206, 116, 72))
            case .leaves: ((18, 54, 26), (136, 190, 84))
            }
        }
    }

    private static let shadeCount = 42

    private static let palette: [PNGImage.Color] = Part.allCases.flatMap { part in
        (0..<shadeCount).map { shade in
            let (dark, bright) = part.shades
            let share = Double(shade) / Double(shadeCount - 1)
            func mixed(_ a: Double, _ b: Double) -> UInt8 { UInt8(a + (b - a) * share) }
            return PNGImage.Color(mixed(dark.0, bright.0), mixed(dark.1, bright.1), mixed(dark.2, bright.2))
        }
    }

    static func png(width: Int) -> PNGImage {
        PNGImage(width: width, height: width / 2, palette: palette) { x, y in
            let (part, light) = seen(Double(x) / Double(width) * 2, Double(y) / Double(width) * 2)
            // What lies between two shades is grain.
            let grain = Double((x &* 0x9E37_79B1 ^ y &* 0x85EB_CA6B) >> 7 & 0xFF) / 255 - 0.5
            let shade = Int((min(max(light, 0), 1) * Double(shadeCount - 1) + grain).rounded())
            return UInt8(part.rawValue * shadeCount + min(max(shade, 0), shadeCount - 1))
        }
    }

    /// What is seen at a place, and how bright it is; x from 0 to 2, y from 0 to 1.
    private static func seen(_ x: Double, _ y: Double) -> (Part, light: Double) {
        if let plant = plants.lazy.compactMap({ $0.seen(x, y) }).first { return plant }
        if y > 0.74, y < 0.775 || (y > 0.775 && abs(x.remainder(dividingBy: 0.125)) < 0.008) {
            return (.railing, y < 0.75 ? 0.9 : 0.35)
        }
        let town = 0.66 - 0.05 * abs(sin(x * 23).rounded()) - 0.03 * abs(sin(x * 61).rounded())
        if y > town { return (.town, 0.7 - (y - town) * 1.4) }
        let hills = 0.56 - 0.08 * sin(x * 2.1 + 0.4) - 0.03 * sin(x * 5.3)
        if y > hills { return (.hills, 0.9 - (y - hills) * 2.5) }
        let sun = hypot(x - 1.42, y - 0.44)
        return (.sky, max(0.12 + y * 1.2, 1.25 - sun * 1.6, sun < 0.07 ? 1 : 0))
    }

    private struct Plant: Sendable {
        let x: Double
        let height: Double
        let leaves: [(stalk: (Double, Double), tip: (Double, Double), shape: Shape)]

        init(_ x: Double, _ height: Double) {
            self.x = x
            self.height = height
            leaves = (0..<9).map { number in
                let angle = (Double(number) - 4) * 0.34 - Double.pi / 2
                let length = height * (number.isMultiple(of: 2) ? 1 : 0.78)
                let (stalk, tip) = ((x, 0.8), (x + cos(angle) * length, 0.8 + sin(angle) * length))
                return (stalk, tip, .leaf(stalk, tip, bulge: 0.16))
            }
        }

        func seen(_ x: Double, _ y: Double) -> (Part, light: Double)? {
            guard abs(x - self.x) < height + 0.1, y > 0.8 - height - 0.02 else { return nil }
            let half = 0.1 - max(y - 0.82, 0) * 0.22
            if y > 0.8, abs(x - self.x) < (y < 0.84 ? 0.115 : half) {
                return (.pots, 0.55 + (x - self.x) * 4 - (y < 0.84 ? 0 : 0.12))
            }
            for leaf in leaves where leaf.shape.distance(x, y) < 0 {
                let along = hypot(x - leaf.stalk.0, y - leaf.stalk.1) / height
                return (.leaves, 0.2 + along * 0.5 + (leaf.tip.0 - self.x) * 0.6)
            }
            return nil
        }
    }

    private static let plants = [Plant(0.34, 0.34), Plant(0.72, 0.22), Plant(1.74, 0.42), Plant(1.28, 0.18)]
}
#endif
