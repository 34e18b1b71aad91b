public import Handshake
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Sequencing {
    /// Fetches a report's file to a path. Under that name there is never a part of a file: what has come so far lies
    /// beside it under a name of its own, which goes away when the transfer fails or is cancelled. When this returns,
    /// the file is on the storage.
    ///
    /// - Parameters:
    ///   - file: a file that a report names.
    ///   - path: the file's name; its folder must be there.
    ///   - replacing: whether a file of that name may be replaced. It is kept until the new one is complete.
    ///   - limits: ``fileLimits`` unless stated.
    ///   - progress: told after each piece.
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

    /// Fetches a report's file into a folder, under its own name (dossier 5.7).
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
