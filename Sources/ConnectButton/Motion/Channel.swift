/// One animated property of one part of the button.
enum Channel: String, Sendable, Hashable, CaseIterable, Encodable {
    /// The knob's place: 0 at the start of the pill, 1 at its end.
    case knobPlace
    /// The opacity of the knob as a whole.
    case knob
    /// The knob's disc alone: without it, the knob has the colour of the ground.
    case disc
    /// The scale of the disc.
    case discScale
    /// The disc's side towards the text: 0 is square, 1 a half circle.
    case discRound
    case icon
    case shadow
    /// The place of the button that confirms the address, on the knob's way.
    case confirmPlace
    case confirmScale
    /// The confirm button's side towards the text: 0 is square, 1 a half circle.
    case confirmRound
    case confirm
    case field
    /// The grey ground of the email field.
    case emailGround
    /// The ground in the service's colour.
    case brandGround
    /// The two answers to the question whether to disconnect.
    case choices
    case label
    /// The label before.
    case leavingLabel
    /// The fraction of the pill that the progress bar covers.
    case fill
    /// The opacity of the progress bar.
    case bar
    /// The check mark as a whole.
    case mark
    /// The check mark's distance from the centre, as a part of the knob's way.
    case markPlace
    /// The scale of the check mark's ring.
    case ring
    /// The part of its path that the dot has flown.
    case dot
    /// The part of the tick that is drawn.
    case tick

    /// Whether it belongs to a label, whose change is a cross-fade.
    var isOfLabel: Bool { self == .label || self == .leavingLabel }

    /// Whether it belongs to the drawing of the check mark, which goes on while the mark fades.
    var isOfDrawing: Bool { [.ring, .dot, .tick].contains(self) }

    /// Whether a timeline may show it without a previous pose: the knob and the check mark appear where they were not.
    var appears: Bool { self == .knob || self == .mark || isOfDrawing }

    /// The opacity of the part that it belongs to; nil for a channel that is an opacity itself.
    var visibility: Channel? {
        switch self {
        case .knobPlace, .disc, .discScale, .discRound, .icon, .shadow: .knob
        case .confirmPlace, .confirmScale, .confirmRound: .confirm
        case .fill: .bar
        case .markPlace: .mark
        default: nil
        }
    }
}

/// The value of each channel at a moment: all that a rendering needs to draw it.
struct Pose: Sendable, Hashable {
    private var values: [Channel: Double] = [:]

    subscript(channel: Channel) -> Double {
        get { values[channel] ?? 0 }
        set { values[channel] = newValue }
    }

    /// A pose at rest.
    ///
    /// - Parameters:
    ///   - look: What is shown.
    ///   - hasBar: Whether the progress bar is shown.
    ///   - before: The pose before: what is hidden keeps its place, and a hidden bar its length.
    init(_ look: ConnectButtonLook, hasBar: Bool, after before: Pose? = nil) {
        switch look.knob {
        case .start: self[.knobPlace] = 0
        case .end: self[.knobPlace] = 1
        case .hidden: self[.knobPlace] = before?[.knobPlace] ?? 0
        }
        self[.knob] = look.knob == .hidden ? 0 : 1
        for channel in [Channel.disc, .discScale, .discRound, .icon, .shadow] { self[channel] = 1 }
        self[.confirmPlace] = 1
        self[.confirmScale] = 1
        self[.confirm] = look.input == .email ? 1 : 0
        self[.field] = self[.confirm]
        self[.emailGround] = look.ground == .email ? 1 : 0
        self[.brandGround] = look.ground == .brand ? 1 : 0
        self[.choices] = look.input == .choice ? 1 : 0
        self[.fill] = before?[.fill] ?? 0
        self[.bar] = hasBar ? 1 : 0
        for channel in [Channel.label, .ring] { self[channel] = 1 }
    }
}

extension Pose {
    /// The part of the bar's colour that is the service's. It changes with the ground, while no text is read (MO17).
    var tint: Double { min(max((self[.brandGround] - 0.15) / 0.7, 0), 1) }
}
