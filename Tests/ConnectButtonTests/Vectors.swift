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
        let width: Double
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

    let palette: [Palette]
    let colors: [[String]]
    let drags: [Drag]
    let releases: [Release]
    let locales: [[String?]]

    static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    static func read() throws -> Vectors {
        try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: folder.appending(path: "Vectors.json")))
    }
}
