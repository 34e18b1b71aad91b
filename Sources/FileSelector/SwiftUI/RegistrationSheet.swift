#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
public import SwiftUI

/// Asks Sequencing.com for an account, or for a new password (dossier 2.1).
///
/// It draws a ``RegistrationModel``. Show it in a sheet:
///
/// ```swift
/// .sheet(isPresented: $isRegistering) {
///     RegistrationSheet(registration) { isRegistering = false }
/// }
/// ```
public struct RegistrationSheet: View {
    private let model: RegistrationModel
    private let locale: FileSelectorLocale
    private let close: @MainActor () -> Void

    @FocusState private var isFieldFocused: Bool

    /// Creates a sheet.
    ///
    /// - Parameters:
    ///   - model: the address and the request.
    ///   - languages: the user's languages, the best first; by default the device's.
    ///   - close: closes the sheet.
    public init(
        _ model: RegistrationModel, languages: [String] = Locale.preferredLanguages,
        close: @escaping @MainActor () -> Void
    ) {
        self.model = model
        locale = FileSelectorLocale(preferred: languages)
        self.close = close
    }

    public var body: some View {
        AskingSheet(title: .registerTitle, locale: locale, isAsking: isAsking, cancel: model.cancel) { palette in
            switch model.state.step {
            case .editing(let complaint): form(complaint, palette)
            case .asking: EmptyView()
            case .mailSent(let request):
                Text(verbatim: request.sentWords.text(in: locale, model.state.email))
                FileSelectorButton(text(.close), isFirst: true, action: close)
            }
        }
    }

    private var isAsking: Bool { if case .asking = model.state.step { true } else { false } }

    @ViewBuilder private func form(
        _ complaint: RegistrationState.Complaint?, _ palette: FileSelectorPalette
    ) -> some View {
        Text(verbatim: text(.registerNote)).foregroundStyle(palette.quiet)
        Text(verbatim: text(.registerEmail)).fontWeight(.semibold)
        field(palette)
        if let complaint { Text(verbatim: complaint.text(in: locale)).foregroundStyle(palette.bad) }
        FileSelectorButton(text(.registerNew), isFirst: true) { model.send(.account) }
        FileSelectorButton(text(.registerReset)) { model.send(.password) }
        FileSelectorButton(text(.cancel), action: close)
    }

    private func field(_ palette: FileSelectorPalette) -> some View {
        TextField(
            text(.registerEmail),
            text: Binding(get: { @MainActor in model.state.email }, set: { @MainActor in model.state.email = $0 })
        )
        #if os(iOS)
        .textContentType(.emailAddress).keyboardType(.emailAddress).textInputAutocapitalization(.never)
        #endif
        .focused($isFieldFocused)
        .submitLabel(.done)
        .onSubmit { model.send(.account) }
        .padding(.horizontal, 12).frame(minHeight: FileSelectorLook.standard.control)
        .overlay { RoundedRectangle(cornerRadius: 10).stroke(palette.field, lineWidth: 1) }
        .onAppear { isFieldFocused = true }
    }

    private func text(_ words: FileSelectorWords) -> String { words.text(in: locale) }
}
#endif
