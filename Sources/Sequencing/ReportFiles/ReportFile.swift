/// The identifier of a report's file (dossier 5.7).
public struct ReportFileID: Sendable, Hashable {
    public let number: Int64

    public init(_ number: Int64) {
        self.number = number
    }
}

extension ReportFileID: CustomStringConvertible {
    public var description: String { String(number) }
}

/// A file of a report.
public struct ReportFile: Sendable, Hashable {
    public let id: ReportFileID
    /// The job whose report names the file.
    public let job: JobID
    /// The extension without its dot.
    public let fileExtension: String
    /// Whether its report has no other document.
    var isOnlyDocument = true

    public init(id: ReportFileID, job: JobID, fileExtension: String) {
        self.id = id
        self.job = job
        self.fileExtension = fileExtension
    }

    /// The default file name, such as `report_800123.pdf` (dossier 5.7).
    ///
    /// If the report has several documents, `report_800123_55012.pdf`. For a file of data, `data_800123_55012.dat`: a report can
    /// have several of them, and the service states no name.
    public var suggestedName: String {
        guard !isData else { return "data_\(job)_\(id).\(fileExtension)" }
        return isOnlyDocument ? "report_\(job).\(fileExtension)" : "report_\(job)_\(id).\(fileExtension)"
    }

    /// Whether it is a file of data, and no document.
    var isData: Bool { fileExtension == Self.dataExtension }

    /// The extension of a file whose kind the service does not state.
    static let dataExtension = "dat"
}

/// The progress of a transfer.
public struct TransferProgress: Sendable, Hashable {
    /// The received bytes.
    public let received: Int64
    /// The total bytes, if the service announces them.
    public let total: Int64?

    public init(received: Int64, total: Int64?) {
        self.received = received
        self.total = total
    }
}
