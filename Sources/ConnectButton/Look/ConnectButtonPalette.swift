/// The colours that depend on a brand, for one colour scheme.
///
/// The arithmetic is the dossier's (4.3), corrected where it falls below WCAG 2.2 AA: the knob is adjusted until its contrast with
/// the track is 3 : 1 (1.4.11), ink is black or white, whichever has more contrast, and a progress bar under text keeps the
/// text at 4.5 : 1 (1.4.3). The dossier's white icon on a white knob, for a white brand, does not occur.
struct ConnectButtonPalette: Sendable, Hashable {
    /// The pill while the user is at the service.
    let ground: ConnectButtonColor
    /// Text on ``ground`` and on ``progress``.
    let ink: ConnectButtonColor
    /// The progress bar on ``ground``.
    let progress: ConnectButtonColor
    /// The knob on the pill.
    let knob: ConnectButtonColor
    /// The icon on the knob.
    let knobInk: ConnectButtonColor
    /// The button that confirms the email address.
    let confirm: ConnectButtonColor
    /// The same while pressed.
    let confirmPressed: ConnectButtonColor
    /// The glyph on both.
    let confirmInk: ConnectButtonColor

    /// The colour of a button whose services are not known (4.3).
    static let fallback = ConnectButtonColor("#0099FF")

    /// The palette of a brand.
    ///
    /// - Parameters:
    ///   - brand: The connecting service's colour.
    ///   - scheme: Light or dark.
    init(_ brand: ConnectButtonColor, scheme: ConnectButtonColors.Scheme) {
        let colors = ConnectButtonColors.standard
        ground = brand
        ink = Self.ink(on: brand)
        progress = Self.progress(on: brand, under: ink)
        knob = Self.visible(Self.knob(brand, on: colors.pill[scheme]), on: colors.pill[scheme])
        knobInk = Self.ink(on: knob)
        confirm = brand
        confirmPressed = brand.contrasting(up: 0.3, down: 0.15)
        confirmInk = ink
    }

    /// The knob's colour by the dossier's arithmetic alone.
    ///
    /// - Parameters:
    ///   - brand: The connecting service's colour.
    ///   - track: The colour under the knob.
    static func knob(_ brand: ConnectButtonColor, on track: ConnectButtonColor) -> ConnectButtonColor {
        brand.isTooClose(to: track) ? brand.contrasting(up: 0.25, down: 0.15) : brand
    }

    /// Black or white, whichever has the better contrast; that is always 4.5 : 1 or more.
    static func ink(on ground: ConnectButtonColor) -> ConnectButtonColor {
        ground.contrast(with: .white) >= ground.contrast(with: .black) ? .white : .black
    }

    /// A colour with a contrast of 3 : 1 to its ground: the first of twenty mixtures with white, on a dark ground, or black.
    static func visible(_ color: ConnectButtonColor, on ground: ConnectButtonColor) -> ConnectButtonColor {
        let end: ConnectButtonColor = ground.luminance < 0.18 ? .white : .black
        for step in 0..<20 {
            let mixture = color.mixed(with: end, share: Double(step) / 20)
            if mixture.contrast(with: ground) >= 3 { return mixture }
        }
        return end
    }

    /// The dossier's progress bar; where text on it is unreadable, one with a quarter of the opposite colour.
    private static func progress(on ground: ConnectButtonColor, under ink: ConnectButtonColor) -> ConnectButtonColor {
        let progress = ground.contrasting()
        if progress.contrast(with: ink) >= 4.5 { return progress }
        return ground.mixed(with: ink == .white ? .black : .white, share: 0.25)
    }
}
