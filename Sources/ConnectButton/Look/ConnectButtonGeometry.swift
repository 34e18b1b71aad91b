/// Lengths of the button, in points, at the default text size (IFTTT dossier 4.1).
///
/// Height and width are those of the SDK's public description, 70 and 329; what its code derives from its own 72 follows.
public struct ConnectButtonGeometry: Sendable, Hashable, Encodable {
    /// The pill's height; with larger text it grows.
    public let height = 70.0
    /// The greatest width. In less room the button fills what there is, in more it is centred.
    public let maximumWidth = 329.0
    public let cornerRadius = 35.0
    /// From the pill's edge to the knob.
    public let knobInset = 4.0
    public let knobDiameter = 62.0
    public let icon = 32.0
    public let labelInset = 35.0
    /// The label's inset on the side where the knob rests.
    public let labelInsetAtKnob = 80.0
    public let emailInsetTop = 4.0
    public let emailInset = 35.0
    public let emailInsetAtConfirm = 70.0
    public let confirm = 70.0
    public let confirmGlyphWidth = 9.0
    public let confirmGlyphHeight = 16.0
    public let checkMark = 42.0
    public let checkMarkLine = 3.0
    public let checkMarkArm = 14.0
    /// From the pill to the footer.
    public let footerGap = 15.0
    /// The footer's height in its lines. The dossier reserves 1.1, which a translated reason with its retry exceeds; two keep
    /// the page still.
    public let footerLines = 2.0
    public let knobShadowRadius = 6.0
    public let knobShadowOffset = 3.0
    public let knobShadowOpacity = 0.25

    /// The one set of lengths.
    public static let standard = ConnectButtonGeometry()
}

/// Sizes of text, in points at the default text size (IFTTT dossier 4.2). All of them follow the user's text size (W3).
public struct ConnectButtonType: Sendable, Hashable, Encodable {
    public let label = 22.0
    /// The least size to which a long label shrinks; after that it wraps (F056, W3).
    public let labelMinimum = 15.0
    public let email = 18.0
    public let footer = 14.0
    public let footerLineHeight = 1.4
    public let aboutTitle = 28.0
    public let aboutRow = 16.0
    public let aboutManage = 20.0
    /// Families for the web, where Avenir Next may be missing.
    public let family = "\"Avenir Next\", Avenir, \"Nunito Sans\", Montserrat, system-ui, \"Noto Sans\", sans-serif"
    public let bold = 700
    public let demiBold = 600
    public let heavy = 800

    /// The one set of sizes.
    public static let standard = ConnectButtonType()
}
