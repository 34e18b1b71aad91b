public import Handshake
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Sequencing {
    /// Downloads a report's file to a path. The path never has an incomplete file: the download is written beside it under
    /// a temporary name, which is deleted when the transfer fails or is cancelled. When this returns, the file is
    /// synchronised to storage. On a file system without hard links, an empty file holds the name for a moment before,
    /// unless `replacing` is true.
    ///
    /// - Parameters:
    ///   - file: a file of a report.
    ///   - path: the file's name; its folder must exist.
    ///   - replacing: whether an existing file may be replaced. It stays until the new one is complete.
    ///   - limits: by default ``fileLimits``.
    ///   - progress: called after each chunk.
    /// - Throws: ``SequencingError/disk(path:reason:)``, what ``stream(_:limits:receive:)`` throws.
    public func save(
        _ file: ReportFileID, to path: String, replacing: Bool = false, limits: TransferLimits = Sequencing.fileLimits,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws {
        let partial = try PartialFile(for: path, replacing: replacing)
        do {
            try await stream(file, limits: limits) { piece, state in
                try partial.append(piece)
                progress(state)
            }
            try await partial.complete()
        } catch {
            partial.discard()
            throw error
        }
    }

    /// Downloads a report's file into a folder, under its suggested name (dossier 5.7).
    ///
    /// - Returns: the path.
    /// - Throws: what ``save(_:to:replacing:limits:progress:)`` throws.
    @discardableResult
    public func save(
        _ file: ReportFile, intoFolder folder: String, replacing: Bool = false,
        limits: TransferLimits = Sequencing.fileLimits,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> String {
        let path = folder.hasSuffix("/") ? folder + file.suggestedName : "\(folder)/\(file.suggestedName)"
        try await save(file.id, to: path, replacing: replacing, limits: limits, progress: progress)
        return path
    }
}
