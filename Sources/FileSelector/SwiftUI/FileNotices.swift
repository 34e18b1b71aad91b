#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import Sequencing
import SwiftUI

/// The messages above the list; above the first question and an empty list, only how old the list is.
struct FileNotices: View {
    let model: FileSelectorModel
    let locale: FileSelectorLocale
    let upload: URL?
    /// Whether the app signs the user in again.
    let canSignIn: Bool
    let remedy: @MainActor (FileProblem) -> AnyView

    @Environment(\.colorScheme) private var colorScheme

    var body: some View {
        VStack(alignment: .leading, spacing: 8) {
            ForEach(model.state.shownNotices, id: \.self) { notice in card(notice) }
        }
        .padding(.horizontal, 16).padding(.vertical, 8)
    }

    private func card(_ notice: FileSelectorState.Notice) -> some View {
        let palette = FileSelectorPalette(colorScheme)
        return VStack(alignment: .leading, spacing: 8) {
            content(of: notice)
        }
        .padding(12)
        .frame(maxWidth: .infinity, alignment: .leading)
        // Over a film, texts are white.
        .foregroundStyle(palette.ink)
        .background(notice.isStale ? palette.warnTint : palette.tint, in: RoundedRectangle(cornerRadius: 10))
    }

    @ViewBuilder private func content(of notice: FileSelectorState.Notice) -> some View {
        switch notice {
        case .stale(let loadedAt, let problem):
            // The age grows while the view is shown.
            TimelineView(.periodic(from: .now, by: 15)) { _ in
                let age = FileDate.ago(model.now - loadedAt, in: locale)
                Text(verbatim: FileSelectorWords.stale.text(in: locale, age)).fontWeight(.semibold)
            }
            Text(verbatim: problem.text(in: locale, canSignIn: canSignIn))
            remedy(problem)
        case .noOwnFiles:
            Text(verbatim: text(.noOwn)).fontWeight(.semibold)
            if let upload { Link(text(.noOwnUpload), destination: upload) }
            Text(verbatim: text(.noOwnMeanwhile))
        case .nothingFound:
            Text(verbatim: text(of: notice))
            Button(text(.clearSearch)) { model.state.search = "" }
        case .rememberedFile:
            Text(verbatim: text(of: notice))
            Button(text(.forget)) { model.forget() }
        case .noSamples, .noFiles, .selectionGone, .unreadableEntries, .rememberedFileGone:
            Text(verbatim: text(of: notice))
        }
    }

    private func text(of notice: FileSelectorState.Notice) -> String {
        notice.text(in: locale, canSignIn: canSignIn) { FileDate.ago(model.now - $0, in: locale) }
    }

    private func text(_ words: FileSelectorWords) -> String { words.text(in: locale) }
}
#endif
