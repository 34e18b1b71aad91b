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
    @State private var player = PressPlayer()
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

    private func play(_ changes: [Press.Change]) { player.play(changes) { opacity = $0 } }
}

/// Animates what a press looks like: its changes, one after the other.
///
/// A change waits before its opacity is set. If the animation waited instead, a flash meanwhile would set the opacity
/// that is set already, and animate nothing.
@MainActor final class PressPlayer {
    /// The change that waits.
    private var waiting: Task<Void, Never>?
    /// Counts the plays: only the newest one continues.
    private var plays = 0

    /// Plays the changes instead of those before. No changes leave those before as they are.
    func play(_ changes: [Press.Change], _ set: @escaping @MainActor (Double) -> Void) {
        guard !changes.isEmpty else { return }
        waiting?.cancel()
        plays += 1
        next(changes[...], of: plays, set)
    }

    private func next(_ changes: ArraySlice<Press.Change>, of play: Int, _ set: @escaping @MainActor (Double) -> Void) {
        guard play == plays, let first = changes.first else { return }
        guard first.delay > 0 else { return animate(first, then: changes.dropFirst(), of: play, set) }
        waiting = Task {
            guard (try? await Task.sleep(for: .seconds(first.delay))) != nil, play == plays else { return }
            animate(first, then: changes.dropFirst(), of: play, set)
        }
    }

    private func animate(
        _ change: Press.Change, then rest: ArraySlice<Press.Change>, of play: Int,
        _ set: @escaping @MainActor (Double) -> Void
    ) {
        let curve: Animation =
            change.curve == .easeOut ? .easeOut(duration: change.duration) : .easeInOut(duration: change.duration)
        withAnimation(curve) {
            set(change.opacity)
        } completion: {
            self.next(rest, of: play, set)
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
