#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import OAuth
import Sequencing
import SwiftUI

/// What is known of a file, with labels (dossier 4.6, D17).
struct FileDetails: View {
    private let file: GeneticFile
    private let locale: FileSelectorLocale
    private let close: @MainActor () -> Void

    @Environment(\.colorScheme) private var colorScheme

    init(_ file: GeneticFile, locale: FileSelectorLocale, close: @escaping @MainActor () -> Void) {
        self.file = file
        self.locale = locale
        self.close = close
    }

    var body: some View {
        let palette = FileSelectorPalette(colorScheme)
        let facts = FileFact.all(of: file)
        VStack(spacing: 0) {
            ScrollView {
                VStack(alignment: .leading, spacing: 14) {
                    HStack(spacing: 14) {
                        if file.isSample { PersonaPictureView(picture: PersonaPicture(of: file)) }
                        VStack(alignment: .leading, spacing: 2) {
                            Text(verbatim: text(.detailsTitle)).foregroundStyle(palette.quiet)
                            Text(verbatim: file.displayName).fontWeight(.semibold)
                        }
                        .accessibilityAddTraits(.isHeader)
                    }
                    ForEach(facts, id: \.self) { fact in
                        VStack(alignment: .leading, spacing: 2) {
                            Text(verbatim: fact.label(in: locale)).foregroundStyle(palette.quiet)
                            Text(verbatim: fact.value(in: locale) ?? text(.noValue))
                        }
                        .accessibilityElement(children: .combine)
                    }
                }
                .padding(20)
                .frame(maxWidth: .infinity, alignment: .leading)
            }
            FileSelectorButton(text(.close), isFirst: true, action: close).padding(16)
        }
        .background(palette.card)
        .foregroundStyle(palette.ink)
    }

    private func text(_ words: FileSelectorWords) -> String { words.text(in: locale) }
}
#endif
