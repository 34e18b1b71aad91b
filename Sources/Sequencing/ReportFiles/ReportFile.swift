/// What identifies a report's file at the service (dossier 5.7).
public struct ReportFileID: Sendable, Hashable {
    public let number: Int64

    public init(_ number: Int64) {
        self.number = number
    }
}

extension ReportFileID: CustomStringConvertible {
    public var description: String { String(number) }
}

/// A file that belongs to a report.
public struct ReportFile: Sendable, Hashable {
    public let id: ReportFileID
    /// The job whose report names the file.
    public let job: JobID
    /// The extension without its dot.
    public let fileExtension: String

    public init(id: ReportFileID, job: JobID, fileExtension: String) {
        self.id = id
        self.job = job
        self.fileExtension = fileExtension
    }

    /// What the file is called unless one names it otherwise: `report_800123.pdf` (dossier 5.7).
    public var suggestedName: String { "report_\(job).\(fileExtension)" }
}

/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes so far.
    public let received: Int64
    /// The bytes in all, when the service says so.
    public let total: Int64?

    public init(received: Int64, total: Int64?) {
        self.received = received
        self.total = total
    }
}
