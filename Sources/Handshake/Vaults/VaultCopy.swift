import OAuth
import Synchronization

/// What a copy from one vault to another did.
public struct VaultCopyReport: Sendable {
    /// How many records were written and read back.
    public internal(set) var copied = 0
    /// How many were there already, as after a copy that was interrupted.
    public internal(set) var present = 0
    /// How many the other vault has with other contents. They were left as they are.
    public internal(set) var differentCount = 0
    /// The first 1,000 of them. A vault may have more names than a process has memory for.
    public internal(set) var different: [VaultKey] = []
    var failed = Failures()

    /// How many could not be read, written or read back. They were not copied.
    public var failureCount: Int { failed.count }
    /// Why, for the first 1,000 of them.
    public var failures: [VaultError] { failed.first }
    /// Whether the other vault has every record as this one has it.
    public var isComplete: Bool { differentCount == 0 && failureCount == 0 }

    fileprivate mutating func note(_ outcome: CopyOutcome, of key: VaultKey) {
        switch outcome {
        case .copied: copied += 1
        case .present: present += 1
        case .different:
            differentCount += 1
            if different.count < Failures.limit { different.append(key) }
        case .absent: break
        }
    }
}

extension Vault {
    /// Copies every record to another vault, which seals it with its own key.
    ///
    /// Each record is held in both vaults while it is copied, and read back from the other one. So a copy may be interrupted at any point
    /// and repeated: what is there already is only compared. Nothing is removed from either vault.
    ///
    /// Use one of the two vaults afterwards and no longer the other. Two copies of an account would refresh with the same refresh token,
    /// which a server that detects reuse answers by ending the session.
    ///
    /// - Parameters:
    ///   - target: another vault; the same one would wait for itself.
    ///   - replacing: whether a record that the target has with other contents is replaced. Without it, such a record is reported: only the
    ///     caller knows which of the two is newer.
    ///   - report: gets what was done so far, after each record.
    /// - Returns: what was done. A record that failed does not stop the others.
    /// - Throws: `CancellationError`, and ``VaultError`` when one of the vaults as a whole cannot be used.
    @concurrent
    public func copyRecords(
        to target: any Vault, replacing: Bool = false,
        progress report: @escaping @Sendable (VaultCopyReport) -> Void = { _ in }
    ) async throws -> VaultCopyReport {
        let progress = Mutex(VaultCopyReport())
        for kind in VaultKey.Kind.allCases {
            // A page at a time: a vault may have more names than a process has memory for.
            try await forEachPage(of: kind) { page in
                progress.withLock { $0.failed.addListed(page.damaged) }
                for key in page.keys {
                    try Task.checkCancellation()
                    do {
                        let outcome = try await copy(key, to: target, replacing: replacing)
                        progress.withLock { $0.note(outcome, of: key) }
                    } catch let error as VaultError {
                        progress.withLock { $0.failed.add(error) }
                    }
                    report(progress.withLock { $0 })
                }
            }
        }
        return progress.withLock { $0 }
    }

    /// Whether two vaults are one, however each was opened: what one of them stores, the other one has.
    ///
    /// It stores a record for a moment. One that is left, since the process was killed or the vault failed, is removed an hour later by
    /// ``Handshake/removeExpiredSignIns()``. A database that was copied with its vault has the same identifier, and is another vault.
    ///
    /// - Throws: ``VaultError``, `CancellationError`.
    @concurrent
    package func isSame(as other: any Vault, time: TimeSource = .system) async throws -> Bool {
        let mark = Base64URL.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        let key = VaultKey(.logoutToken, ["same vault", mark])
        let contents = try StoredForm.encode(StoredMark(mark: mark, expiresAt: time.now() + 3_600))
        try await other.update(key) { try await $0.replace(with: contents) }
        let found: Result<[UInt8]?, any Error>
        do {
            found = .success(try await record(key))
        } catch {
            found = .failure(error)
        }
        // In a task of its own: an interrupted look removes its record too.
        let removal = await Task { try await other.remove(key) }.result
        let isFound = try found.get() == contents
        _ = try removal.get()
        return isFound
    }

    @concurrent
    private func copy(_ key: VaultKey, to target: any Vault, replacing: Bool) async throws -> CopyOutcome {
        // Held here too: a refresh between reading and writing would leave the copy with a token that was used.
        try await update(key) { source in
            guard let contents = await source.contents else { return .absent }
            let outcome: CopyOutcome = try await target.update(key) { record in
                let present = await record.contents
                if present == contents { return .present }
                if present != nil, !replacing { return .different }
                try await record.replace(with: contents)
                return .copied
            }
            guard outcome == .copied else { return outcome }
            guard try await target.record(key) == contents else {
                throw VaultError.unavailable(
                    "a record of kind \(key.kind.rawValue) was not read back as it was written")
            }
            return .copied
        }
    }
}

/// What one vault stores to be found in another. It expires as a logout token that was used (``StoredExpiry``).
private struct StoredMark: Encodable {
    let mark: String
    let expiresAt: Double
}

/// What became of one record.
private enum CopyOutcome: Sendable {
    case copied, present, different
    /// It was removed since it was listed.
    case absent
}
