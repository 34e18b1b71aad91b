#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The email field (IFTTT dossier 4.6).
struct EmailField: View {
    let face: ConnectButtonFace
    let isInvalid: Bool
    let unit: Double
    let text: Binding<String>
    let isFocused: FocusState<Bool>.Binding
    let send: @MainActor (ConnectButtonEvent) -> Void

    @Environment(\.colorScheme) private var colorScheme

    var body: some View {
        let geometry = ConnectButtonGeometry.standard
        let colors = ConnectButtonColors.standard
        TextField(face.emailField, text: text)
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
            .padding(.trailing, geometry.emailInsetAtConfirm * unit)
            .focused(isFocused)
            .submitLabel(.done)
            .onSubmit { send(.email(text.wrappedValue)) }
            .onKeyPress(.escape) {
                cancel()
                return .handled
            }
            .accessibilityLabel(Text(verbatim: face.emailField))
            .accessibilityHint(Text(verbatim: isInvalid ? face.announcement : ""))
            .accessibilityAction(.escape, cancel)
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

/// The button that confirms the address.
struct ConfirmButton: View {
    let face: ConnectButtonFace
    let palette: ConnectButtonPalette
    let unit: Double
    /// The shape of the side towards the field: 0 is square, 1 a half circle.
    let round: Double
    let act: @MainActor () -> Void

    var body: some View {
        let side = ConnectButtonGeometry.standard.confirm * unit
        Button(action: act) {
            Image(systemName: "arrowtriangle.forward.fill")
                .foregroundStyle(Color(palette.confirmInk))
                .frame(width: side, height: side)
        }
        .buttonStyle(ConfirmStyle(palette: palette, shape: .halfRound(side: side, round: round)))
        .accessibilityLabel(Text(verbatim: face.emailConfirm))
    }
}

extension UnevenRoundedRectangle {
    /// A square with a half circle as its trailing side. `round` shapes the leading side: 0 is square, 1 a half circle.
    static func halfRound(side: Double, round: Double) -> UnevenRoundedRectangle {
        UnevenRoundedRectangle(
            topLeadingRadius: side / 2 * round, bottomLeadingRadius: side / 2 * round,
            bottomTrailingRadius: side / 2, topTrailingRadius: side / 2)
    }
}
#endif
