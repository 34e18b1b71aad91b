#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The design tokens of both renderings. The web component embeds these bytes; a test compares the two copies.
struct ConnectButtonTokens: Sendable, Hashable, Encodable {
    let geometry = ConnectButtonGeometry.standard
    let type = ConnectButtonType.standard
    let colors = ConnectButtonColors.standard
    let motion = ConnectButtonMotion.standard
    let looks = ConnectButtonLook.all
    let timelines = Dictionary(uniqueKeysWithValues: Timeline.Name.allCases.map { ($0.rawValue, $0.timeline) })

    /// The standard tokens.
    static let standard = ConnectButtonTokens()

    /// The tokens as JSON with sorted keys.
    func json() throws -> String {
        try Self.text(self)
    }

    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
