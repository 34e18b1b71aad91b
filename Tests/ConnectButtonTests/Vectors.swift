import Foundation
import Testing

/// Cases that both renderings are held to; `Tests/Browser` reads the same file.
struct Vectors: Decodable {
    struct Palette: Decodable, Sendable, CustomTestStringConvertible {
        let brand: String
        let progress: String
        let knobOnLight: String
        let knobOnDark: String
        var testDescription: String { brand }
    }

    struct Drag: Decodable, Sendable {
        let x: Double
        let grip: Double
        let way: Double
        let isOn: Bool
        let isRightToLeft: Bool
        let fraction: Double
    }

    struct Release: Decodable, Sendable {
        let isOn: Bool
        let fraction: Double
        let velocity: Double
        let completes: Bool
    }

    /// A place of the spring, integrated from mass, stiffness and damping.
    struct Shake: Decodable, Sendable {
        let seconds: Double
        let points: Double
    }

    struct Curve: Decodable, Sendable {
        let curve: String
        let time: Double
        let progress: Double
    }

    struct Arrival: Decodable, Sendable {
        let from: String
        let to: String
        let celebrates: Bool
    }

    /// A change of steps, and its timeline; nil for one in which everything fades.
    struct Change: Decodable, Sendable {
        let from: String
        let to: String
        let timeline: String?
    }

    struct Dot: Decodable, Sendable {
        let seconds: Double
        let x: Double
        let y: Double
    }

    let palette: [Palette]
    let colors: [[String]]
    let drags: [Drag]
    let releases: [Release]
    let shakes: [Shake]
    let curves: [Curve]
    let arrivals: [Arrival]
    let dots: [Dot]
    let changes: [Change]
    let locales: [[String?]]

    static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    static func read() throws -> Vectors {
        try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: folder.appending(path: "Vectors.json")))
    }
}
