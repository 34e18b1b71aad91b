#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// What the sheets that ask the service have in common: the title, and the wait for an answer, which can be cancelled.
struct AskingSheet<Content: View>: View {
    let title: FileSelectorWords
    let locale: FileSelectorLocale
    let isAsking: Bool
    let cancel: @MainActor () -> Void
    @ViewBuilder let content: @MainActor (FileSelectorPalette) -> Content

    @Environment(\.colorScheme) private var colorScheme

    var body: some View {
        let palette = FileSelectorPalette(colorScheme)
        ScrollView {
            VStack(alignment: .leading, spacing: 14) {
                Text(verbatim: title.text(in: locale)).fontWeight(.semibold).font(.title3)
                    .accessibilityAddTraits(.isHeader)
                if isAsking {
                    ProgressView()
                    Text(verbatim: FileSelectorWords.registerAsking.text(in: locale))
                    FileSelectorButton(FileSelectorWords.cancel.text(in: locale), action: cancel)
                } else {
                    content(palette)
                }
            }
            .padding(24)
        }
        .background(palette.card)
        .foregroundStyle(palette.ink)
        .environment(\.layoutDirection, locale.isRightToLeft ? .rightToLeft : .leftToRight)
        // Cancel says that the request may have arrived; a swipe would say nothing.
        .interactiveDismissDisabled(isAsking)
    }
}
#endif
