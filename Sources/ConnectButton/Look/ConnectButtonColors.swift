/// The colours that do not depend on a brand (IFTTT dossier 4.3), with those changed that fall below WCAG 2.2 AA.
struct ConnectButtonColors: Sendable, Hashable, Encodable {
    /// The colour scheme around the button.
    enum Scheme: String, Sendable, Hashable, CaseIterable {
        case light
        case dark
    }

    /// A colour for each scheme.
    struct Pair: Sendable, Hashable, Encodable {
        let light: ConnectButtonColor
        let dark: ConnectButtonColor

        init(_ light: String, _ dark: String) {
            self.light = ConnectButtonColor(light)
            self.dark = ConnectButtonColor(dark)
        }

        subscript(scheme: Scheme) -> ConnectButtonColor { scheme == .light ? light : dark }
    }

    let pill = Pair("#222222", "#FFFFFF")
    let pillInk = Pair("#FFFFFF", "#000000")
    /// Follows the button's scheme, not the system's (W17).
    let progress = Pair("#414141", "#CCCCCC")
    /// The dossier's `#999999` has 2.85 : 1 on white.
    let footer = Pair("#666666", "#A6A6A6")
    /// The dossier's `#FF0000` has 4.0 : 1 on white.
    let error = Pair("#B3001B", "#FF9A94")
    let emailTrack = Pair("#CCCCCC", "#CCCCCC")
    /// Darker than the dossier's `#555555` and `#666666`, of which the second has 3.6 : 1.
    let emailInk = Pair("#333333", "#333333")
    let emailPlaceholder = Pair("#4D4D4D", "#4D4D4D")
    /// The focus ring: 3 : 1 on the page and on the pill.
    let focus = Pair("#1A73E8", "#1A73E8")
    let about = Pair("#000000", "#000000")
    let aboutInk = Pair("#FFFFFF", "#FFFFFF")
    /// The dossier's `#666666` has 3.7 : 1 on black.
    let aboutSecondary = Pair("#A6A6A6", "#A6A6A6")
    /// White at 14 %, on black.
    let aboutManage = Pair("#242424", "#242424")

    /// The standard colours.
    static let standard = ConnectButtonColors()
}
