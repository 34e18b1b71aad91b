#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import Accessibility
public import Sequencing
public import SwiftUI

/// Lets a user pick one genetic file.
///
/// It has a question, two tabs, search, order, details, and a button to continue. It draws a ``FileSelectorModel``. Show it in a sheet:
///
/// ```swift
/// .sheet(isPresented: $isChoosing) {
///     FileSelector(model, onClose: { isChoosing = false }) { file in
///         isChoosing = false
///         choice = RememberedChoice(file)
///     }
/// }
/// ```
///
/// It names what it shows to assistive technology, announces what changes, follows the text size, light and dark mode, and
/// mirrors itself in right-to-left layouts. Its texts are in 22 locales and Arabic.
public struct FileSelector: View {
    let model: FileSelectorModel
    let locale: FileSelectorLocale
    private let film: URL?
    private let upload: URL?
    private let signIn: (@MainActor () -> Void)?
    private let onClose: (@MainActor () -> Void)?
    private let onContinue: @MainActor (GeneticFile) -> Void

    @Environment(\.colorScheme) private var colorScheme
    /// The file whose details are shown.
    @State private var detailed: GeneticFile?
    @State private var showsHelp = false
    /// The announcement that waits until nothing follows.
    @State private var announcing: Task<Void, Never>?

    /// Creates a selector.
    ///
    /// - Parameters:
    ///   - model: the list and the user's choice. The selector loads it when it appears. Its ``FileSelectorModel/onForget`` tells that the
    ///     user forgets the choice of an earlier launch.
    ///   - film: a film that plays without sound behind the first question.
    ///   - upload: where a user without files can upload some.
    ///   - languages: the user's languages, the best first; by default the device's.
    ///   - signIn: signs the user in again; offered when the session has ended.
    ///   - onClose: closes the selector without a choice; nil shows no button for it.
    ///   - onContinue: receives the file.
    public init(
        _ model: FileSelectorModel, film: URL? = nil, upload: URL? = URL(string: "https://sequencing.com/"),
        languages: [String] = Locale.preferredLanguages, signIn: (@MainActor () -> Void)? = nil,
        onClose: (@MainActor () -> Void)? = nil, onContinue: @escaping @MainActor (GeneticFile) -> Void
    ) {
        self.model = model
        self.film = film
        self.upload = upload
        locale = FileSelectorLocale(preferred: languages)
        self.signIn = signIn
        self.onClose = onClose
        self.onContinue = onContinue
    }

    public var body: some View {
        VStack(spacing: 0) {
            header
            content.frame(maxWidth: .infinity, maxHeight: .infinity)
            if state.isBrowsing { footer }
        }
        .background(palette.card)
        .foregroundStyle(palette.ink)
        .onChange(of: locale, initial: true) { _, locale in model.state.locale = locale }
        .task {
            if model.state.phase != .loaded { await model.load() }
        }
        .onChange(of: FileSelectorNews(state)) { before, news in announce(news, after: before) }
        .sheet(
            isPresented: Binding(
                get: { @MainActor in detailed != nil }, set: { @MainActor in if !$0 { detailed = nil } })
        ) {
            if let detailed { FileDetails(detailed, locale: locale) { self.detailed = nil } }
        }
        .sheet(isPresented: $showsHelp) {
            FileSelectorHelp(locale: locale) { showsHelp = false }
        }
        // The last, for the sheets as well.
        .environment(\.layoutDirection, locale.isRightToLeft ? .rightToLeft : .leftToRight)
    }

    private var state: FileSelectorState { model.state }

    private var palette: FileSelectorPalette { FileSelectorPalette(colorScheme) }

    private func text(_ words: FileSelectorWords) -> String { words.text(in: locale) }

    private var header: some View {
        HStack(spacing: 4) {
            if state.isBrowsing, state.asksFirst {
                IconButton("chevron.backward", text(.back)) { model.state.returnToIntro() }
            }
            Text(verbatim: text(.title)).fontWeight(.semibold).font(.title3)
                .frame(maxWidth: .infinity, alignment: .leading)
                .accessibilityAddTraits(.isHeader)
            IconButton("questionmark.circle", text(.help)) { showsHelp = true }
            if let onClose { IconButton("xmark", text(.close), action: onClose) }
        }
        .padding(.horizontal, 12)
        .frame(minHeight: 56)
    }

    @ViewBuilder private var content: some View {
        switch state.phase {
        case .loading:
            FileSelectorMessage(title: nil, note: text(.loading)) { EmptyView() }
        case .failed(let problem):
            FileSelectorMessage(
                title: text(.failure), note: problem.text(in: locale, canSignIn: signIn != nil)
            ) { remedy(for: problem) }
        case .loaded:
            if state.notices.contains(.noFiles) {
                VStack(spacing: 0) {
                    if !state.shownNotices.isEmpty { notices }
                    FileSelectorMessage(title: text(.empty), note: text(.emptyNote)) {
                        FileSelectorButton(text(.refresh), isFirst: true, action: reload)
                    }
                }
            } else if state.screen == .intro {
                FileSelectorIntro(model: model, locale: locale, film: film, notices: notices)
            } else {
                FileListView(
                    model: model, locale: locale, notices: notices, refresh: reload, details: { detailed = $0 },
                    finish: finish)
            }
        }
    }

    private var notices: FileNotices {
        FileNotices(
            model: model, locale: locale, upload: upload, canSignIn: signIn != nil,
            remedy: { AnyView(remedy(for: $0)) })
    }

    /// What the user can do about a problem.
    @ViewBuilder private func remedy(for problem: FileProblem) -> some View {
        if problem == .signInRequired, let signIn {
            FileSelectorButton(text(.signIn), isFirst: true, action: signIn)
        } else {
            FileSelectorButton(text(.retry), isFirst: true, action: reload)
        }
    }

    private var footer: some View {
        VStack(alignment: .leading, spacing: 10) {
            VStack(alignment: .leading, spacing: 2) {
                Text(verbatim: text(state.canContinue ? .selected : .nothingSelected)).foregroundStyle(palette.quiet)
                if let file = state.selected { Text(verbatim: file.displayName).fontWeight(.semibold) }
            }
            .accessibilityElement(children: .combine)
            HStack(spacing: 10) {
                FileSelectorButton(text(.details)) { detailed = state.selected }
                FileSelectorButton(text(.continue), isFirst: true) {
                    if let file = state.selected { finish(file) }
                }
            }
            .disabled(!state.canContinue)
        }
        .padding(16)
        .background(palette.card)
    }

    private func finish(_ file: GeneticFile) {
        onContinue(model.choose(file))
    }

    private func reload() {
        Task { await model.load() }
    }

    private func announce(_ news: FileSelectorNews, after before: FileSelectorNews) {
        let said = news.text(after: before, in: locale, canSignIn: signIn != nil) { loadedAt in
            FileDate.ago(model.now - loadedAt, in: locale)
        }
        guard let text = said else { return }
        let pause = news.pause(after: before)
        announcing?.cancel()
        announcing = Task {
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            AccessibilityNotification.Announcement(AttributedString(text)).post()
        }
    }
}
#endif
