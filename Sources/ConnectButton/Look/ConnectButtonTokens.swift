#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Everything that both renderings draw by. The web component carries these bytes; a test holds the two copies together.
public struct ConnectButtonTokens: Sendable, Hashable, Encodable {
    public let geometry = ConnectButtonGeometry.standard
    public let type = ConnectButtonType.standard
    public let colors = ConnectButtonColors.standard
    public let motion = ConnectButtonMotion.standard
    public let looks = ConnectButtonLook.all

    /// The one set of tokens.
    public static let standard = ConnectButtonTokens()

    /// The tokens as JSON with sorted keys.
    public func json() throws -> String {
        try Self.text(self)
    }

    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
