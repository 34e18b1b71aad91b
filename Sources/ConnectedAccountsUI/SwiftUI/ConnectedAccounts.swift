#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import Accessibility
public import Handshake
public import SwiftUI
import Translations

/// The services of an app, with the state of the user's account at each.
///
/// It draws a ``ConnectedAccountsModel``.
///
/// It names what it shows to assistive technology, follows the text size, light and dark mode, and mirrors itself in
/// right-to-left layouts. Actions that do not fit side by side stand one below the other.
public struct ConnectedAccounts<SignInBrowser: Browser>: View {
    private let model: ConnectedAccountsModel
    private let browser: SignInBrowser
    private let locale: InterfaceLocale
    private let logIn: (@MainActor () -> Void)?
    @Environment(\.scenePhase) private var phase
    @AccessibilityFocusState private var focus: AccountsFocus?

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - model: the accounts. The list loads it when it appears, and when the app becomes active.
    ///   - browser: shows the services' pages, such as `WebAuthenticationBrowser`.
    ///   - languages: the user's languages, the best first; by default the device's.
    ///   - logIn: logs the user in to the app, when the session at its server has ended. Load the model afterwards.
    public init(
        _ model: ConnectedAccountsModel, through browser: SignInBrowser,
        languages: [String] = Locale.preferredLanguages,
        logIn: (@MainActor () -> Void)? = nil
    ) {
        self.logIn = logIn
        self.model = model
        self.browser = browser
        locale = InterfaceLocale(preferred: languages)
    }

    public var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 24) {
                if let failure = model.failure {
                    Text(verbatim: text(failure.words))
                    if failure == .loggedOut, let logIn {
                        button(.logIn, action: logIn)
                    } else {
                        button(.tryAgain) { Task { await model.load() } }
                    }
                } else if model.accounts.isEmpty {
                    Text(verbatim: text(.loading))
                    if model.isLoadSlow { Text(verbatim: text(.slow)) }
                }
                ForEach(model.accounts, id: \.id) { account in row(account) }
            }
            .padding(16)
        }
        .task { await model.load() }
        .onChange(of: phase) { _, now in
            // What runs ends with a load.
            guard now == .active, model.running.isEmpty else { return }
            Task { await model.load() }
        }
        .onChange(of: model.news) { before, after in announce(before, after) }
        // The question was answered: the row that it was about is where the user goes on.
        .onChange(of: model.asked) { before, now in if now == nil, let before { focus = .row(before) } }
    }

    private func row(_ account: ConnectedAccount) -> some View {
        VStack(alignment: .leading, spacing: 8) {
            VStack(alignment: .leading, spacing: 2) {
                Text(verbatim: account.displayName).fontWeight(.heavy)
                    .accessibilityFocused($focus, equals: .row(account.service))
                HStack(spacing: 6) {
                    mark(of: account.state)
                    Text(verbatim: state(of: account))
                        .fontWeight(account.state.needsAttention ? .semibold : .regular)
                }
                if let lastUse = account.lastUse {
                    Text(verbatim: text(.lastUsed, Self.moment(lastUse, in: locale))).opacity(0.7)
                }
            }
            if model.asked == account.service {
                question(account)
            } else if let running = model.running[account.service] {
                Text(verbatim: text(running.words, account.displayName))
                if model.slow.contains(account.service) { Text(verbatim: text(.slow)) }
                button(.cancel, account) { model.cancel(account.service) }
            } else {
                sideBySide {
                    ForEach(account.state.actions, id: \.self) { action in
                        button(action.words, account) { act(action, on: account) }
                    }
                }
                if let outcome = model.outcomes[account.service] {
                    Text(verbatim: text(outcome.words, account.displayName))
                }
            }
        }
    }

    /// Asks in the row itself, so that what it is about stays in view.
    private func question(_ account: ConnectedAccount) -> some View {
        VStack(alignment: .leading, spacing: 8) {
            Text(verbatim: text(.confirmTitle, account.displayName)).fontWeight(.heavy)
                .accessibilityFocused($focus, equals: .question(account.service))
            Text(verbatim: text(.confirmText, account.displayName))
            sideBySide {
                button(.keep, account) { model.keep() }
                button(.disconnect, account) { model.disconnect(account.service) }
            }
        }
        .onAppear { focus = .question(account.service) }
    }

    /// What the words of the state say, at a glance.
    @ViewBuilder private func mark(of state: ConnectedAccount.State) -> some View {
        if state.needsAttention {
            Image(systemName: "exclamationmark.triangle.fill").foregroundStyle(Color.red).accessibilityHidden(true)
        } else if state.isConnected {
            Image(systemName: "checkmark.circle.fill").foregroundStyle(Color.green).accessibilityHidden(true)
        }
    }

    /// A button whose name says which account it is about.
    private func button(
        _ words: ConnectedAccountsWords, _ account: ConnectedAccount, action: @escaping @MainActor () -> Void
    ) -> some View {
        button(words, action: action)
            .accessibilityLabel(Text(verbatim: "\(text(words)), \(account.displayName)"))
    }

    private func button(_ words: ConnectedAccountsWords, action: @escaping @MainActor () -> Void) -> some View {
        Button(role: words == .disconnect ? .destructive : nil, action: action) {
            // What a button reacts to is its label.
            Text(verbatim: text(words))
                .frame(minWidth: minimumTarget, minHeight: minimumTarget, alignment: .leading)
                .contentShape(Rectangle())
        }
    }

    /// Side by side where there is room, otherwise one below the other: large text needs more.
    private func sideBySide<Content: View>(@ViewBuilder _ content: () -> Content) -> some View {
        let content = content()
        return ViewThatFits(in: .horizontal) {
            HStack(spacing: 12) { content }
            VStack(alignment: .leading, spacing: 4) { content }
        }
    }

    private func act(_ action: ConnectedAccount.Action, on account: ConnectedAccount) {
        switch action {
        case .connect, .reconnect: model.connect(account.service, through: browser)
        case .disconnect: model.askToDisconnect(account.service)
        }
    }

    private func state(of account: ConnectedAccount) -> String {
        guard account.state.isConnected, let name = account.userName else { return text(account.state.words) }
        return text(.connectedAs, name)
    }

    private func text(_ words: ConnectedAccountsWords, _ argument: String = "") -> String {
        words.text(in: locale, argument)
    }

    private static func moment(_ time: Double, in locale: InterfaceLocale) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: locale.tag)
        formatter.dateStyle = .medium
        formatter.timeStyle = .short
        formatter.doesRelativeDateFormatting = true
        return formatter.string(from: Date(timeIntervalSince1970: time))
    }

    /// Says in one announcement what has changed: a second one would cut the first one off.
    private func announce(_ before: AccountsNews, _ after: AccountsNews) {
        let said = after.announcements(since: before, of: model.accounts).map { text($0.words, $0.name) }
        guard !said.isEmpty else { return }
        AccessibilityNotification.Announcement(AttributedString(said.joined(separator: " "))).post()
    }
}

#if os(macOS)
/// A pointer needs no more than the button itself.
private let minimumTarget: CGFloat? = nil
#else
/// What a finger hits, in points.
private let minimumTarget: CGFloat? = 44
#endif

/// Where the focus of a screen reader is led, with the service.
private enum AccountsFocus: Hashable {
    case row(String)
    case question(String)
}
#endif
