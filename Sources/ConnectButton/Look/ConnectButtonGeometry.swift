/// Lengths of the button, in points, at the default text size (IFTTT dossier 4.1).
///
/// Height and width follow the SDK's public description, 70 and 329; other lengths are derived from its code's 72.
struct ConnectButtonGeometry: Sendable, Hashable, Encodable {
    /// The pill's height; with larger text it grows.
    let height = 70.0
    /// The maximum width. In less room the button fills it; in more, it is centred.
    let maximumWidth = 329.0
    let cornerRadius = 35.0
    /// From the pill's edge to the knob.
    let knobInset = 4.0
    let knobDiameter = 62.0
    let icon = 32.0
    let labelInset = 35.0
    /// The label's inset on the side where the knob rests.
    let labelInsetAtKnob = 80.0
    let emailInsetTop = 4.0
    let emailInset = 35.0
    let emailInsetAtConfirm = 70.0
    let confirm = 70.0
    let confirmGlyphWidth = 9.0
    let confirmGlyphHeight = 16.0
    let checkMark = 42.0
    let checkMarkLine = 3.0
    let checkMarkArm = 14.0
    /// From the pill to the footer.
    let footerGap = 15.0
    /// The footer's height in lines. The dossier reserves 1.1, which a translated error with its retry exceeds; three keep
    /// the page from moving, in every language and on a screen of 320 points (MO24).
    let footerLines = 3.0
    let knobShadowRadius = 6.0
    let knobShadowOffset = 3.0
    let knobShadowOpacity = 0.25

    /// The standard lengths.
    static let standard = ConnectButtonGeometry()
}

/// Sizes of text, in points at the default text size (IFTTT dossier 4.2). All of them follow the user's text size (W3).
struct ConnectButtonType: Sendable, Hashable, Encodable {
    let label = 22.0
    /// The minimum size to which a long label shrinks before it wraps (F056, W3).
    let labelMinimum = 15.0
    let email = 18.0
    let footer = 14.0
    let footerLineHeight = 1.4
    let aboutTitle = 28.0
    let aboutRow = 16.0
    let aboutManage = 20.0
    /// Families for the web, where Avenir Next may be missing.
    let family = "\"Avenir Next\", Avenir, \"Nunito Sans\", Montserrat, system-ui, \"Noto Sans\", sans-serif"
    let bold = 700
    let demiBold = 600
    let heavy = 800

    /// The standard sizes.
    static let standard = ConnectButtonType()
}
