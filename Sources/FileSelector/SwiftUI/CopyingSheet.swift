#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
public import SwiftUI

/// Copies a file from the web into an account at Sequencing.com (dossier 3.3).
///
/// It draws a ``CopyingModel``. Show it in a sheet:
///
/// ```swift
/// .sheet(isPresented: $isCopying) {
///     CopyingSheet(copying) { isCopying = false }
/// }
/// ```
public struct CopyingSheet: View {
    private let model: CopyingModel
    private let locale: FileSelectorLocale
    private let close: @MainActor () -> Void

    @FocusState private var focus: Field?

    private enum Field: Hashable { case email, name, url }

    /// Creates a sheet.
    ///
    /// - Parameters:
    ///   - model: the fields and the request.
    ///   - languages: the user's languages, the best first; by default the device's.
    ///   - close: closes the sheet.
    public init(
        _ model: CopyingModel, languages: [String] = Locale.preferredLanguages, close: @escaping @MainActor () -> Void
    ) {
        self.model = model
        locale = FileSelectorLocale(preferred: languages)
        self.close = close
    }

    public var body: some View {
        AskingSheet(
            title: .copyTitle, locale: locale, isAsking: model.state.step == .asking, cancel: model.cancel
        ) { palette in
            switch model.state.step {
            case .editing(let complaint): form(complaint, palette)
            case .asking: EmptyView()
            case .accepted:
                Text(verbatim: text(.copyAccepted))
                FileSelectorButton(text(.close), isFirst: true, action: close)
            }
        }
    }

    @ViewBuilder private func form(_ complaint: CopyingState.Complaint?, _ palette: FileSelectorPalette) -> some View {
        Text(verbatim: text(.copyNote)).foregroundStyle(palette.quiet)
        field(.email, .registerEmail, \.email, palette)
            #if os(iOS)
        .textContentType(.emailAddress).keyboardType(.emailAddress).textInputAutocapitalization(.never)
            #endif
        field(.name, .fieldName, \.name, palette)
            #if os(iOS)
        .textInputAutocapitalization(.never)
            #endif
        field(.url, .copyUrl, \.url, palette)
            #if os(iOS)
        .textContentType(.URL).keyboardType(.URL).textInputAutocapitalization(.never)
            #endif
        if let complaint { Text(verbatim: complaint.text(in: locale)).foregroundStyle(palette.bad) }
        FileSelectorButton(text(.copyGo), isFirst: true) { model.send() }
        FileSelectorButton(text(.cancel), action: close)
    }

    private func field(
        _ field: Field, _ label: FileSelectorWords, _ value: any WritableKeyPath<CopyingState, String> & Sendable,
        _ palette: FileSelectorPalette
    ) -> some View {
        let text = text(label)
        return VStack(alignment: .leading, spacing: 6) {
            Text(verbatim: text).fontWeight(.semibold)
            TextField(
                text,
                text: Binding(
                    get: { @MainActor in model.state[keyPath: value] },
                    set: { @MainActor in model.state[keyPath: value] = $0 })
            )
            .focused($focus, equals: field)
            .submitLabel(field == .url ? .done : .next)
            .onSubmit { submit(field) }
            .padding(.horizontal, 12).frame(minHeight: FileSelectorLook.standard.control)
            .overlay { RoundedRectangle(cornerRadius: 10).stroke(palette.field, lineWidth: 1) }
        }
    }

    /// Return leads to the next field; in the last one it sends.
    private func submit(_ field: Field) {
        switch field {
        case .email: focus = .name
        case .name: focus = .url
        case .url: model.send()
        }
    }

    private func text(_ words: FileSelectorWords) -> String { words.text(in: locale) }
}
#endif
