#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The bar under the label: a fraction, a countdown, or a bar that fills while waiting for an answer.
struct ProgressBar: View {
    let progress: ConnectButtonProgress
    let undo: ConnectButtonUndo?
    /// How much is filled while waiting for an answer.
    let fill: Double
    /// The accessibility label.
    let label: String
    let color: Color
    let reducesMotion: Bool

    @State private var filled = 0.0

    private func run(to fill: Double) {
        let seconds = ConnectButtonMotion.standard.progress * max(fill - filled, 0)
        withAnimation(.linear(duration: seconds)) { filled = fill }
    }

    var body: some View {
        GeometryReader { proxy in
            switch progress {
            case .fraction(let fraction):
                bar(proxy.size.width * fraction)
                    .accessibilityRepresentation {
                        ProgressView(value: fraction) { Text(verbatim: label) }
                    }
            case .indeterminate:
                bar(proxy.size.width * (reducesMotion ? fill : filled))
                    .onAppear { run(to: fill) }
                    .onChange(of: fill) { _, fill in run(to: fill) }
                    .accessibilityHidden(true)
            case .none:
                if let undo, undo.total > 0 {
                    bar(proxy.size.width * undo.remaining / undo.total).accessibilityHidden(true)
                }
            }
        }
    }

    private func bar(_ width: Double) -> some View {
        color.frame(width: width).frame(maxWidth: .infinity, alignment: .leading)
    }
}

/// Alternates between full and partial opacity while it is on.
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
#endif
