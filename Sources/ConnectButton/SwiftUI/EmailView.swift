#if canImport(SwiftUI)
    import SwiftUI

    /// The email field with its confirm button (IFTTT dossier 4.6).
    struct EmailView: View {
        let face: ConnectButtonFace
        let unit: Double
        let palette: ConnectButtonPalette
        let send: @MainActor (ConnectButtonEvent) -> Void

        @State private var text: String
        @Environment(\.colorScheme) private var colorScheme

        init(
            face: ConnectButtonFace, unit: Double, palette: ConnectButtonPalette, email: String,
            send: @escaping @MainActor (ConnectButtonEvent) -> Void
        ) {
            self.face = face
            self.unit = unit
            self.palette = palette
            self.send = send
            // What is typed later is kept, whatever the state says.
            _text = State(wrappedValue: email)
        }

        var body: some View {
            let geometry = ConnectButtonGeometry.standard
            let colors = ConnectButtonColors.standard
            HStack(spacing: 0) {
                TextField(face.emailField, text: $text)
                    .font(.custom("AvenirNext-DemiBold", fixedSize: ConnectButtonType.standard.email * unit))
                    .foregroundStyle(Color(colors.emailInk[ConnectButtonColors.Scheme(colorScheme)]))
                    .padding(.leading, geometry.emailInset * unit)
                    .submitLabel(.done)
                    .onSubmit { send(.email(text)) }
                    #if os(iOS) || os(visionOS)
                        .textContentType(.emailAddress)
                        .keyboardType(.emailAddress)
                        .textInputAutocapitalization(.never)
                    #endif
                Button {
                    send(.email(text))
                } label: {
                    Image(systemName: "arrowtriangle.forward.fill")
                        .foregroundStyle(Color(palette.confirmInk))
                        .frame(width: geometry.confirm * unit, height: geometry.confirm * unit)
                }
                .background(Color(palette.confirm))
                .accessibilityLabel(Text(verbatim: face.emailConfirm))
            }
        }
    }
#endif
