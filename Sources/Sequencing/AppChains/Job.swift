import Handshake
public import OAuth

/// The identifier of a job (dossier 5.2, `IdJob`). Store it to resume a run after a restart.
public struct JobID: Sendable, Hashable, Codable {
    public let number: Int64

    public init(_ number: Int64) {
        self.number = number
    }

    public init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

extension JobID: CustomStringConvertible {
    public var description: String { String(number) }
}

/// The status of a job (dossier 5.2, `Status`). Words are compared case-insensitively.
public enum JobStatus: Sendable, Hashable {
    case pending
    /// `Running`, also called `Executing`.
    case running
    case completed
    case failed
    /// `Cancelled`, also spelled `Canceled`.
    case cancelled
    /// An unknown status: the job may still end.
    case other(String)

    /// Parses the service's word.
    public init(_ word: String) {
        self =
            switch word.lowercased() {
            case "pending": .pending
            case "running", "executing": .running
            case "completed": .completed
            case "failed": .failed
            case "cancelled", "canceled": .cancelled
            default: .other(word)
            }
    }
}

/// A job: identifier, status, and the report once it is completed (dossier 5.2).
public struct Job: Sendable, Hashable {
    public let id: JobID
    public let status: JobStatus
    /// Whether the job succeeded; nil until it has ended. The wire spells it `CompletedSuccesfully`.
    public let completedSuccessfully: Bool?
    /// When it ended, in the service's notation.
    public let finished: String?
    /// The properties so far; empty until the job has ended.
    public let properties: [ReportProperty]
    /// The whole object.
    public let raw: JSONValue

    /// Parses a job result object.
    ///
    /// - Throws: ``SequencingError/malformed(answer:member:expected:found:)``.
    public init(_ value: JSONValue, answer: String = "GetAppResults") throws(SequencingError) {
        try self.init(value, answer: answer, place: "")
    }

    init(_ value: JSONValue, answer: String, place: String) throws(SequencingError) {
        let object = try Members(value, answer: answer, place: place)
        let state = try object.object("Status")
        id = JobID(try state.requiredInteger("IdJob"))
        status = JobStatus(try state.text("Status"))
        completedSuccessfully = try state.bool("CompletedSuccesfully")
        finished = state.lenientText("FinishDt")
        var properties: [ReportProperty] = []
        for (index, element) in try object.list("ResultProps").enumerated() {
            properties.append(
                try ReportProperty(element, job: id, answer: answer, place: "\(object.place)ResultProps[\(index)]"))
        }
        self.properties = properties.withNamedDocuments
        raw = value
    }

    /// The outcome of the job; nil while it runs.
    var outcome: Result<Report, SequencingError>? {
        switch status {
        case .pending, .running, .other: nil
        case .failed: .failure(.failed(id))
        case .cancelled: .failure(.cancelled(id))
        case .completed: .success(Report(self))
        }
    }
}
