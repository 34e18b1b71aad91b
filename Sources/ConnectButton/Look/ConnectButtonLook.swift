/// The appearance of a step: a row of the IFTTT dossier's table 4.4.
struct ConnectButtonLook: Sendable, Hashable, Encodable {
    /// The fill of the pill.
    enum Ground: String, Sendable, Hashable, Encodable {
        case pill
        case brand
        case email
    }

    /// Where the knob is.
    enum Knob: String, Sendable, Hashable, Encodable {
        case hidden
        case start
        case end
    }

    /// The input that the pill accepts.
    enum Input: String, Sendable, Hashable, Encodable {
        /// Nothing.
        case none
        /// A tap, a key or a drag turns on.
        case turnOn = "turn_on"
        /// A tap, a key or a drag turns off.
        case turnOff = "turn_off"
        /// An email address.
        case email
        /// A tap continues to the service.
        case proceed
        /// A tap opens the set-up.
        case setUp = "set_up"
        /// One of two answers.
        case choice
    }

    let ground: Ground
    let knob: Knob
    let input: Input
    /// Whether assistive technology announces "on".
    let isOn: Bool
    /// Whether the label pulses.
    let pulses: Bool
    /// How much of the pill the progress bar fills while waiting for the answer; nil for no bar.
    let fill: Double?

    init(
        _ ground: Ground, _ knob: Knob, _ input: Input, isOn: Bool = false, pulses: Bool = false, fill: Double? = nil
    ) {
        self.ground = ground
        self.knob = knob
        self.input = input
        self.isOn = isOn
        self.pulses = pulses
        self.fill = fill
    }

    /// The appearance of a step.
    ///
    /// - Parameter step: A row of table 4.4.
    init(_ step: ConnectButtonState.Step) {
        self =
            switch step {
            case .hidden: ConnectButtonLook(.pill, .hidden, .none)
            case .loading: ConnectButtonLook(.pill, .hidden, .none, pulses: true)
            case .loadingFailed: ConnectButtonLook(.pill, .hidden, .none)
            case .connect: ConnectButtonLook(.pill, .start, .turnOn)
            case .email: ConnectButtonLook(.email, .hidden, .email)
            case .verifying: ConnectButtonLook(.pill, .hidden, .none, fill: 0.5)
            case .creatingAccount: ConnectButtonLook(.pill, .hidden, .none, fill: 0.75)
            case .goingToService: ConnectButtonLook(.brand, .hidden, .proceed, fill: 0.9)
            case .connecting: ConnectButtonLook(.brand, .hidden, .none, fill: 0.75)
            case .connected: ConnectButtonLook(.pill, .end, .turnOff, isOn: true)
            case .pending: ConnectButtonLook(.pill, .end, .setUp, isOn: true)
            case .confirmDisconnect: ConnectButtonLook(.pill, .hidden, .choice, isOn: true)
            case .disconnecting: ConnectButtonLook(.pill, .hidden, .none, fill: 0.75)
            // The notice does not prevent turning it on again.
            case .disconnected: ConnectButtonLook(.pill, .hidden, .turnOn)
            }
    }

    /// The appearance of every step, by its name on the wire.
    static let all: [String: ConnectButtonLook] = Dictionary(
        uniqueKeysWithValues: ConnectButtonState.Step.allCases.map { ($0.rawValue, ConnectButtonLook($0)) })
}
