#if canImport(SwiftUI)
    import SwiftUI

    /// The email field with its confirm button (IFTTT dossier 4.6).
    struct EmailView: View {
        let state: ConnectButtonState
        let face: ConnectButtonFace
        let unit: Double
        let palette: ConnectButtonPalette
        let suggestedEmail: String
        let send: (ConnectButtonEvent) -> Void

        @State private var text: String?
        @Environment(\.colorScheme) private var colorScheme

        var body: some View {
            let geometry = ConnectButtonGeometry.standard
            let colors = ConnectButtonColors.standard
            HStack(spacing: 0) {
                TextField(face.emailField, text: Binding(get: { shown }, set: { text = $0 }))
                    .font(.custom("AvenirNext-DemiBold", fixedSize: ConnectButtonType.standard.email * unit))
                    .foregroundStyle(Color(colors.emailInk[ConnectButtonColors.Scheme(colorScheme)]))
                    .padding(.leading, geometry.emailInset * unit)
                    .submitLabel(.done)
                    .onSubmit { send(.email(shown)) }
                    #if os(iOS) || os(visionOS)
                        .textContentType(.emailAddress)
                        .keyboardType(.emailAddress)
                        .textInputAutocapitalization(.never)
                    #endif
                Button { send(.email(shown)) } label: {
                    Image(systemName: "arrowtriangle.forward.fill")
                        .foregroundStyle(Color(palette.confirmInk))
                        .frame(width: geometry.confirm * unit, height: geometry.confirm * unit)
                }
                .background(Color(palette.confirm))
                .accessibilityLabel(Text(verbatim: face.emailConfirm))
            }
        }

        /// What was typed, else what the state has, else the suggestion.
        private var shown: String {
            text ?? state.email.flatMap { $0.isEmpty ? nil : $0 } ?? suggestedEmail
        }
    }
#endif
