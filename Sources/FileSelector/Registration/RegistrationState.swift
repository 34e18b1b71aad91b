import Handshake
public import Sequencing

/// The state of a sheet that asks for an account or a new password (dossier 2.1).
///
/// SwiftUI's `RegistrationSheet` and the web component `<registration-sheet>` draw it.
public struct RegistrationState: Sendable, Hashable {
    /// The address as the user typed it.
    public var email: String
    /// What the sheet shows.
    public private(set) var step = Step.editing(nil)

    /// What the user asks for.
    public enum Request: String, Sendable, Hashable, CaseIterable {
        /// An account.
        case account = "register"
        /// A new password.
        case password = "reset-password"
    }

    /// What the sheet shows.
    public enum Step: Sendable, Hashable {
        /// The field, and why the last attempt did not succeed.
        case editing(Complaint?)
        /// The request is under way.
        case asking(Request)
        /// The service has sent a mail. The user continues with its link.
        case mailSent(Request)
    }

    /// Why an attempt did not succeed.
    public enum Complaint: Sendable, Hashable {
        /// The field is empty.
        case empty
        /// The address is not valid.
        case invalid
        /// The service does not accept it; its own texts.
        case refused([String])
        /// The service could not be asked.
        case unreachable
        /// No answer came: the request may have arrived.
        case unanswered
    }

    public init(email: String = "") {
        self.email = email
    }

    /// Begins a request, or says what is wrong with the address.
    ///
    /// Nothing is to be sent for a bad address.
    ///
    /// - Returns: the checked address; nil while a request is under way, after one succeeded, and for a bad address.
    public mutating func begin(_ request: Request) -> Sequencing.EmailAddress? {
        guard case .editing = step else { return nil }
        let typed = email.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        let text = String(typed)
        guard !text.isEmpty else {
            step = .editing(.empty)
            return nil
        }
        guard let address = try? Sequencing.EmailAddress(text) else {
            step = .editing(.invalid)
            return nil
        }
        email = text
        step = .asking(request)
        return address
    }

    /// Shows the service's answer to the request that is under way.
    public mutating func show(_ outcome: Registration.Outcome) {
        guard case .asking(let request) = step else { return }
        switch outcome {
        case .mailSent: step = .mailSent(request)
        case .refused(_, let messages): step = .editing(.refused(messages))
        }
    }

    /// Shows that the service gave no answer to the request that is under way.
    public mutating func fail(_ error: any Error) {
        guard case .asking = step else { return }
        switch error as? SequencingError {
        case .account(.network(let problem))? where !problem.mayHaveArrived: step = .editing(.unreachable)
        case .service?: step = .editing(.unreachable)
        default: step = .editing(.unanswered)
        }
    }

    /// Stops waiting for an answer. The request may have arrived.
    public mutating func cancel() {
        if case .asking = step { step = .editing(.unanswered) }
    }
}

extension RegistrationState.Complaint {
    /// What the user reads.
    func text(in locale: FileSelectorLocale) -> String {
        switch self {
        case .empty: FileSelectorWords.registerEmpty.text(in: locale)
        case .invalid: FileSelectorWords.registerInvalid.text(in: locale)
        case .refused(let messages):
            FileSelectorWords.registerRefused.text(in: locale, messages.joined(separator: " "))
        case .unreachable: FileSelectorWords.registerFailed.text(in: locale)
        case .unanswered: FileSelectorWords.registerUnknown.text(in: locale)
        }
    }
}

extension RegistrationState.Request {
    /// The label of its button.
    var words: FileSelectorWords { self == .account ? .registerNew : .registerReset }
    /// What the user does next.
    var sentWords: FileSelectorWords { self == .account ? .registerSentNew : .registerSentReset }
}
