#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// Reports a press; what is pressed shows it by a ``Press``. In a scroll view, the system delays it and cancels it when the
/// finger leaves.
struct PressedStyle: ButtonStyle {
    let pressed: @MainActor (Bool) -> Void

    func makeBody(configuration: Configuration) -> some View {
        configuration.label.onChange(of: configuration.isPressed) { _, now in pressed(now) }
    }
}

/// A button whose label shows its press (F061): in the footer, on the About page, and the answers.
struct PressedButton<Label: View>: View {
    let action: @MainActor () -> Void
    @ViewBuilder let label: Label

    @State private var press = Press()
    @State private var opacity = 1.0

    var body: some View {
        Button {
            play(press.tap(at: Self.now))
            action()
        } label: {
            label.opacity(opacity)
        }
        .buttonStyle(PressedStyle { isPressed in press.change(isPressed: isPressed, at: Self.now).map { play([$0]) } })
    }

    private static var now: Double { Date.now.timeIntervalSinceReferenceDate }

    private func play(_ changes: [Press.Change]) { changes.play { opacity = $0 } }
}

extension [Press.Change] {
    /// Animates the changes, one after the other.
    @MainActor func play(_ set: @escaping @MainActor (Double) -> Void) {
        guard let first else { return }
        let curve: Animation =
            first.curve == .easeOut ? .easeOut(duration: first.duration) : .easeInOut(duration: first.duration)
        withAnimation(curve.delay(first.delay)) {
            set(first.opacity)
        } completion: {
            Array(dropFirst()).play(set)
        }
    }
}

/// The confirm button: it has a pressed colour of its own, and its glyph fades (IFTTT dossier 4.3).
struct ConfirmStyle: ButtonStyle {
    let palette: ConnectButtonPalette
    let shape: UnevenRoundedRectangle

    func makeBody(configuration: Configuration) -> some View {
        configuration.label
            .opacity(configuration.isPressed ? ConnectButtonMotion.standard.pressOpacity : 1)
            .background(Color(configuration.isPressed ? palette.confirmPressed : palette.confirm), in: shape)
            .contentShape(Rectangle())
    }
}
#endif
