import AsyncSupport
import HTTPTypes
public import Handshake
import OAuth

/// An error of a call to the Recurse Center.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum RecurseCenterError: Error, Sendable, Hashable {
    /// The session, the network or the vault failed.
    case account(HandshakeError)

    /// An argument is invalid. Nothing was sent.
    case input(member: String, problem: String)

    /// The service answered with an error status. `message` is its text, redacted and without control characters.
    case service(status: Int, message: String?)

    /// Too many requests (status 429); `pause` is the value of `Retry-After`.
    case tooManyRequests(pause: Duration?)

    /// The person does not exist (dossier 3). The same token can read the user's own profile.
    case unknownPerson(ProfileReference)

    /// No batch has this identifier.
    case unknownBatch(BatchID)

    /// The user may not do this, such as changing another user's visit (status 403).
    case forbidden(message: String?)

    /// A successful answer is malformed. `member` is the place: `[3].id` is a member of a list's element.
    case malformed(answer: String, member: String, expected: String, found: String)

    /// A person's photo cannot be used.
    case photo(PhotoProblem)

    /// Why a photo cannot be used.
    public enum PhotoProblem: Sendable, Hashable {
        /// The URL is malformed, or may not be requested.
        case address(String)
        /// The content is no image of a known format; `found` is its declared type.
        case notAnImage(found: String)
        /// The URL redirects more often than is followed.
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
        }
    }

    /// What happened, why, and what to do.
    public var description: String {
        switch self {
        case .account(let error): "\(error)"
        case .input(let member, let problem): problem.sentence(about: member)
        case .service(let status, let message):
            "The Recurse Center "
                + (status >= 500 ? "is not working right now (status \(status))" : "answered with status \(status)")
                + (message.map { ": “\($0)”." } ?? ".") + (status >= 500 ? " Try again in a few minutes." : "")
        case .tooManyRequests(let pause):
            "The Recurse Center got too many requests. Try again "
                + (pause.map { "in \($0.components.seconds) seconds." } ?? "later.")
        case .unknownPerson(let reference):
            "The Recurse Center has no profile for \(reference). Check the number or the email address."
        case .unknownBatch(let id): "The Recurse Center has no batch \(id). List the batches and choose one."
        case .forbidden(let message):
            "The Recurse Center does not permit this for this account" + (message.map { ": “\($0)”." } ?? ".")
                + " Sign in with an account that may do it."
        case .malformed(_, let member, let expected, let found):
            (Self.sentence(unread: member, expected: expected, found: found, service: "The Recurse Center")
                ?? "The Recurse Center's answer cannot be read: a part of it is missing or wrong.")
                + " Try again later. If it happens again, report it to the Recurse Center."
        case .photo(.address(let problem)): "The photo's URL cannot be used: \(problem.clause)."
        case .photo(.notAnImage(let found)):
            "The photo's URL returned \(found) instead of an image. Nothing was stored."
        case .photo(.tooManyRedirects): "The photo's URL redirects too often. Nothing was stored."
        }
    }
}

extension RecurseCenterError {
    /// The place of what is malformed in an answer, in the names of the wire.
    ///
    /// For a report of the defect. Nil for other errors.
    public var detail: String? {
        guard case .malformed(let answer, let member, let expected, let found) = self else { return nil }
        return "\(answer): \(member) should be \(expected) but is \(found)"
    }

    /// Reads an error response; only a JSON object gives a message, not a page.
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
}

extension RecurseCenterError: KitError {
    /// Whether a retry may succeed (dossier 3).
    package var isRetryable: Bool {
        switch self {
        case .account(.network(.insecure)), .account(.network(.tooLarge)): false
        case .account(.network), .account(.refreshUncertain), .tooManyRequests: true
        case .service(let status, _): (500...599).contains(status)
        default: false
        }
    }
}

extension RecurseCenterError {
    /// Runs `body`; a failure of the vault becomes this module's error.
    static func placingVault<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as VaultError {
            throw RecurseCenterError.account(.vault(error))
        }
    }
}
