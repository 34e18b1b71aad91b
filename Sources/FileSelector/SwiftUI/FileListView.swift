#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import Sequencing
import SwiftUI

/// Tabs, segments, search, order and the rows, in one scroll view.
struct FileListView: View {
    let model: FileSelectorModel
    let locale: FileSelectorLocale
    let notices: FileNotices
    let refresh: @MainActor () -> Void
    let details: @MainActor (GeneticFile) -> Void
    let finish: @MainActor (GeneticFile) -> Void

    @Environment(\.colorScheme) private var colorScheme

    private var state: FileSelectorState { model.state }
    private var palette: FileSelectorPalette { FileSelectorPalette(colorScheme) }

    private func text(_ words: FileSelectorWords) -> String { words.text(in: locale) }

    var body: some View {
        let rows = state.rows
        VStack(spacing: 0) {
            tabs
            ScrollViewReader { reader in
                ScrollView {
                    LazyVStack(alignment: .leading, spacing: 0) {
                        notices
                        if state.tab == .sample {
                            Text(verbatim: text(.sampleExplanation)).foregroundStyle(palette.quiet).padding(16)
                        }
                        segments
                        tools
                        Text(verbatim: count(rows.count)).foregroundStyle(palette.quiet).padding(16)
                        ForEach(rows, id: \.id) { row in rowView(row) }
                    }
                }
                .refreshable { await model.load() }
                .onAppear { reveal(in: reader) }
                .onChange(of: state.tab) { reveal(in: reader) }
            }
        }
    }

    /// Scrolls to the selected file (dossier 4.5).
    private func reveal(in reader: ScrollViewProxy) {
        if let selected = state.selected { reader.scrollTo(selected.id, anchor: .center) }
    }

    private var tabs: some View {
        HStack(spacing: 0) {
            ForEach(FileSelectorState.Tab.allCases, id: \.self) { tab in
                let isOpen = state.tab == tab
                Button {
                    model.state.open(tab)
                } label: {
                    VStack(spacing: 8) {
                        Text(verbatim: "\(tab.words.text(in: locale)) \(state.matchCount(of: tab))")
                            .fontWeight(isOpen ? .semibold : .regular)
                            .foregroundStyle(isOpen ? palette.ink : palette.quiet)
                        Rectangle().fill(isOpen ? palette.accent : palette.line).frame(height: isOpen ? 3 : 1)
                    }
                    .frame(maxWidth: .infinity, minHeight: FileSelectorLook.standard.control, alignment: .bottom)
                }
                .buttonStyle(.plain)
                .disabled(!state.isEnabled(tab))
                .accessibilityAddTraits(isOpen ? .isSelected : [])
            }
        }
    }

    private var segments: some View {
        ScrollView(.horizontal) {
            HStack(spacing: 8) {
                ForEach(state.availableSegments, id: \.self) { segment in
                    let isOpen = state.segment == segment
                    Button {
                        model.state.open(segment)
                    } label: {
                        Text(verbatim: "\(segment.words.text(in: locale)) \(state.matchCount(of: segment))")
                            .padding(.horizontal, 14).frame(minHeight: 36)
                            .background(isOpen ? palette.tint : palette.card, in: Capsule())
                            .overlay { Capsule().stroke(isOpen ? palette.accent : palette.line, lineWidth: 1) }
                    }
                    .buttonStyle(.plain)
                    .accessibilityAddTraits(isOpen ? .isSelected : [])
                }
            }
            .padding(.horizontal, 16)
        }
    }

    private var tools: some View {
        HStack(spacing: 8) {
            TextField(
                text(.search),
                text: Binding(get: { @MainActor in model.state.search }, set: { @MainActor in model.state.search = $0 })
            )
            // Names of files are no words of a language.
            .autocorrectionDisabled()
            #if os(iOS)
            .textInputAutocapitalization(.never)
            #endif
            .padding(.horizontal, 12).frame(minHeight: FileSelectorLook.standard.control)
            .overlay { RoundedRectangle(cornerRadius: 10).stroke(palette.field, lineWidth: 1) }
            Menu {
                // A picker marks the order that the rows are in.
                Picker(
                    text(.sort),
                    selection: Binding(
                        get: { @MainActor in model.state.order }, set: { @MainActor in model.state.order = $0 })
                ) {
                    ForEach(FileSelectorState.Order.allCases, id: \.self) { order in
                        Text(verbatim: text(order.words)).tag(order)
                    }
                }
                .pickerStyle(.inline)
            } label: {
                Image(systemName: "arrow.up.arrow.down")
                    .frame(width: FileSelectorLook.standard.control, height: FileSelectorLook.standard.control)
            }
            .accessibilityLabel(Text(verbatim: "\(text(.sort)): \(text(state.order.words))"))
            IconButton("arrow.clockwise", text(.refresh), action: refresh).disabled(state.isRefreshing)
        }
        .padding(16)
    }

    private func count(_ found: Int) -> String {
        let total = state.segment.map { state.count(of: $0) } ?? 0
        return FileSelectorWords.rows(found, of: total, search: state.search, in: locale)
    }

    private func rowView(_ row: FileRow) -> some View {
        FileRowView(
            row: row, locale: locale, details: { details(row.file) },
            toggle: { model.state.toggle(row.id) },
            finish: { finish(row.file) }
        )
        .id(row.id)
    }
}

/// One row: a mark, a sample's picture, the names, and a button for the details.
struct FileRowView: View {
    let row: FileRow
    let locale: FileSelectorLocale
    let details: @MainActor () -> Void
    let toggle: @MainActor () -> Void
    let finish: @MainActor () -> Void

    @Environment(\.colorScheme) private var colorScheme

    var body: some View {
        let palette = FileSelectorPalette(colorScheme)
        HStack(spacing: 12) {
            Image(systemName: row.isSelected ? "largecircle.fill.circle" : "circle")
                .foregroundStyle(row.isSelected ? palette.accent : palette.field)
            if let picture = row.picture { PersonaPictureView(picture: picture) }
            VStack(alignment: .leading, spacing: 2) {
                Text(verbatim: row.title).fontWeight(.semibold)
                if let subtitle = row.subtitle { Text(verbatim: subtitle) }
                Text(verbatim: row.facts(in: locale).joined(separator: " · "))
                    .foregroundStyle(palette.quiet).font(.footnote)
            }
            .frame(maxWidth: .infinity, alignment: .leading)
            IconButton("info.circle", FileSelectorWords.details.text(in: locale), action: details)
        }
        .padding(.horizontal, 16).padding(.vertical, 10)
        .background(row.isSelected ? palette.tint : palette.card)
        .contentShape(Rectangle())
        #if os(macOS)
        .onTapGesture(count: 2) { finish() }
        #else
        .gesture(PointerDoubleClick(action: finish))
        #endif
        .onTapGesture { toggle() }
        .accessibilityElement(children: .combine)
        .accessibilityAddTraits(row.isSelected ? [.isButton, .isSelected] : .isButton)
        .accessibilityAction { toggle() }
        .accessibilityAction(named: Text(verbatim: FileSelectorWords.details.text(in: locale))) { details() }
    }
}
#endif
