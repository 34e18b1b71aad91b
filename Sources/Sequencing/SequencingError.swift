import AsyncSupport
public import Handshake
import OAuth

/// An error of a call to Sequencing.com.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum SequencingError: Error, Sendable, Hashable {
    /// The session, the network or the vault failed.
    case account(HandshakeError)

    /// An argument is invalid. Nothing was sent.
    case input(member: String, problem: String)

    /// The service answered with an error status. `code` and `message` are its texts, redacted and without control characters.
    case service(status: Int, code: String?, message: String?)

    /// No app chain has this code (dossier 5.12).
    case unknownChain(AppCode)

    /// The file does not exist, or belongs to another user (dossier 5.12).
    case unknownFile(FileID)

    /// The job does not exist, or belongs to another user (dossier 5.12).
    case unknownJob(JobID)

    /// A successful answer is malformed. `member` is the place: `[3].Status.IdJob` is a member of a list's element.
    case malformed(answer: String, member: String, expected: String, found: String)

    /// The job ended without success (dossier 5.12). The chain does not support the file, or failed on it.
    case unsuccessful(Report)

    /// The service reports that the job failed.
    case failed(JobID)
    /// The service reports that the job was cancelled.
    case cancelled(JobID)

    /// The job had not ended by the deadline. It continues at the service: resume it by its identifier.
    case deadline(JobID)

    /// The report lacks the property that the chain answers with.
    case answerMissing(chain: AppCode, property: String)

    /// A file on this machine cannot be written.
    case disk(path: String, reason: String)
}

extension SequencingError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .account(let error): error.code
        case .input: "invalid_input"
        case .service(_, let code, _): code ?? "service_error"
        case .unknownChain: "chain_not_found"
        case .unknownFile: "file_not_found"
        case .unknownJob: "job_not_found"
        case .malformed: "malformed_answer"
        case .unsuccessful: "job_unsuccessful"
        case .failed: "job_failed"
        case .cancelled: "job_cancelled"
        case .deadline: "job_deadline"
        case .answerMissing: "answer_missing"
        case .disk: "cannot_write"
        }
    }

    /// What happened, why, and what to do.
    public var description: String {
        switch self {
        case .account(let error): "\(error)"
        case .input(let member, let problem): problem.sentence(about: member)
        case .service(let status, let code, let message):
            "Sequencing.com "
                + (status >= 500 ? "is not working right now (status \(status))" : "answered with status \(status)")
                + ((message ?? code).map { ": “\($0)”." } ?? ".")
                + (status >= 500 ? " Try again in a few minutes." : "")
        case .unknownChain(let code): "Sequencing.com has no app chain “\(code)”. Check its number."
        case .unknownFile(let id): "Sequencing.com has no file \(id) for this account. List the files and choose one."
        case .unknownJob(let id): "Sequencing.com has no job \(id) for this account. Check its number."
        case .malformed(let answer, let member, let expected, let found):
            Self.unread(answer, member: member, expected: expected, found: found)
                + " Try again later. If it happens again, report it to Sequencing.com."
        case .unsuccessful(let report):
            "Job \(report.job) ended without success: the app chain cannot use this file. Choose another."
        case .failed(let job): "Job \(job) failed at Sequencing.com. Run the app chain again."
        case .cancelled(let job):
            "Job \(job) was cancelled at Sequencing.com. Run the app chain again if you need its report."
        case .deadline(let job):
            "Job \(job) had not ended by the deadline. It continues at Sequencing.com: resume it to get its report."
        case .answerMissing(let chain, let property):
            "The report of \(chain) has no property “\(property)”. Read its properties instead."
        case .disk(let path, let reason): "“\(path)” cannot be written: \(reason)."
        }
    }
}

extension SequencingError {
    /// The place of what is malformed in an answer, in the names of the wire.
    ///
    /// For a report of the defect. Nil for other errors.
    public var detail: String? {
        guard case .malformed(let answer, let member, let expected, let found) = self else { return nil }
        return "\(answer): \(member) should be \(expected) but is \(found)"
    }

    /// What is wrong with an answer, in a sentence.
    package static func unread(_ answer: String, member: String, expected: String, found: String) -> String {
        sentence(unread: member, expected: expected, found: found, service: "Sequencing.com")
            ?? "Sequencing.com's \(subject(of: answer)) cannot be read: "
            + (member == "content" ? "\(expected) was expected, not \(found)" : "a part of it is missing or wrong")
            + "."
    }

    /// What an answer is about.
    private static func subject(of answer: String) -> String {
        switch answer {
        case "DataSourceList": "list of files"
        case "StartApp", "StartAppBatch": "answer to the start of an app chain"
        case "GetAppResults", "GetAppResultsBatch": "report"
        case "CheckAppStatus": "answer about a job"
        case "seq_register": "answer to the registration"
        case "seq_new_pass": "answer to the password reset"
        case "PublicBeacons", "SequencingBeacon": "answer about the variant"
        default: "answer to the import"
        }
    }
}

extension SequencingError: KitError {
    /// Whether a retry may succeed (dossier 9.4).
    package var isRetryable: Bool {
        switch self {
        case .account(.network(.insecure)), .account(.network(.tooLarge)): false
        case .account(.network), .account(.refreshUncertain): true
        case .service(let status, _, _): [502, 503, 504].contains(status)
        default: false
        }
    }
}
