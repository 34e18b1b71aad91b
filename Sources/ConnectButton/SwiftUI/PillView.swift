#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The pill: it feeds a ``Stage`` with what is to be shown and with the finger, and draws the stage's pose.
///
/// All motion is the stage's: the view animates nothing by itself but the press and the shake.
struct PillView: View {
    let state: ConnectButtonState
    let face: ConnectButtonFace
    let unit: Double
    let suggestedEmail: String
    let send: @MainActor (ConnectButtonEvent) -> Void

    @State private var stage: Stage
    /// Whether the pose changes with time.
    @State private var isMoving = false
    /// The text in the email field.
    @State private var email = ""
    /// Increases by one with every refused address.
    @State private var shakes = 0.0
    @State private var press = Press()
    @State private var player = PressPlayer()
    /// The opacity of what a press dims.
    @State private var pressOpacity = 1.0
    @State private var answers: [ConnectButtonFace.Action]
    @FocusState private var isFieldFocused: Bool
    @Environment(\.layoutDirection) private var layoutDirection
    @Environment(\.accessibilityReduceMotion) private var reducesMotion

    private let geometry = ConnectButtonGeometry.standard
    private let motion = ConnectButtonMotion.standard
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
        // What is visible from the start has no transition.
        _stage = State(wrappedValue: Stage(Stage.Scene(state, face: face), at: Self.now))
        _answers = State(wrappedValue: face.choices)
    }

    private static var now: Double { Date.now.timeIntervalSinceReferenceDate }

    private var look: ConnectButtonLook { ConnectButtonLook(state.step) }
    private var isMirrored: Bool { layoutDirection == .rightToLeft }
    private var suggestion: String { state.email.flatMap { $0.isEmpty ? nil : $0 } ?? suggestedEmail }

    var body: some View {
        // Long labels make the pill higher: they are measured in a hidden view.
        PillMeasure(face: face, look: look, unit: unit)
            .frame(maxWidth: .infinity, minHeight: geometry.height * unit)
            .fixedSize(horizontal: false, vertical: true)
            .hidden()
            .accessibilityHidden(true)
            .overlay { GeometryReader { proxy in moving(in: proxy.size.width) } }
            .modifier(Shaking(shakes: shakes, unit: unit))
            .onAppear { enter() }
            .onChange(of: Stage.Scene(state, face: face)) { _, scene in show(scene) }
            .onChange(of: reducesMotion, initial: true) { _, now in stage.reducesMotion = now }
            .onChange(of: state.refusals) { before, now in if now > before { refuse() } }
            .task(id: stage.end) { await settle() }
    }

    private func moving(in width: Double) -> some View {
        TimelineView(.animation(paused: !isMoving)) { context in
            PillDrawing(
                state: state, face: face, answers: answers, unit: unit, width: width, stage: stage,
                pose: stage.pose(at: context.date.timeIntervalSinceReferenceDate), press: pressOpacity,
                isFieldReady: look.input == .email, hasFocus: isFieldFocused, email: $email,
                isFieldFocused: $isFieldFocused, finger: finger(in: width), tap: tap, pressed: pressed, send: send)
        }
        .coordinateSpace(.named(Self.space))
    }

    // MARK: Changes

    private func show(_ scene: Stage.Scene) {
        if scene.look.input == .email, stage.scene.look.input != .email { enter() }
        if !face.choices.isEmpty { answers = face.choices }
        stage.show(scene, at: Self.now)
        if scene.look.knob != .hidden { email = "" }
    }

    /// Fills the field, and gives it the focus only when it is empty: a prefilled field does not raise the keyboard (4.5).
    private func enter() {
        guard look.input == .email else { return }
        if email.isEmpty { email = suggestion }
        isFieldFocused = email.isEmpty
    }

    /// Draws frames until everything is at rest.
    private func settle() async {
        let rest = stage.end - Self.now
        guard rest > 0 else { return stage.settle(at: Self.now) }
        isMoving = true
        guard (try? await Task.sleep(for: .seconds(rest))) != nil else { return }
        stage.settle(at: Self.now)
        isMoving = false
    }

    private func refuse() {
        withAnimation(reducesMotion ? nil : .linear(duration: RefusalShake.standard.duration)) { shakes += 1 }
    }

    private func tap() {
        play(press.tap(at: Self.now))
        if let event = look.input.event { send(event) }
    }

    // MARK: The press

    private func pressed(_ isPressed: Bool) {
        press.change(isPressed: isPressed, at: Self.now).map { play([$0]) }
    }

    private func play(_ changes: [Press.Change]) { player.play(changes) { pressOpacity = $0 } }

    // MARK: The finger

    /// A finger that moves sideways from the knob drags it. Any other scrolls the page.
    private func finger(in width: Double) -> KnobGesture {
        KnobGesture(space: Self.space) { start, x, isSideways in
            if stage.touch(), isSideways { grab(at: start, in: width) }
            stage.follow(to: x)
        } lifted: { x, velocity in
            let event = stage.lift(at: x, velocity: velocity, width: width, time: Self.now)
            if let event { send(event) }
        } cancelled: {
            stage.cancelTouch(at: Self.now)
        }
    }

    private func grab(at x: Double, in width: Double) {
        let knob = geometry.knobDiameter + 2 * geometry.knobInset
        let fromKnob = look.isOn != isMirrored ? width - x : x
        guard look.input == .turnOn || look.input == .turnOff, look.knob != .hidden,
            fromKnob <= (knob + motion.slop) * unit, Self.now >= stage.arrival
        else {
            return
        }
        let next = state.next ?? (look.isOn ? .confirmDisconnect : .verifying)
        if next == .email { email = suggestion }
        stage.grab(
            KnobDrag(look.isOn ? .off : .on, way: width - knob * unit, grip: x, isRightToLeft: isMirrored),
            towards: next, label: next == .email ? "" : face.toggled)
    }
}
#endif
