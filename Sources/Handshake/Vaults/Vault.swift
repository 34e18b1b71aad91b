/// Where grants rest: a store of small sealed records. Each record is changed by one holder at a time.
///
/// A vault knows nothing of OAuth. What the records mean is said by those who read them; the vault guarantees this:
///
/// * **Exclusive.** While a body runs in ``update(_:_:)``, no other body runs for the same key, in any task of any
///   process that uses the same vault. A holder that dies releases the key, and so may
///   ``LockedRecord/conclude(with:)``.
/// * **Durable.** When ``LockedRecord/replace(with:)`` has returned, the record survives a crash of the process and of
///   the machine.
/// * **Atomic.** A reader sees a record as it was before or after a replacement, never between.
/// * **Confidential and bound.** Outside the process's memory a record is readable only with the vault's key, and is
///   refused when it was changed, or moved under another key (`oauth-security.md` E5, E7).
/// * **Honest.** *Absent* is nil, and *locked*, *damaged*, *denied* and *busy* are different errors. None of them ever
///   leads to a deletion, and damage in one record leaves the others usable (`oauth-security.md` E6). Only
///   ``remove(_:)``, which a caller has to ask for, takes a damaged record away.
public protocol Vault: Sendable {
    /// The record under a key as it is now. It does not wait for another task or process that is changing it.
    ///
    /// - Returns: the contents, or nil when there is no such record.
    /// - Throws: ``VaultError``.
    func record(_ key: VaultKey) async throws -> [UInt8]?

    /// The records under several keys, in the order of the keys. It does not wait for a holder.
    ///
    /// They are not one snapshot. A vault that does not implement this reads one after the other.
    ///
    /// - Returns: for each key the contents, nil for none, or the error that concerns this record alone.
    /// - Throws: ``VaultError`` when the vault as a whole cannot be read, `CancellationError`.
    func records(_ keys: [VaultKey]) async throws -> [Result<[UInt8]?, VaultError>]

    /// The keys of all records of a kind, in no order. Records that are damaged are left out and reported beside.
    ///
    /// - Throws: ``VaultError`` when the vault as a whole cannot be read.
    func keys(of kind: VaultKey.Kind) async throws -> VaultListing

    /// Hands over the keys of all records of a kind, a page at a time, in no order.
    ///
    /// Pages are not one snapshot: a record that exists throughout is in one of them, and one that is made or removed meanwhile may be. A
    /// vault that does not implement this hands over one page, with all that ``keys(of:)`` has.
    ///
    /// - Throws: ``VaultError`` when the vault as a whole cannot be read, `CancellationError`, and what `body` throws.
    func forEachPage(of kind: VaultKey.Kind, _ body: @Sendable (VaultListing) async throws -> Void) async throws

    /// Runs `body` while holding this key. It is held against every task and every process that uses the vault.
    ///
    /// Waiting is cancellable and has the vault's own deadline. A body must not update the same key again.
    ///
    /// - Throws: ``VaultError/busy(_:)`` when the key was held by others for too long, `CancellationError`, another
    ///   ``VaultError`` when the record cannot be read, and whatever `body` throws.
    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result

    /// Removes a record durably while holding its key, without reading it. It is the way to be rid of one that is
    /// damaged.
    ///
    /// Only for callers that were asked to remove it, whatever it holds. A vault that does not implement this reads the
    /// record first, and fails if it is damaged.
    ///
    /// - Returns: whether there was a record.
    /// - Throws: ``VaultError``, `CancellationError`.
    @discardableResult
    func remove(_ key: VaultKey) async throws -> Bool

    /// Takes over the keys of records whose journal no process follows up.
    ///
    /// Such a record was stored by ``LockedRecord/journal(_:)`` and not replaced since, and its holder has let it go or not renewed its hold
    /// until that ended. Each key goes to one caller. If the record does not change, the key is handed out again: by PostgreSQL after 5 s
    /// while a service may still forgive a repeat, later after 30 to 40 s. Call it every 5 s, and a second after an answer that
    /// ``UnfinishedRecords/isWatching``. A vault that cannot tell without reading all records does not implement this.
    ///
    /// - Parameters:
    ///   - kind: of which records.
    ///   - passedOver: keys that the caller has given back lately: it leaves them to others.
    /// - Returns: a part of the keys, those that wait longest first; nil for a vault that cannot tell.
    /// - Throws: ``VaultError`` when the vault as a whole cannot be read.
    func claimUnfinished(of kind: VaultKey.Kind, except passedOver: Set<VaultKey>) async throws -> UnfinishedRecords?

    /// Gives back claimed keys that the caller has no use for.
    ///
    /// The next caller gets them without a wait. A vault that hands nothing out does not implement this.
    ///
    /// - Throws: ``VaultError`` when the vault cannot be written. The keys are then handed out later.
    func returnUnfinished(_ keys: [VaultKey]) async throws
}

extension Vault {
    public func records(_ keys: [VaultKey]) async throws -> [Result<[UInt8]?, VaultError>] {
        var records: [Result<[UInt8]?, VaultError>] = []
        for key in keys {
            try Task.checkCancellation()
            do {
                records.append(.success(try await record(key)))
            } catch let error as VaultError where error.isOfOneRecord {
                records.append(.failure(error))
            }
        }
        return records
    }

    public func claimUnfinished(
        of kind: VaultKey.Kind, except passedOver: Set<VaultKey>
    ) async throws -> UnfinishedRecords? { nil }

    public func returnUnfinished(_ keys: [VaultKey]) async throws {}

    public func forEachPage(
        of kind: VaultKey.Kind, _ body: @Sendable (VaultListing) async throws -> Void
    ) async throws {
        try await body(keys(of: kind))
    }

    @discardableResult
    public func remove(_ key: VaultKey) async throws -> Bool {
        try await update(key) { record in
            let existed = await record.contents != nil
            try await record.remove()
            return existed
        }
    }
}

/// A record that the caller holds alone. It does so for as long as the body of ``Vault/update(_:_:)`` runs.
public protocol LockedRecord: Sendable {
    /// The contents when the key was taken, or since the last replacement. Nil when there is no record.
    var contents: [UInt8]? { get async }

    /// Replaces the whole record. When this returns, the new contents are durable. When it throws, the record is whole:
    /// the old one, or the new one if the storage failed only in its last step.
    func replace(with contents: [UInt8]) async throws

    /// Replaces the record before a request whose outcome the next replacement stores.
    ///
    /// As ``replace(with:)``. A vault that can, hands the key out by ``Vault/claimUnfinished(of:except:)`` when no replacement follows.
    func journal(_ contents: [UInt8]) async throws

    /// Replaces the record for the last time in this body.
    ///
    /// As ``replace(with:)``. Do not use the record afterwards, also when this throws: the vaults of this package throw then. A vault that
    /// can, gives the key up with it, which saves an exchange. Other processes may get the key while the body runs on; callers in this
    /// process that use the same vault must wait for its end.
    ///
    /// When it throws, the contents may still be stored, and another holder may have replaced them meanwhile: before they are stored
    /// later, check whether the record is the one that they follow.
    func conclude(with contents: [UInt8]) async throws

    /// Removes the record durably. Removing what is absent is no error.
    func remove() async throws

    /// Makes sure that no other holder gets the key for some time from now.
    ///
    /// Call it before a request whose effect cannot be taken back, after its journal entry. A vault that holds by a lock does nothing here; one
    /// that holds by a lease renews it where it ends sooner (`vault-lease.md` 6).
    ///
    /// - Parameter time: the longest time that the request may take.
    /// - Throws: ``VaultError/unavailable(_:)`` when the hold was lost or may end sooner. Then the request must not be sent.
    func confirm(for time: Duration) async throws
}

extension LockedRecord {
    public func journal(_ contents: [UInt8]) async throws { try await replace(with: contents) }

    public func conclude(with contents: [UInt8]) async throws { try await replace(with: contents) }

    public func confirm(for time: Duration) async throws {}
}

/// What a vault holds of one kind.
public struct VaultListing: Sendable {
    /// The keys of the readable records.
    public let keys: [VaultKey]
    /// One error for each record that could not be read.
    public let damaged: [VaultError]

    public init(keys: [VaultKey], damaged: [VaultError] = []) {
        self.keys = keys
        self.damaged = damaged
    }
}

/// What ``Vault/claimUnfinished(of:except:)`` hands out.
public struct UnfinishedRecords: Sendable {
    /// The keys of records that the caller has taken over.
    public let keys: [VaultKey]
    /// One error for each record that could not be read.
    public let damaged: [VaultError]
    /// Whether further records are watched, whose holders may be gone.
    ///
    /// Then ask again after a second.
    public let isWatching: Bool

    public init(keys: [VaultKey], damaged: [VaultError] = [], isWatching: Bool = false) {
        self.keys = keys
        self.damaged = damaged
        self.isWatching = isWatching
    }
}
