#if canImport(SwiftUI)
    import SwiftUI

    /// The pill: grounds, progress, label, knob, email field, answers.
    struct PillView: View {
        let state: ConnectButtonState
        let face: ConnectButtonFace
        let unit: Double
        let suggestedEmail: String
        let send: @MainActor (ConnectButtonEvent) -> Void

        /// The part of a change that a finger has done, or `nil`.
        @State private var dragged: Double?
        @Environment(\.colorScheme) private var colorScheme
        @Environment(\.layoutDirection) private var layoutDirection
        @Environment(\.accessibilityReduceMotion) private var reducesMotion

        private let geometry = ConnectButtonGeometry.standard
        private let motion = ConnectButtonMotion.standard
        private let colors = ConnectButtonColors.standard

        private var look: ConnectButtonLook { ConnectButtonLook(state.step) }
        private var scheme: ConnectButtonColors.Scheme { ConnectButtonColors.Scheme(colorScheme) }
        private var palette: ConnectButtonPalette {
            ConnectButtonPalette(state.connection?.connecting.brand ?? .black, scheme: scheme)
        }

        var body: some View {
            GeometryReader { proxy in
                ZStack {
                    Capsule().fill(Color(ground))
                    ProgressBar(
                        progress: state.progress, undo: state.undo, color: Color(progressColor),
                        reducesMotion: reducesMotion)
                    content
                    if look.knob != .hidden { knob(in: proxy.size.width) }
                }
                .clipShape(Capsule())
                .simultaneousGesture(drag(in: proxy.size.width))
            }
        }

        private var ground: ConnectButtonColor {
            switch look.ground {
            case .pill: colors.pill[scheme]
            case .brand: palette.ground
            case .email: colors.emailTrack[scheme]
            }
        }

        private var ink: ConnectButtonColor { look.ground == .brand ? palette.ink : colors.pillInk[scheme] }

        private var progressColor: ConnectButtonColor {
            look.ground == .brand ? palette.progress : colors.progress[scheme]
        }

        @ViewBuilder private var content: some View {
            switch look.input {
            case .email:
                EmailView(
                    face: face, unit: unit, palette: palette,
                    email: state.email.flatMap { $0.isEmpty ? nil : $0 } ?? suggestedEmail, send: send)
            case .choice:
                HStack(spacing: geometry.knobInset * unit) {
                    ForEach(face.choices, id: \.kind) { choice in
                        Button {
                            choice.kind.event.map(send)
                        } label: {
                            label(choice.title).frame(maxWidth: .infinity, maxHeight: .infinity)
                        }
                        .background(Color(progressColor), in: Capsule())
                    }
                }
                .padding(geometry.knobInset * unit)
                .accessibilityLabel(Text(verbatim: face.label))
            case .none, .turnOn, .turnOff, .proceed: control
            }
        }

        /// A real switch to assistive technology; while the service is waited for, a button.
        @ViewBuilder private var control: some View {
            if look.input == .proceed {
                Button {
                    send(.proceed)
                } label: {
                    label(face.label).frame(maxWidth: .infinity, maxHeight: .infinity)
                }
                .accessibilityLabel(Text(verbatim: face.name))
            } else {
                Button {
                    look.input.event.map(send)
                } label: {
                    ZStack {
                        label(face.label).opacity(1 - (dragged ?? 0)).modifier(
                            Breathing(isOn: look.pulses && !reducesMotion))
                        label(face.toggled).opacity(
                            dragged.map { max(0, ($0 - motion.labelInFrom) / (1 - motion.labelInFrom)) } ?? 0)
                    }
                    .frame(maxWidth: .infinity, maxHeight: .infinity)
                }
                .disabled(look.input == .none)
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
            let type = ConnectButtonType.standard
            return Text(verbatim: text)
                .font(.custom("AvenirNext-Bold", fixedSize: type.label * unit))
                .foregroundStyle(Color(ink))
                .multilineTextAlignment(.center)
                .lineLimit(2)
                .minimumScaleFactor(type.labelMinimum / type.label)
                .padding(.horizontal, (look.knob == .hidden ? geometry.labelInset : geometry.labelInsetAtKnob) * unit)
        }

        private func knob(in width: Double) -> some View {
            let way = width - (geometry.knobDiameter + 2 * geometry.knobInset) * unit
            let isOn = look.knob == .end
            let place = dragged.map { isOn ? 1 - $0 : $0 } ?? (isOn ? 1 : 0)
            return KnobView(service: state.connection?.connecting, palette: palette, unit: unit)
                .frame(maxWidth: .infinity, alignment: .leading)
                .padding(geometry.knobInset * unit)
                .offset(x: (layoutDirection == .rightToLeft ? -1 : 1) * way * place)
                .allowsHitTesting(false)
                .accessibilityHidden(true)
        }

        private func drag(in width: Double) -> some Gesture {
            let drag = KnobDrag(look.isOn ? .off : .on, width: width, isRightToLeft: layoutDirection == .rightToLeft)
            return DragGesture(minimumDistance: motion.slop)
                .onChanged { value in
                    if look.knob != .hidden { dragged = drag.fraction(at: value.location.x) }
                }
                .onEnded { value in
                    guard let fraction = dragged else { return }
                    withAnimation(reducesMotion ? nil : .spring(duration: motion.change, bounce: 0)) { dragged = nil }
                    if drag.completes(fraction: fraction, velocity: drag.velocity(value.velocity.width)) {
                        look.input.event.map(send)
                    }
                }
        }
    }

    /// The knob with the service's icon; its first letter until the icon is there, and when it never comes (W30).
    struct KnobView: View {
        let service: ConnectButtonService?
        let palette: ConnectButtonPalette
        let unit: Double

        var body: some View {
            let geometry = ConnectButtonGeometry.standard
            Circle()
                .fill(Color(palette.knob))
                .shadow(
                    color: Color.black.opacity(geometry.knobShadowOpacity),
                    radius: geometry.knobShadowRadius * unit / 2, x: 0,
                    y: geometry.knobShadowOffset * unit
                )
                .overlay {
                    AsyncImage(url: service?.icon) { image in
                        image.renderingMode(.template).resizable().scaledToFit()
                    } placeholder: {
                        Text(verbatim: String(service?.shortName.prefix(1) ?? ""))
                    }
                    .foregroundStyle(Color(palette.knobInk))
                    .frame(width: geometry.icon * unit, height: geometry.icon * unit)
                }
                .frame(width: geometry.knobDiameter * unit, height: geometry.knobDiameter * unit)
        }
    }

    /// Goes back and forth between full and partial opacity for as long as it is on.
    struct Breathing: ViewModifier {
        let isOn: Bool

        func body(content: Content) -> some View {
            let motion = ConnectButtonMotion.standard
            content.phaseAnimator(isOn ? [1, motion.pulseOpacity] : [1]) { view, opacity in
                view.opacity(opacity)
            } animation: { _ in
                .linear(duration: motion.pulse)
            }
        }
    }

    /// The bar under the label: a part, a countdown, or, when nothing is known, a bar that breathes.
    struct ProgressBar: View {
        let progress: ConnectButtonProgress
        let undo: ConnectButtonUndo?
        let color: Color
        let reducesMotion: Bool

        var body: some View {
            GeometryReader { proxy in
                switch progress {
                case .fraction(let fraction): bar(proxy.size.width * fraction)
                case .indeterminate: bar(proxy.size.width).modifier(Breathing(isOn: !reducesMotion))
                case .none:
                    if let undo, undo.total > 0 { bar(proxy.size.width * undo.remaining / undo.total) }
                }
            }
            .accessibilityHidden(true)
        }

        private func bar(_ width: Double) -> some View {
            color.frame(width: width).frame(maxWidth: .infinity, alignment: .leading)
        }
    }
#endif
