import Handshake
import OAuth
import Sequencing

/// Why the list of files could not be loaded, as far as it matters to the user.
public enum FileProblem: Sendable, Hashable {
    /// The session has ended: the user has to sign in again.
    case signInRequired
    /// The service could not be reached, or is not working right now.
    case unreachable
    /// The service asks to wait.
    case tooManyRequests
    /// The service answered with another error status.
    case status(Int)
    /// The service answered with something other than a list of files.
    case answer
    /// Something in the app failed, such as its vault.
    case app

    /// Tells what an error of the kit means to the user.
    public init(_ error: any Error) {
        switch error {
        case SequencingError.account(let error): self.init(error)
        case let error as HandshakeError:
            switch error {
            case .signInRequired, .demanded: self = .signInRequired
            case .network, .refreshUncertain, .tooManyRedirects, .exchange: self = .unreachable
            default: self = .app
            }
        case SequencingError.service(let status, _, _):
            switch status {
            case 401, 403: self = .signInRequired
            case 429: self = .tooManyRequests
            case 502, 503, 504: self = .unreachable
            default: self = .status(status)
            }
        case SequencingError.malformed: self = .answer
        default: self = .app
        }
    }

    /// What the user reads. A button that signs in may stand beside it.
    func text(in locale: FileSelectorLocale, canSignIn: Bool) -> String {
        switch self {
        case .signInRequired: (canSignIn ? FileSelectorWords.reasonExpired : .reasonExpiredHere).text(in: locale)
        case .unreachable: FileSelectorWords.reasonNetwork.text(in: locale)
        case .tooManyRequests: FileSelectorWords.reasonTooMany.text(in: locale)
        case .status(let status): FileSelectorWords.reasonStatus.text(in: locale, "\(status)")
        case .answer: FileSelectorWords.reasonAnswer.text(in: locale)
        case .app: FileSelectorWords.reasonApp.text(in: locale)
        }
    }
}
