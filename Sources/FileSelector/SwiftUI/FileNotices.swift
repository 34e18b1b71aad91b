#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import Sequencing
import SwiftUI

/// The messages above the list.
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
            ForEach(model.state.notices, id: \.self) { notice in card(notice) }
        }
        .padding(.horizontal, 16).padding(.vertical, 8)
    }

    private func card(_ notice: FileSelectorState.Notice) -> some View {
        let palette = FileSelectorPalette(colorScheme)
        let isWarning = if case .stale = notice { true } else { false }
        return VStack(alignment: .leading, spacing: 8) {
            content(of: notice)
        }
        .padding(12)
        .frame(maxWidth: .infinity, alignment: .leading)
        .background(isWarning ? palette.warnTint : palette.tint, in: RoundedRectangle(cornerRadius: 10))
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
        case .noSamples: Text(verbatim: text(.noSamples))
        case .noFiles: Text(verbatim: text(.empty))
        case .selectionGone: Text(verbatim: text(.selectionGone))
        case .nothingFound(let search, let elsewhere):
            Text(verbatim: FileSelectorWords.nothingMatches.text(in: locale, search))
            if elsewhere > 0 {
                Text(verbatim: FileSelectorWords.matchesElsewhere.text(in: locale, count: elsewhere))
            }
            Button(text(.clearSearch)) { model.state.search = "" }
        case .unreadableEntries(let count):
            Text(verbatim: FileSelectorWords.skipped.text(in: locale, count: count))
        case .rememberedFile(let name):
            Text(verbatim: FileSelectorWords.remembered.text(in: locale, name))
            Button(text(.forget)) { model.forget() }
        case .rememberedFileGone(let name):
            Text(verbatim: FileSelectorWords.rememberedGone.text(in: locale, name))
        }
    }

    private func text(_ words: FileSelectorWords) -> String { words.text(in: locale) }
}
#endif
