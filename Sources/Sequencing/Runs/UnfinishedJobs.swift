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

    private let vault: any Vault
    private let key: VaultKey

    /// - Parameters:
    ///   - account: the user's account.
    ///   - vault: holds the list, encrypted.
    public init(of account: Account, in vault: any Vault) {
        self.vault = vault
        key = Self.key(account.id)
    }

    /// The jobs, in the order of their runs.
    ///
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be read.
    public var all: [UnfinishedJob] {
        get async throws {
            do { return try Self.decode(try await vault.record(key)).sorted { $0.started < $1.started } } catch {
                throw Self.placing(error)
            }
        }
    }

    /// Adds the jobs of a step that have not ended, and removes those that have. Writes only what changes.
    ///
    /// A job that was given up at the run's deadline has not ended.
    ///
    /// - Parameters:
    ///   - step: a step of a run, with new or resumed jobs.
    ///   - time: the time of jobs that are new.
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be written; `CancellationError`.
    public func note(_ step: ChainProgress, at time: Date = Date()) async throws {
        do {
            let known = try Self.decode(try await vault.record(key))
            guard Self.noting(step, in: known, at: time) != known else { return }
            try await vault.update(key) { record in
                let jobs = Self.noting(step, in: try Self.decode(await record.contents), at: time)
                if jobs.isEmpty { try await record.remove() } else { try await record.replace(with: Self.encode(jobs)) }
            }
        } catch {
            throw Self.placing(error)
        }
    }

    /// Forgets all jobs of an account. Call it when the user signs out.
    ///
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be written; `CancellationError`.
    public static func forget(_ account: AccountID, in vault: any Vault) async throws {
        do { try await vault.remove(key(account)) } catch { throw placing(error) }
    }

    package static func key(_ account: AccountID) -> VaultKey {
        VaultKey(.jobs, [account.service, account.issuer, account.client, account.name] + account.resources)
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

    private static func encode(_ jobs: [UnfinishedJob]) throws -> [UInt8] { Array(try JSONEncoder().encode(jobs)) }

    private static func decode(_ bytes: [UInt8]?) throws -> [UnfinishedJob] {
        guard let bytes else { return [] }
        do { return try JSONDecoder().decode([UnfinishedJob].self, from: Data(bytes)) } catch {
            throw VaultError.damaged(what: "the list of unfinished jobs", reason: "it cannot be read")
        }
    }

    private static func placing(_ error: any Error) -> any Error {
        if let error = error as? VaultError { return SequencingError.account(.vault(error)) }
        return SequencingError.placing(error)
    }
}

extension ChainState {
    /// Whether the job may still run at the service.
    fileprivate var mayContinue: Bool {
        switch result {
        case nil, .failure(.deadline): true
        case .success, .failure: false
        }
    }
}
