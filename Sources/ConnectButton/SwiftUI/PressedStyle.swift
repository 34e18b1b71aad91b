#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The feedback of a press (F061). In a scroll view, the system delays it and cancels it when the finger leaves.
struct PressedStyle: ButtonStyle {
    /// Receives the press, for a button that shows it elsewhere; nil for one that shows it itself.
    var pressed: (@MainActor (Bool) -> Void)?

    func makeBody(configuration: Configuration) -> some View {
        let motion = ConnectButtonMotion.standard
        configuration.label
            .opacity(pressed == nil && configuration.isPressed ? motion.pressOpacity : 1)
            .animation(.easeInOut(duration: motion.press), value: configuration.isPressed)
            .onChange(of: configuration.isPressed) { _, now in pressed?(now) }
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
