#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// One pose of the pill. From back to front: grounds, bar, labels, field, check mark, knob, answers, confirm button.
struct PillDrawing: View {
    let state: ConnectButtonState
    let face: ConnectButtonFace
    /// The answers: those of the question, which stay while they fade.
    let answers: [ConnectButtonFace.Action]
    let unit: Double
    let width: Double
    let stage: Stage
    let pose: Pose
    /// The opacity of what a press dims: the knob, or the label of a pill without one.
    let press: Double
    /// Whether the user can type; false while a finger drags towards the field.
    let isFieldReady: Bool
    /// Whether the field has the focus.
    let hasFocus: Bool
    let email: Binding<String>
    let isFieldFocused: FocusState<Bool>.Binding
    let finger: KnobGesture
    let tap: @MainActor () -> Void
    let pressed: @MainActor (Bool) -> Void
    let send: @MainActor (ConnectButtonEvent) -> Void

    @Environment(\.colorScheme) private var colorScheme
    @Environment(\.layoutDirection) private var layoutDirection
    @Environment(\.accessibilityReduceMotion) private var reducesMotion

    private let geometry = ConnectButtonGeometry.standard
    private let colors = ConnectButtonColors.standard

    private var look: ConnectButtonLook { ConnectButtonLook(state.step) }
    private var scheme: ConnectButtonColors.Scheme { ConnectButtonColors.Scheme(colorScheme) }
    private var palette: ConnectButtonPalette {
        ConnectButtonPalette(state.connection?.connecting.brand ?? ConnectButtonPalette.fallback, scheme: scheme)
    }

    /// The knob's way from the start to the end, in points to the right.
    private var way: Double {
        let turn: Double = layoutDirection == .rightToLeft ? -1 : 1
        return turn * (width - (geometry.knobDiameter + 2 * geometry.knobInset) * unit)
    }

    var body: some View {
        let pill = RoundedRectangle(cornerRadius: geometry.cornerRadius * unit)
        ZStack {
            // Nothing else is clipped: the knob's shadow falls beyond the pill.
            ZStack {
                pill.fill(Color(colors.pill[scheme]))
                pill.fill(Color(palette.ground)).opacity(pose[.brandGround])
                pill.fill(Color(colors.emailTrack[scheme])).opacity(pose[.emailGround])
                ProgressBar(state: state, face: face, pose: pose, color: Color(progressColor), width: width)
            }
            .clipShape(pill)
            control
            if pose[.field] > 0 || isFieldReady { field }
            if pose[.mark] > 0 { checkMark }
            if stage.needsKnob(in: pose) { knob }
            if pose[.choices] > 0 || look.input == .choice { choices }
            if pose[.confirm] > 0 || isFieldReady { confirm }
        }
        .overlay { if hasFocus, isFieldReady { focusRing } }
    }

    /// The ring around the whole pill, whose field has no edge of its own. As wide and as far away as the web component's.
    private var focusRing: some View {
        let (line, gap) = (3 * unit, 3 * unit)
        let outset = gap + line / 2
        return RoundedRectangle(cornerRadius: geometry.cornerRadius * unit + outset)
            .stroke(Color(colors.focus[scheme]), lineWidth: line)
            .padding(-outset)
            .allowsHitTesting(false)
            .accessibilityHidden(true)
    }

    private var progressColor: ConnectButtonColor {
        colors.progress[scheme].mixed(with: palette.progress, share: pose.tint)
    }

    // MARK: Labels

    /// A switch to assistive technology; a button while waiting for the service, and for set-up.
    @ViewBuilder private var control: some View {
        let button = Button(action: tap) {
            ZStack {
                label(stage.caption).opacity(pose[.label]).modifier(Breathing(isOn: look.pulses && !reducesMotion))
                if let leaving = stage.leaving { label(leaving).opacity(pose[.leavingLabel]) }
            }
            .opacity(look.knob == .hidden ? press : 1)
            .frame(maxWidth: .infinity, maxHeight: .infinity)
            .contentShape(Capsule())
        }
        .buttonStyle(PressedStyle(pressed: pressed))
        .allowsHitTesting(look.input != .email && look.input != .choice)
        if look.input == .email || look.input == .choice {
            button.accessibilityHidden(true)
        } else if look.input == .proceed || look.input == .setUp {
            button.accessibilityLabel(Text(verbatim: face.name))
        } else {
            button.disabled(look.input == .none)
                .accessibilityRepresentation {
                    Toggle(isOn: isOn) { Text(verbatim: face.name) }.disabled(look.input == .none)
                }
        }
    }

    private var isOn: Binding<Bool> {
        let (isOn, event, send) = (look.isOn, look.input.event, send)
        return Binding(get: { isOn }, set: { @MainActor _ in event.map(send) })
    }

    /// A label in the colour and at the place of its own step.
    private func label(_ caption: Stage.Caption) -> some View {
        let look = ConnectButtonLook(caption.step)
        return PillLabel(
            text: caption.text, ink: look.ground == .brand ? palette.ink : colors.pillInk[scheme],
            insets: look.knob == .hidden ? geometry.labelInset : geometry.labelInsetAtKnob, unit: unit)
    }

    // MARK: Parts

    private var field: some View {
        EmailField(
            face: face, isInvalid: state.failure?.kind == .invalidEmail, unit: unit, text: email,
            isFocused: isFieldFocused, send: send
        )
        .opacity(pose[.field])
        .allowsHitTesting(isFieldReady)
        .accessibilityHidden(!isFieldReady)
    }

    private var confirm: some View {
        ConfirmButton(face: face, palette: palette, unit: unit, round: pose[.confirmRound]) {
            send(.email(email.wrappedValue))
        }
        .scaleEffect(pose[.confirmScale])
        .offset(x: (pose[.confirmPlace] - 1) * way)
        .opacity(pose[.confirm])
        .frame(maxWidth: .infinity, alignment: .trailing)
        .allowsHitTesting(isFieldReady)
        .accessibilityHidden(!isFieldReady)
    }

    private var knob: some View {
        Button(action: tap) {
            KnobView(service: state.connection?.connecting, palette: palette, unit: unit, pose: pose).opacity(press)
        }
        .buttonStyle(PressedStyle(pressed: pressed))
        .modifier(finger)
        .allowsHitTesting(look.knob != .hidden)
        .frame(maxWidth: .infinity, alignment: .leading)
        .padding(geometry.knobInset * unit)
        .offset(x: pose[.knobPlace] * way)
        .opacity(pose[.knob])
        .accessibilityHidden(true)
    }

    private var checkMark: some View {
        CheckMarkView(ink: palette.ink, unit: unit, pose: pose)
            .offset(x: pose[.markPlace] * way)
            .opacity(pose[.mark])
            .allowsHitTesting(false)
            .accessibilityHidden(true)
    }

    /// The two answers; the one that changes nothing is prominent, as in the web component.
    private var choices: some View {
        HStack(spacing: geometry.knobInset * unit) {
            ForEach(answers, id: \.kind) { choice in
                let isKept = choice.kind == .keep
                PressedButton {
                    choice.kind.event.map(send)
                } label: {
                    PillLabel(
                        text: choice.title, ink: isKept ? colors.pill[scheme] : colors.pillInk[scheme],
                        insets: geometry.knobInset, unit: unit
                    )
                    .frame(maxWidth: .infinity, maxHeight: .infinity)
                    .background(
                        Color(isKept ? colors.pillInk[scheme] : colors.progress[scheme]), in: Capsule())
                }
            }
        }
        .padding(geometry.knobInset * unit)
        .opacity(pose[.choices])
        .allowsHitTesting(look.input == .choice)
        .accessibilityElement(children: .contain)
        .accessibilityLabel(Text(verbatim: face.name))
        .accessibilityAction(.escape) { send(.keep) }
        .accessibilityHidden(look.input != .choice)
    }
}
#endif
