import HTTPTypes
public import Handshake
import OAuth

/// What can go wrong between an app and the Recurse Center; each case says whose turn it is.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum RecurseCenterError: Error, Sendable, Hashable {
    /// The session, the network or the vault: what the account said.
    case account(HandshakeError)

    /// What the caller gave cannot be right. Nothing was sent.
    case input(member: String, problem: String)

    /// The service answered with an error status. `message` is its own word, made harmless.
    case service(status: Int, message: String?)

    /// The service wants to be left alone for a while (status 429); `pause` is what it asked for.
    case tooManyRequests(pause: Duration?)

    /// The service knows no such person (dossier 3), as the same token can read the user's own profile.
    case unknownPerson(ProfileReference)

    /// The service knows no batch of this identifier.
    case unknownBatch(BatchID)

    /// The user may not do this, such as changing somebody else's visit (status 403).
    case forbidden(message: String?)

    /// A successful answer that cannot be understood. `member` is where: `[3].id` is a place in a list.
    case malformed(answer: String, member: String, expected: String, found: String)

    /// A person's photo cannot be used.
    case photo(PhotoProblem)

    /// A file on this machine cannot be read or written.
    case disk(path: String, reason: String)

    /// Why a photo cannot be used.
    public enum PhotoProblem: Sendable, Hashable {
        /// The address is none, or none that may be asked.
        case address(String)
        /// What came is no picture of a known format; `found` is what the service called it.
        case notAnImage(found: String)
        /// More redirects than are followed.
        case tooManyRedirects
    }
}

extension RecurseCenterError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .account(let error): error.code
        case .input: "invalid_input"
        case .service: "service_error"
        case .tooManyRequests: "too_many_requests"
        case .unknownPerson: "person_not_found"
        case .unknownBatch: "batch_not_found"
        case .forbidden: "forbidden"
        case .malformed: "malformed_answer"
        case .photo: "unusable_photo"
        case .disk: "file_failed"
        }
    }

    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .account(let error): "\(error)"
        case .input(let member, let problem): "\(member): \(problem)"
        case .service(let status, let message):
            "the Recurse Center answered with status \(status)" + (message.map { ": \($0)" } ?? "; try again later")
        case .tooManyRequests(let pause):
            "the Recurse Center has had too many requests; try again "
                + (pause.map { "in \($0.components.seconds) seconds" } ?? "later")
        case .unknownPerson(let reference): "the Recurse Center knows nobody as \(reference)"
        case .unknownBatch(let id): "the Recurse Center knows no batch \(id); list the batches and choose one"
        case .forbidden(let message):
            "the Recurse Center does not allow this to this account" + (message.map { ": \($0)" } ?? "")
        case .malformed(let answer, let member, let expected, let found):
            "the answer of \(answer) cannot be understood: \(member) should be \(expected) but is \(found)"
        case .photo(.address(let problem)): "the photo's address cannot be used: \(problem)"
        case .photo(.notAnImage(let found)): "instead of a photo came \(found); nothing was kept"
        case .photo(.tooManyRedirects): "the photo's address leads from one redirect to the next; nothing was kept"
        case .disk(let path, let reason): "\(quoted(path)) cannot be used: \(reason)"
        }
    }
}

extension RecurseCenterError {
    /// Gives a failure of the floor below its place here; a cancellation and this module's own errors stay what they
    /// are.
    static func placing(_ error: any Error) -> any Error {
        switch error {
        case let error as HandshakeError: RecurseCenterError.account(error)
        case let error as TransportError: RecurseCenterError.account(.network(error))
        case let error as OAuthError: RecurseCenterError.account(.exchange(error))
        default: error
        }
    }

    /// What an error status says: the service's word where it answered with an object, nothing of a page.
    init(_ response: ResponseMessage, pause: Duration?) {
        let word = (try? JSONValue(parsing: response.content))?.object?["message"]?.string
        let message = word.flatMap { $0.isEmpty ? nil : quoted(hidingTokens(in: $0), limit: 300) }
        self =
            switch response.head.status.code {
            case 429: .tooManyRequests(pause: pause)
            case 403: .forbidden(message: message)
            case let status: .service(status: status, message: message)
            }
    }

    /// Whether asking once more may help: the peer was not there, or said so itself (dossier 3).
    var isPassing: Bool {
        switch self {
        case .account(.network(.insecure)), .account(.network(.tooLarge)): false
        case .account(.network), .account(.refreshUncertain), .tooManyRequests: true
        case .service(let status, _): (500...599).contains(status)
        default: false
        }
    }
}
