import Handshake
public import Sequencing

/// The state of a sheet that copies a file from the web (dossier 3.3).
///
/// SwiftUI's `CopyingSheet` draws it; an app may draw it in its own way.
public struct CopyingState: Sendable, Hashable {
    /// The email address of the account, as the user typed it.
    public var email: String
    /// The name that the file gets.
    public var name: String
    /// Where the file is.
    public var url: String
    /// What the sheet shows.
    public private(set) var step = Step.editing(nil)

    /// What the sheet shows.
    public enum Step: Sendable, Hashable {
        /// The fields, and why the last attempt did not succeed.
        case editing(Complaint?)
        /// The request is under way.
        case asking
        /// The service downloads the file.
        case accepted
    }

    /// Why an attempt did not succeed.
    public enum Complaint: Sendable, Hashable {
        /// No email address was typed.
        case emptyEmail
        /// The email address is not valid.
        case invalidEmail
        /// The file has no name.
        case emptyName
        /// The service cannot download from this address.
        case invalidURL
        /// The service does not accept the request.
        case refused(status: Int)
        /// The service could not be asked.
        case unreachable
        /// The service has not confirmed: the request may have arrived.
        case unconfirmed
    }

    public init(email: String = "", name: String = "", url: String = "") {
        self.email = email
        self.name = name
        self.url = url
    }

    /// Begins a request, or says what is wrong with a field.
    ///
    /// Nothing is to be sent for a wrong field, and nothing twice: the service would copy the file twice.
    ///
    /// - Returns: the checked request; nil while one is under way, after one succeeded, and for a wrong field.
    public mutating func begin() -> ConnectRequest? {
        guard case .editing = step else { return nil }
        (email, name, url) = (Self.trimmed(email), Self.trimmed(name), Self.trimmed(url))
        guard !email.isEmpty else { return complain(.emptyEmail) }
        guard let address = try? Sequencing.EmailAddress(email) else { return complain(.invalidEmail) }
        guard !name.isEmpty else { return complain(.emptyName) }
        guard let file = try? ConnectRequest.File(name: name, url: url),
            let request = try? ConnectRequest(email: address, files: [file])
        else { return complain(.invalidURL) }
        step = .asking
        return request
    }

    private mutating func complain(_ complaint: Complaint) -> ConnectRequest? {
        step = .editing(complaint)
        return nil
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// Shows the service's answer to the request that is under way.
    public mutating func show(_ outcome: ConnectDelivery.Outcome) {
        guard case .asking = step else { return }
        switch outcome {
        case .accepted: step = .accepted
        case .refused(let status): step = .editing(.refused(status: status))
        }
    }

    /// Shows that the request that is under way has no outcome.
    public mutating func fail(_ error: any Error) {
        guard case .asking = step else { return }
        switch error as? SequencingError {
        // The link of a very long address is refused before anything is sent.
        case .input(member: "files", problem: _)?: step = .editing(.invalidURL)
        case .account(.network(let problem))? where !problem.mayHaveArrived: step = .editing(.unreachable)
        default: step = .editing(.unconfirmed)
        }
    }

    /// Stops waiting for an answer. The request may have arrived.
    public mutating func cancel() {
        if case .asking = step { step = .editing(.unconfirmed) }
    }
}

extension CopyingState.Complaint {
    /// What the user reads.
    func text(in locale: FileSelectorLocale) -> String {
        switch self {
        case .emptyEmail: FileSelectorWords.registerEmpty.text(in: locale)
        case .invalidEmail: FileSelectorWords.registerInvalid.text(in: locale)
        case .emptyName: FileSelectorWords.copyEmpty.text(in: locale)
        case .invalidURL: FileSelectorWords.copyInvalid.text(in: locale)
        case .refused(let status): FileSelectorWords.reasonStatus.text(in: locale, "\(status)")
        case .unreachable: FileSelectorWords.registerFailed.text(in: locale)
        case .unconfirmed: FileSelectorWords.copyUnknown.text(in: locale)
        }
    }
}
