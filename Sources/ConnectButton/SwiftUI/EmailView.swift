#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The email field with its confirm button (IFTTT dossier 4.6).
struct EmailView: View {
    let face: ConnectButtonFace
    let failure: ConnectButtonFailure?
    let unit: Double
    let palette: ConnectButtonPalette
    /// Whether the user can type; false while a finger drags towards it.
    let isReady: Bool
    let send: @MainActor (ConnectButtonEvent) -> Void

    @State private var text: String
    @FocusState private var isFocused: Bool
    @Environment(\.colorScheme) private var colorScheme

    init(
        face: ConnectButtonFace, failure: ConnectButtonFailure?, unit: Double, palette: ConnectButtonPalette,
        email: String, isReady: Bool, send: @escaping @MainActor (ConnectButtonEvent) -> Void
    ) {
        self.face = face
        self.failure = failure
        self.unit = unit
        self.palette = palette
        self.isReady = isReady
        self.send = send
        // What the user types later is kept, whatever the state has.
        _text = State(wrappedValue: email)
    }

    var body: some View {
        let geometry = ConnectButtonGeometry.standard
        HStack(spacing: 0) {
            field
            Button {
                send(.email(text))
            } label: {
                Image(systemName: "arrowtriangle.forward.fill")
                    .foregroundStyle(Color(palette.confirmInk))
                    .frame(width: geometry.confirm * unit, height: geometry.confirm * unit)
            }
            .buttonStyle(ConfirmStyle(palette: palette))
            .accessibilityLabel(Text(verbatim: face.emailConfirm))
        }
        // A prefilled field does not raise the keyboard (4.5).
        .onAppear { isFocused = isReady && text.isEmpty }
        .accessibilityAction(.escape, cancel)
    }

    private var field: some View {
        let geometry = ConnectButtonGeometry.standard
        let colors = ConnectButtonColors.standard
        let isInvalid = failure?.kind == .invalidEmail
        return TextField(face.emailField, text: $text)
            .font(.custom("AvenirNext-DemiBold", fixedSize: ConnectButtonType.standard.email * unit))
            .foregroundStyle(Color(colors.emailInk[ConnectButtonColors.Scheme(colorScheme)]))
            .overlay(alignment: .bottom) {
                // With Reduce Motion there is no shake.
                if isInvalid {
                    Capsule().fill(Color(colors.error.light)).frame(height: 2 * unit).offset(y: 4 * unit)
                }
            }
            .padding(.top, geometry.emailInsetTop * unit)
            .padding(.leading, geometry.emailInset * unit)
            .focused($isFocused)
            .submitLabel(.done)
            .onSubmit { send(.email(text)) }
            .onKeyPress(.escape) {
                cancel()
                return .handled
            }
            .accessibilityLabel(Text(verbatim: face.emailField))
            .accessibilityHint(Text(verbatim: isInvalid ? face.announcement : ""))
            #if os(iOS) || os(visionOS)
        .textContentType(.emailAddress)
        .keyboardType(.emailAddress)
        .textInputAutocapitalization(.never)
            #endif
    }

    private func cancel() {
        if face.actions.contains(where: { $0.kind == .cancel }) { send(.cancel) }
    }
}

/// Fades the email field in near the end of the transition.
struct FieldFading: ViewModifier, Animatable {
    var fraction: Double

    nonisolated var animatableData: Double {
        get { fraction }
        set { fraction = newValue }
    }

    func body(content: Content) -> some View {
        content.opacity(EmailMorph(fraction: fraction).field)
    }
}
#endif
