#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The bar under the label, in a pose.
struct ProgressBar: View {
    let state: ConnectButtonState
    let face: ConnectButtonFace
    let pose: Pose
    let color: Color
    let width: Double

    var body: some View {
        let bar =
            color
            .frame(width: max(0, width * pose[.fill]))
            .frame(maxWidth: .infinity, alignment: .leading)
            .opacity(pose[.bar])
        if case .fraction(let fraction) = state.progress {
            bar.accessibilityRepresentation {
                ProgressView(value: fraction) { Text(verbatim: face.label) }
            }
        } else {
            bar.accessibilityHidden(true)
        }
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
