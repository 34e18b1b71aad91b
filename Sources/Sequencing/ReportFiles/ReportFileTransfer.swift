import HTTPTypes
public import Handshake
import OAuth
import Synchronization

extension Sequencing {
    /// The default limits of a report file on disk: 4 GiB, within one hour.
    public static let fileLimits = TransferLimits(maximumContentLength: 4 << 30, timeout: .seconds(3600))

    /// Fetches a report's file into memory (dossier 5.7).
    ///
    /// - Parameters:
    ///   - file: a file of a report.
    ///   - limits: by default 64 MiB within two minutes.
    /// - Throws: ``SequencingError``, `CancellationError`.
    public func contents(
        of file: ReportFileID,
        limits: TransferLimits = TransferLimits(maximumContentLength: 64 << 20, timeout: .seconds(120))
    ) async throws -> [UInt8] {
        let content = Mutex<[UInt8]>([])
        try await stream(file, limits: limits) { piece, _ in content.withLock { $0 += piece } }
        return content.withLock { $0 }
    }

    /// Fetches a report's file in chunks, with constant memory.
    ///
    /// Before the first chunk, a transient failure is retried as for any other read; afterwards never, so that no chunk comes
    /// twice.
    ///
    /// - Parameters:
    ///   - file: a file of a report.
    ///   - limits: by default ``fileLimits``.
    ///   - receive: receives each chunk in order, with the progress.
    /// - Throws: ``SequencingError``, `CancellationError`, and what `receive` throws. A file shorter than announced is an
    ///   error, after its last chunk.
    public func stream(
        _ file: ReportFileID, limits: TransferLimits = Sequencing.fileLimits,
        receive: @escaping @Sendable (_ piece: [UInt8], TransferProgress) async throws -> Void
    ) async throws {
        var operation = Exchange.Operation.get("GetReportFile", "/v2/GetReportFile?id=\(file)")
        operation.headers[.accept] = "*/*"
        let request = try operation.request(at: hosts.api)
        let received = Mutex<Int64>(0)
        func transfer() async throws {
            let response = try await account.stream(request, limits: limits) { head, piece in
                let count = received.withLock { received in
                    received += Int64(piece.count)
                    return received
                }
                try await receive(piece, TransferProgress(received: count, total: head.contentLength))
            }
            guard response.head.status.kind == .successful else { throw SequencingError(response) }
            try Self.checkComplete(response.head, received: received.withLock { $0 }, host: hosts.api.origin.authority)
        }
        let isUntouched = { received.withLock { $0 == 0 } }
        try await api.repeating(Exchange.maximumRetries, while: isUntouched, transfer)
    }

    private static func checkComplete(_ head: HTTPResponse, received: Int64, host: String) throws(SequencingError) {
        guard let total = head.contentLength, total != received else { return }
        throw .account(.network(.cut(host: host, reason: "\(received) of \(total) bytes came")))
    }
}

extension HTTPResponse {
    /// The announced length of the content.
    fileprivate var contentLength: Int64? {
        headerFields[.contentLength].flatMap { Int64($0) }
    }
}
