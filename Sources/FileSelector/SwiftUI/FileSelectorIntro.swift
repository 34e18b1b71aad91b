#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The first question: own files or samples, with a film behind it if the app has one (dossier 4.4).
struct FileSelectorIntro: View {
    let model: FileSelectorModel
    let locale: FileSelectorLocale
    let film: URL?
    let notices: FileNotices

    @Environment(\.colorScheme) private var colorScheme
    @Environment(\.accessibilityReduceMotion) private var reducesMotion
    @State private var isWanted: Bool?

    var body: some View {
        ZStack {
            if let film {
                FilmView(url: film, isPlaying: isPlaying)
                Rectangle().fill(Color.black.opacity(0.65))
            }
            ScrollView {
                VStack(spacing: 16) {
                    if !model.state.shownNotices.isEmpty { notices }
                    Text(verbatim: FileSelectorWords.introQuestion.text(in: locale))
                        .font(.title3).multilineTextAlignment(.center).padding(.vertical, 24)
                    choice(.own, picture: "person", note: .ownNote)
                    choice(.sample, picture: "person.2", note: .sampleNote)
                    if film != nil {
                        Button((isPlaying ? FileSelectorWords.pauseFilm : .playFilm).text(in: locale)) {
                            isWanted = !isPlaying
                        }
                    }
                }
                .foregroundStyle(film == nil ? FileSelectorPalette(colorScheme).ink : Color.white)
                .padding(20)
                .frame(maxWidth: 560)
            }
        }
    }

    /// A user who wants no motion starts the film by hand.
    private var isPlaying: Bool { isWanted ?? !reducesMotion }

    private func choice(
        _ tab: FileSelectorState.Tab, picture: String, note: FileSelectorWords
    ) -> some View {
        let palette = FileSelectorPalette(colorScheme)
        let count = FileSelectorWords.files.text(in: locale, count: model.state.count(of: tab))
        return Button {
            model.state.choose(tab)
        } label: {
            HStack(spacing: 16) {
                Image(systemName: picture).foregroundStyle(palette.accent).frame(width: 48, height: 48)
                    .background(palette.tint, in: Circle())
                VStack(alignment: .leading, spacing: 2) {
                    Text(verbatim: tab.words.text(in: locale)).fontWeight(.semibold)
                    Text(verbatim: note.text(in: locale)).foregroundStyle(palette.quiet)
                    Text(verbatim: count).foregroundStyle(palette.quiet)
                }
                .frame(maxWidth: .infinity, alignment: .leading)
            }
            .padding(16)
            .foregroundStyle(palette.ink)
            .background(palette.card, in: RoundedRectangle(cornerRadius: 14))
            .overlay { RoundedRectangle(cornerRadius: 14).stroke(palette.line, lineWidth: 1) }
        }
        .buttonStyle(.plain)
        .accessibilityElement(children: .combine)
        .accessibilityAddTraits(.isButton)
    }
}

/// How the selector works, in three steps (dossier 4.4, D04).
struct FileSelectorHelp: View {
    let locale: FileSelectorLocale
    let close: @MainActor () -> Void

    var body: some View {
        let steps: [FileSelectorWords] = [.helpKind, .helpSelect, .helpContinue]
        ScrollView {
            VStack(alignment: .leading, spacing: 14) {
                Text(verbatim: FileSelectorWords.help.text(in: locale)).fontWeight(.semibold).font(.title3)
                    .accessibilityAddTraits(.isHeader)
                ForEach(Array(steps.indices), id: \.self) { index in
                    HStack(alignment: .top, spacing: 10) {
                        Text(verbatim: "\(index + 1).")
                        Text(verbatim: steps[index].text(in: locale))
                    }
                    .accessibilityElement(children: .combine)
                }
                FileSelectorButton(FileSelectorWords.close.text(in: locale), isFirst: true, action: close)
            }
            .padding(24)
        }
    }
}
#endif
