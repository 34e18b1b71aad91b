public import Handshake

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A job that was started and whose end has not been seen.
public struct UnfinishedJob: Sendable, Hashable, Codable {
    public let id: JobID
    /// The chain; nil for a job that was started with a custom body.
    public let chain: AppCode?
    /// The file; nil for a job that was started with a custom body.
    public let file: FileID?
    /// When its run was first noted.
    public let started: Date
}

/// The jobs of an account that have not ended, in a vault (dossier 10, E19).
///
/// A job continues at Sequencing.com when the app that waits for it ends, and the service has no list of jobs. Note
/// the steps of a run, and resume what is left at the next start:
///
/// ```swift
/// let jobs = UnfinishedJobs(of: genome.account, in: vault)
/// for try await step in genome.run(.melanoma, .vitaminD, on: file) {
///     try await jobs.note(step)
/// }
/// ```
///
/// ```swift
/// for try await step in genome.resume(try await jobs.all.map(\.id)) {
///     try await jobs.note(step)
/// }
/// ```
///
/// Every process that uses the vault has the same list.
public struct UnfinishedJobs: Sendable {
    /// The maximum number of jobs. Those noted first are forgotten first.
    public static let limit = 1000

    private let list: StoredList<UnfinishedJob>

    /// - Parameters:
    ///   - account: the user's account.
    ///   - vault: holds the list, encrypted.
    public init(of account: Account, in vault: any Vault) {
        list = StoredList(.jobs, of: account.id, in: vault)
    }

    /// The jobs, in the order of their runs.
    ///
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be read.
    public var all: [UnfinishedJob] {
        get async throws {
            try await list.elements.sorted { $0.started < $1.started }
        }
    }

    /// Adds the jobs of a step that have not ended, and removes those that have. Writes only what changes.
    ///
    /// A job that was given up at the run's deadline, or whose polls could not be read, has not ended.
    ///
    /// - Parameters:
    ///   - step: a step of a run, with new or resumed jobs.
    ///   - time: the time of jobs that are new.
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be written; `CancellationError`.
    public func note(_ step: ChainProgress, at time: Date = Date()) async throws {
        let known = try await list.elements
        guard Self.noting(step, in: known, at: time) != known else { return }
        try await list.change { $0 = Self.noting(step, in: $0, at: time) }
    }

    /// Removes a job from the list, for one that will not end. It continues at the service.
    ///
    /// - Returns: false when it was not in the list.
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be written; `CancellationError`.
    @discardableResult
    public func forget(_ job: JobID) async throws -> Bool {
        try await list.change { jobs in
            let count = jobs.count
            jobs.removeAll { $0.id == job }
            return jobs.count < count
        }
    }

    /// Forgets all jobs of an account. Call it when the user signs out.
    ///
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be written; `CancellationError`.
    public static func forget(_ account: AccountID, in vault: any Vault) async throws {
        try await StoredList<UnfinishedJob>(.jobs, of: account, in: vault).remove()
    }

    private static func noting(_ step: ChainProgress, in known: [UnfinishedJob], at time: Date) -> [UnfinishedJob] {
        let noted = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
        let followed = Set(step.chains.compactMap(\.job))
        var open: [UnfinishedJob] = []
        var ids: Set<JobID> = []
        for state in step.chains where state.mayContinue {
            guard let id = state.job, ids.insert(id).inserted else { continue }
            open.append(
                noted[id] ?? UnfinishedJob(id: id, chain: state.call?.chain, file: state.call?.file, started: time))
        }
        // Jobs of this step come last, so that too many of them are cut in the same place at each step.
        return Array((known.filter { !followed.contains($0.id) } + open).suffix(limit))
    }
}

extension ChainState {
    /// Whether the job may still run at the service.
    fileprivate var mayContinue: Bool {
        switch result {
        case nil, .failure(.deadline), .failure(.malformed): true
        case .success, .failure: false
        }
    }
}
