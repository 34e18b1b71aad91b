/// The colours that do not depend on a brand (IFTTT dossier 4.3), with those changed that fall below WCAG 2.2 AA.
public struct ConnectButtonColors: Sendable, Hashable, Encodable {
    /// Light or dark: what lies around the button.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        case light
        case dark
    }

    /// A colour for each scheme.
    public struct Pair: Sendable, Hashable, Encodable {
        public let light: ConnectButtonColor
        public let dark: ConnectButtonColor

        init(_ light: String, _ dark: String) {
            self.light = ConnectButtonColor(light)
            self.dark = ConnectButtonColor(dark)
        }

        public subscript(scheme: Scheme) -> ConnectButtonColor { scheme == .light ? light : dark }
    }

    public let pill = Pair("#222222", "#FFFFFF")
    public let pillInk = Pair("#FFFFFF", "#000000")
    /// Follows the button's scheme, not the system's (W17).
    public let progress = Pair("#414141", "#CCCCCC")
    /// The dossier's `#999999` has 2.85 : 1 on white.
    public let footer = Pair("#666666", "#A6A6A6")
    /// The dossier's `#FF0000` has 4.0 : 1 on white.
    public let error = Pair("#B3001B", "#FF9A94")
    public let emailTrack = Pair("#CCCCCC", "#CCCCCC")
    /// Darker than the dossier's `#555555` and `#666666`, of which the second has 3.6 : 1.
    public let emailInk = Pair("#333333", "#333333")
    public let emailPlaceholder = Pair("#4D4D4D", "#4D4D4D")
    /// The ring around what has the focus: 3 : 1 on the page and on the pill alike.
    public let focus = Pair("#1A73E8", "#1A73E8")
    public let about = Pair("#000000", "#000000")
    public let aboutInk = Pair("#FFFFFF", "#FFFFFF")
    /// The dossier's `#666666` has 3.7 : 1 on black.
    public let aboutSecondary = Pair("#A6A6A6", "#A6A6A6")
    /// White at 14 %, on black.
    public let aboutManage = Pair("#242424", "#242424")

    /// The one set of colours.
    public static let standard = ConnectButtonColors()
}
