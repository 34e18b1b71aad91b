/// Composes the texts of a state.
struct FaceWriter {
    let state: ConnectButtonState
    let locale: ConnectButtonLocale

    private var shortName: String { state.connection?.connecting.shortName ?? "" }

    func say(_ words: ConnectButtonWords) -> String { words.text(in: locale) }

    var label: String { label(of: state.step) }

    /// The label of the next step; if the state does not name it, turning on verifies and turning off asks.
    var toggled: String {
        switch state.step {
        case .connect: label(of: state.next ?? .verifying)
        case .connected, .pending: label(of: state.next ?? .confirmDisconnect)
        default: label
        }
    }

    private func label(of step: ConnectButtonState.Step) -> String {
        switch step {
        case .hidden: ""
        case .loading: say(.loading)
        case .loadingFailed: say(.connectAny)
        case .connect:
            shortName.isEmpty ? say(.connectAny) : ConnectButtonWords.connect.text(in: locale, shortName)
        case .email: say(.emailPlaceholder)
        case .verifying: say(.verifying)
        case .creatingAccount: say(.creatingAccount)
        case .goingToService:
            ConnectButtonWords.goingTo.text(in: locale, state.connection?.connecting.name ?? "")
        case .connecting: say(.connecting)
        case .connected: say(.connected)
        case .pending: say(.pending)
        case .confirmDisconnect: ConnectButtonWords.confirmDisconnect.text(in: locale, shortName)
        case .disconnecting: say(.disconnecting)
        case .disconnected: say(.disconnected)
        }
    }

    /// Includes the service's name where the label lacks it, so that two buttons on a page can be told apart.
    var name: String {
        switch state.step {
        case .hidden, .connect, .goingToService, .confirmDisconnect: label
        default: shortName.isEmpty ? label : label + ", " + ConnectButtonWords.isolated(shortName)
        }
    }

    private var undoText: String? {
        state.undo.map {
            ConnectButtonWords.undoSeconds.text(in: locale, count: Int(exactly: $0.remaining.rounded(.up)) ?? .max)
        }
    }

    /// A failure or the label, and the footer when it has a message of its own.
    var announcement: String {
        if let failure = state.failure { return failure.kind.text(in: locale) }
        switch state.step {
        case .hidden, .connect: return ""
        case .email: return say(.emailPlaceholder)
        case .creatingAccount, .pending, .goingToService: return name + ". " + footer.map(\.text).joined()
        default: return [name, undoText].compactMap(\.self).joined(separator: ". ")
        }
    }

    var footer: [TextRun] {
        if let failure = state.failure { return [TextRun(failure.kind.text(in: locale))] }
        if let undoText { return [TextRun(undoText)] }
        let text =
            switch state.step {
            case .hidden: ""
            case .email: say(.emailSecured)
            case .creatingAccount: ConnectButtonWords.accountCreation.text(in: locale, state.email ?? "")
            case .goingToService:
                if let email = state.email {
                    ConnectButtonWords.accountCreation.text(in: locale, email)
                } else {
                    say(.waitingNote)
                }
            case .confirmDisconnect: label
            case .pending:
                ConnectButtonWords.pendingNote.text(in: locale, state.connection?.primary.shortName ?? "")
            default: say(.worksWith)
            }
        return namesAccount ? markingAround(text) : TextRun.marking(text)
    }

    /// Whether the footer names the account that is being created.
    private var namesAccount: Bool {
        switch state.step {
        case .creatingAccount: true
        case .goingToService: state.email != nil
        default: false
        }
    }

    /// Marks the word mark in our text, but not in a user's address.
    private func markingAround(_ text: String) -> [TextRun] {
        text.split(separator: "\u{2068}", maxSplits: 1, omittingEmptySubsequences: false).enumerated().flatMap {
            index, part in
            guard index > 0 else { return TextRun.marking(String(part)) }
            let pieces = part.split(separator: "\u{2069}", maxSplits: 1, omittingEmptySubsequences: false)
            return [TextRun("\u{2068}" + pieces[0] + "\u{2069}")] + TextRun.marking(pieces.dropFirst().joined())
        }
    }

    var tone: ConnectButtonFace.Tone {
        if let failure = state.failure { return failure.kind.isError ? .error : .plain }
        guard state.undo == nil else { return .plain }
        switch state.step {
        case .email, .creatingAccount, .goingToService, .pending, .confirmDisconnect: return .plain
        default: return .lead
        }
    }

    var actions: [ConnectButtonFace.Action] {
        var actions: [ConnectButtonFace.Action] = []
        // While the email field is visible, confirming again is the retry.
        if let failure = state.failure, failure.kind.isRetryable, state.step != .email {
            actions.append(action(.retry))
        }
        if state.undo != nil { actions.append(action(.undo)) }
        // The pill opens the set-up, so turning off needs an action of its own.
        if state.step == .pending, state.connection != nil { actions.append(action(.disconnect)) }
        if state.isCancellable { actions.append(action(.cancel)) }
        if offersAbout { actions.append(action(.about)) }
        return actions
    }

    /// Whether the About page is one of the actions: where it is available (dossier 4.4) and the footer does not link to it,
    /// because it shows a message.
    private var offersAbout: Bool {
        guard state.connection != nil, tone != .lead, state.undo == nil else { return false }
        switch state.step {
        case .connect, .email, .verifying, .creatingAccount, .goingToService, .connected, .pending: return true
        case .hidden, .loading, .loadingFailed, .connecting, .confirmDisconnect, .disconnecting, .disconnected:
            return false
        }
    }

    func action(_ kind: ConnectButtonFace.Action.Kind) -> ConnectButtonFace.Action {
        let words: ConnectButtonWords =
            switch kind {
            case .retry: .tryAgain
            case .cancel: .cancel
            case .undo: .undo
            case .disconnect: .disconnect
            case .keep: .keep
            case .about: .learnMore
            }
        return ConnectButtonFace.Action(kind: kind, title: say(words))
    }

    var about: ConnectButtonFace.About? {
        guard let connection = state.connection else { return nil }
        let link = say(.legalLink)
        let legal = ConnectButtonWords.legal.text(in: locale, link)
        let around = legal.split(
            separator: ConnectButtonWords.isolated(link), maxSplits: 1, omittingEmptySubsequences: false)
        let runs =
            [TextRun(String(around.first ?? "")), TextRun(link, .link)] + around.dropFirst().map { TextRun(String($0)) }
        return ConnectButtonFace.About(
            title: titleRuns(connection),
            benefits: [.aboutConnect, .aboutControl, .aboutSecurity, .aboutManage].map(say),
            manage: say(.manageConnection),
            store: say(.store), legal: runs.filter { !$0.text.isEmpty }, close: say(.close))
    }

    /// The word mark comes first in all locales, so only the first match is one; a service can have the same name.
    private func titleRuns(_ connection: ConnectButtonConnection) -> [TextRun] {
        let text = ConnectButtonWords.aboutTitle.text(
            in: locale, connection.primary.shortName, connection.connecting.shortName)
        guard let start = text.firstRange(of: "IFTTT") else { return [TextRun(text)] }
        return [
            TextRun(String(text[..<start.lowerBound])), TextRun("IFTTT", .mark),
            TextRun(String(text[start.upperBound...])),
        ].filter { !$0.text.isEmpty }
    }
}
