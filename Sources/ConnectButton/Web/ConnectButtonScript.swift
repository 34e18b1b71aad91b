import HandshakeEmbeddedFiles
import Translations

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The web component `<connect-button>`: a JavaScript module without dependencies.
public enum ConnectButtonScript {
    /// The module's bytes, minified; serve them as `text/javascript`.
    public static let javaScript = Data(.connectButtonScript)

    /// Rules for the page's style sheet that reserve the button's space. They apply until the module is loaded, so that
    /// nothing moves.
    public static var reservation: String {
        let (geometry, type) = (ConnectButtonGeometry.standard, ConnectButtonType.standard)
        let footer = type.footer * type.footerLineHeight * geometry.footerLines
        return """
            connect-button:not(:defined) {
              display: block; inline-size: 100%; margin-inline: auto;
              max-inline-size: calc(\(number(geometry.maximumWidth)) * max(1px, .0625rem));
              block-size: calc(\(number(geometry.height + geometry.footerGap + footer)) * max(1px, .0625rem)) }
            connect-button[footer=none]:not(:defined) { block-size: calc(\(number(geometry.height)) * max(1px, .0625rem)) }

            """
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String((value * 10).rounded() / 10)
    }

    /// The words and tokens that the module embeds, between its two marks.
    static func embedded() throws -> String {
        let words = Dictionary(
            uniqueKeysWithValues: ConnectButtonLocale.allCases.map { locale in
                (locale.tag, ConnectButtonWords.carried.map { $0.text(in: locale) })
            })
        let names = ConnectButtonWords.carried.map { $0.rawValue }
        return """
            const TOKENS = \(try ConnectButtonTokens.standard.json())
            const WORD_NAMES = \(try ConnectButtonTokens.text(names))
            const WORDS = \(try ConnectButtonTokens.text(words))

            """
    }
}
