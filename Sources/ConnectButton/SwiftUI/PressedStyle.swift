#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The feedback of a press (F061). In a scroll view, the system delays it and cancels it when the finger leaves.
struct PressedStyle: ButtonStyle {
    /// The binding that shows the press on the whole pill; without it, only the button does.
    var isPressed: Binding<Bool>?

    init(isPressed: Binding<Bool>? = nil) {
        self.isPressed = isPressed
    }

    func makeBody(configuration: Configuration) -> some View {
        let motion = ConnectButtonMotion.standard
        configuration.label
            .opacity(isPressed == nil && configuration.isPressed ? motion.pressOpacity : 1)
            .animation(.easeInOut(duration: motion.press), value: configuration.isPressed)
            .onChange(of: configuration.isPressed) { _, now in isPressed?.wrappedValue = now }
    }
}

/// The confirm button: it has a pressed colour of its own, and its glyph fades (IFTTT dossier 4.3).
struct ConfirmStyle: ButtonStyle {
    let palette: ConnectButtonPalette

    func makeBody(configuration: Configuration) -> some View {
        configuration.label
            .opacity(configuration.isPressed ? ConnectButtonMotion.standard.pressOpacity : 1)
            .background(Color(configuration.isPressed ? palette.confirmPressed : palette.confirm))
            .animation(.easeInOut(duration: ConnectButtonMotion.standard.press), value: configuration.isPressed)
            .contentShape(Rectangle())
    }
}
#endif
