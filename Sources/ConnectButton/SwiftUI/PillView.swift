#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The pill: background, progress, label, knob, email field, choices, check mark.
///
/// Animations use the shared arithmetic of ``EmailMorph``, ``CheckMark``, ``RefusalShake`` and ``KnobDrag``; with Reduce
/// Motion, changes appear immediately.
struct PillView: View {
    let state: ConnectButtonState
    let face: ConnectButtonFace
    let unit: Double
    let suggestedEmail: String
    let send: @MainActor (ConnectButtonEvent) -> Void

    /// The progress of a drag, or `nil`.
    @State private var dragged: Double?
    /// The progress of the transition into the email field.
    @State private var morph: Double
    /// Increases by one with every refused address.
    @State private var shakes = 0.0
    /// The step shown now: an animation's completion applies to this one, not to the one it started with.
    @State private var step: ConnectButtonState.Step
    @State private var isCelebrating = false
    @State private var isPressed = false
    @Environment(\.colorScheme) private var colorScheme
    @Environment(\.layoutDirection) private var layoutDirection
    @Environment(\.accessibilityReduceMotion) private var reducesMotion

    private let geometry = ConnectButtonGeometry.standard
    private let motion = ConnectButtonMotion.standard
    private let colors = ConnectButtonColors.standard
    private static let space = "pill"

    init(
        state: ConnectButtonState, face: ConnectButtonFace, unit: Double, suggestedEmail: String,
        send: @escaping @MainActor (ConnectButtonEvent) -> Void
    ) {
        self.state = state
        self.face = face
        self.unit = unit
        self.suggestedEmail = suggestedEmail
        self.send = send
        // A field that is visible from the start has no transition.
        _morph = State(wrappedValue: ConnectButtonLook(state.step).input == .email ? 1 : 0)
        _step = State(wrappedValue: state.step)
    }

    private var look: ConnectButtonLook { ConnectButtonLook(state.step) }
    private var scheme: ConnectButtonColors.Scheme { ConnectButtonColors.Scheme(colorScheme) }
    private var isMirrored: Bool { layoutDirection == .rightToLeft }
    private var palette: ConnectButtonPalette {
        ConnectButtonPalette(state.connection?.connecting.brand ?? ConnectButtonPalette.fallback, scheme: scheme)
    }
    var body: some View {
        // Long labels make the pill higher: they are measured in a hidden view.
        measure
            .frame(maxWidth: .infinity, minHeight: geometry.height * unit)
            .fixedSize(horizontal: false, vertical: true)
            .hidden()
            .accessibilityHidden(true)
            .overlay { GeometryReader { proxy in drawn(in: proxy.size.width) } }
            .opacity(isPressed ? motion.pressOpacity : 1)
            .animation(reducesMotion ? nil : .easeInOut(duration: motion.press), value: isPressed)
            .modifier(Shaking(shakes: shakes, unit: unit))
            .onChange(of: state.step) { before, now in arrive(from: before, at: now) }
            .onChange(of: state.refusals) { before, now in if now > before { refuse() } }
    }

    @ViewBuilder private var measure: some View {
        switch look.input {
        case .email: Color.black
        case .choice:
            HStack(spacing: geometry.knobInset * unit) {
                ForEach(face.choices, id: \.kind) { choice in
                    label(choice.title, ink: ink, insets: geometry.knobInset).frame(maxWidth: .infinity)
                }
            }
            .padding(2 * geometry.knobInset * unit)
        case .none, .turnOn, .turnOff, .proceed, .setUp: label(face.label)
        }
    }

    private func drawn(in width: Double) -> some View {
        let pill = RoundedRectangle(cornerRadius: geometry.cornerRadius * unit)
        return ZStack {
            pill.fill(Color(ground))
            pill.fill(Color(colors.emailTrack[scheme])).opacity(morph)
            ProgressBar(
                progress: state.progress, undo: state.undo, fill: look.fill ?? 0, label: face.label,
                color: Color(progressColor), reducesMotion: reducesMotion)
            content.opacity(isCelebrating ? 0 : 1)
            if dragged != nil, state.next == .email, look.input != .email {
                emailField.allowsHitTesting(false).accessibilityHidden(true)
            }
            if look.knob != .hidden || look.input == .email { knob(way: way(in: width)) }
            if isCelebrating { checkMark(way: way(in: width)) }
        }
        .coordinateSpace(.named(Self.space))
        .clipShape(pill)
    }

    // MARK: Transitions

    private func arrive(from before: ConnectButtonState.Step, at now: ConnectButtonState.Step) {
        step = now
        isCelebrating = !reducesMotion && ConnectButtonLook.celebrates(from: before, to: now)
        withAnimation(reducesMotion ? nil : .easeInOut(duration: motion.emailMorph)) {
            morph = now == .email ? 1 : 0
        }
    }

    private func refuse() {
        guard state.step == .email, !reducesMotion else { return }
        withAnimation(.linear(duration: RefusalShake.standard.duration)) { shakes += 1 }
    }

    private func tap() { look.input.event.map(send) }

    // MARK: Colours

    private var ground: ConnectButtonColor {
        if isCelebrating { return palette.ground }
        return look.ground == .brand ? palette.ground : colors.pill[scheme]
    }

    private var ink: ConnectButtonColor { look.ground == .brand ? palette.ink : colors.pillInk[scheme] }

    private var progressColor: ConnectButtonColor {
        look.ground == .brand ? palette.progress : colors.progress[scheme]
    }

    // MARK: Parts

    @ViewBuilder private var content: some View {
        switch look.input {
        case .email: emailField
        case .choice: choices
        case .none, .turnOn, .turnOff, .proceed, .setUp: control
        }
    }

    /// The email field; visible while a finger drags towards it.
    private var emailField: some View {
        EmailView(
            face: face, failure: state.failure, unit: unit, palette: palette,
            email: state.email.flatMap { $0.isEmpty ? nil : $0 } ?? suggestedEmail, isReady: look.input == .email,
            send: send
        )
        .modifier(FieldFading(fraction: morph))
    }

    /// The two choices; the one that changes nothing is prominent, as in the web component.
    private var choices: some View {
        HStack(spacing: geometry.knobInset * unit) {
            ForEach(face.choices, id: \.kind) { choice in
                let isKept = choice.kind == .keep
                Button {
                    choice.kind.event.map(send)
                } label: {
                    label(choice.title, ink: isKept ? colors.pill[scheme] : ink, insets: geometry.knobInset)
                        .frame(maxWidth: .infinity, maxHeight: .infinity)
                        .background(Color(isKept ? ink : progressColor), in: Capsule())
                }
                .buttonStyle(PressedStyle())
            }
        }
        .padding(geometry.knobInset * unit)
        .accessibilityElement(children: .contain)
        .accessibilityLabel(Text(verbatim: face.label))
        .accessibilityAction(.escape) { send(.keep) }
    }

    /// A switch to assistive technology; a button while waiting for the service, and for set-up.
    @ViewBuilder private var control: some View {
        let button = Button(action: tap) {
            ZStack {
                label(face.label).opacity(1 - (dragged ?? 0))
                    .modifier(Breathing(isOn: look.pulses && !reducesMotion))
                label(face.toggled).opacity(
                    dragged.map { max(0, ($0 - motion.labelInFrom) / (1 - motion.labelInFrom)) } ?? 0)
            }
            .frame(maxWidth: .infinity, maxHeight: .infinity)
            .contentShape(Capsule())
        }
        .buttonStyle(PressedStyle(isPressed: $isPressed))
        if look.input == .proceed || look.input == .setUp {
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

    private func label(_ text: String) -> some View {
        label(text, ink: ink, insets: look.knob == .hidden ? geometry.labelInset : geometry.labelInsetAtKnob)
    }

    private func label(_ text: String, ink: ConnectButtonColor, insets: Double) -> some View {
        let type = ConnectButtonType.standard
        // A long label shrinks, and then wraps (F056, W3).
        return ViewThatFits(in: .horizontal) {
            ForEach(Self.labelSizes, id: \.self) { size in line(text, size: size).lineLimit(1) }
            line(text, size: type.labelMinimum)
        }
        .foregroundStyle(Color(ink))
        .multilineTextAlignment(.center)
        .padding(.horizontal, insets * unit)
        .padding(.vertical, geometry.knobInset * unit)
    }

    private static let labelSizes: [Double] = {
        let type = ConnectButtonType.standard
        return (0...4).map { type.label - Double($0) * (type.label - type.labelMinimum) / 4 }
    }()

    private func line(_ text: String, size: Double) -> some View {
        Text(verbatim: text).font(.custom("AvenirNext-Bold", fixedSize: size * unit))
    }

    // MARK: The knob

    /// The knob's travel, in points to the right.
    private func way(in width: Double) -> Double {
        (isMirrored ? -1 : 1) * (width - (geometry.knobDiameter + 2 * geometry.knobInset) * unit)
    }

    /// A drag that begins at the knob moves it; one that begins beside it scrolls the page.
    private func knob(way: Double) -> some View {
        let isOn = look.knob == .end
        let place = isCelebrating ? 0.5 : dragged.map { isOn ? 1 - $0 : $0 } ?? (isOn ? 1 : 0)
        return Button(action: tap) {
            KnobView(service: state.connection?.connecting, palette: palette, unit: unit, fraction: morph)
        }
        .buttonStyle(PressedStyle(isPressed: $isPressed))
        .highPriorityGesture(drag(in: abs(way) + (geometry.knobDiameter + 2 * geometry.knobInset) * unit))
        .allowsHitTesting(look.knob != .hidden && !isCelebrating)
        .frame(maxWidth: .infinity, alignment: .leading)
        .padding(geometry.knobInset * unit)
        .offset(x: way * (look.knob == .hidden ? morph : place))
        .opacity(isCelebrating ? 0 : 1)
        .accessibilityHidden(true)
    }

    private func drag(in width: Double) -> some Gesture {
        let drag = KnobDrag(look.isOn ? .off : .on, width: width, isRightToLeft: isMirrored)
        return DragGesture(minimumDistance: motion.slop, coordinateSpace: .named(Self.space))
            .onChanged { value in
                guard look.input != .setUp else { return }
                scrub(to: drag.fraction(at: value.location.x))
            }
            .onEnded { value in
                guard let fraction = dragged else { return }
                release(drag.release(fraction: fraction, velocity: drag.velocity(value.velocity.width)))
            }
    }

    /// Shows a partial change, including the transition to the email field where that is the next step.
    private func scrub(to fraction: Double) {
        dragged = fraction
        if state.next == .email { morph = fraction }
    }

    /// Animates to the end that the release decides.
    private func release(_ release: KnobDrag.Release) {
        let duration = state.next == .email ? motion.emailMorph : motion.change
        let spring = Animation.interpolatingSpring(
            duration: duration, bounce: 0, initialVelocity: release.velocity)
        withAnimation(reducesMotion ? nil : spring) {
            scrub(to: release.completes ? 1 : 0)
        } completion: {
            dragged = nil
            morph = step == .email ? 1 : 0
        }
        if release.completes { tap() }
    }

    /// Afterwards, the knob glides from the centre to its end, and the mark moves with it and fades.
    private func checkMark(way: Double) -> some View {
        CheckMarkView(ink: palette.ink, unit: unit) {
            withAnimation(.easeInOut(duration: motion.change)) { isCelebrating = false }
        }
        .transition(.asymmetric(insertion: .identity, removal: .offset(x: way / 2).combined(with: .opacity)))
        .allowsHitTesting(false)
        .accessibilityHidden(true)
    }
}
#endif
