/// A record as it lies in a table, sealed, with the version that its lease says.
package struct SealedRecord: Sendable {
    package let kind: String
    package let key: Int64
    package let version: Int64
    package let label: [UInt8]
    /// Empty when it is larger than any record.
    package let body: [UInt8]
    /// Nil when the lease was removed by hand.
    package let leased: Int64?

    package init(kind: String, key: Int64, version: Int64, label: [UInt8], body: [UInt8], leased: Int64?) {
        (self.kind, self.key, self.version) = (kind, key, version)
        (self.label, self.body, self.leased) = (label, body, leased)
    }
}

/// A record's name as it lies in a table, sealed.
package struct SealedLabel: Sendable {
    package let name: [UInt8]
    package let key: Int64
    package let version: Int64
    /// Empty when it is larger than any name.
    package let sealed: [UInt8]
    /// Nil when the lease was removed by hand.
    package let leased: Int64?

    package init(name: [UInt8], key: Int64, version: Int64, sealed: [UInt8], leased: Int64?) {
        (self.name, self.key, self.version) = (name, key, version)
        (self.sealed, self.leased) = (sealed, leased)
    }
}

/// What the vaults in databases have in common: sealed records, each beside a lease that says its version.
package protocol TableVault: Vault {
    /// The keys as this vault last read them.
    var keys: MasterKeyRing { get }
    var unknownKeys: UnknownKeys { get }
    var seen: SeenVersions { get }
    /// What errors call the database.
    var place: String { get }

    /// Reads again which keys there are, and the new ones among them.
    func readKeys() async throws(VaultError)

    /// The next sealed names of a kind, in the order of their digests. Empty behind the last.
    func labels(of kind: VaultKey.Kind, after last: [UInt8]?) async throws(VaultError) -> [SealedLabel]

    /// The name of a record in the table.
    func name(_ bytes: [UInt8]) throws(VaultError) -> RecordName

    /// Milliseconds of the clock by which versions that were seen are forgotten.
    static func now() -> Int64
}

extension TableVault {
    package func path(of name: RecordName) -> String { "\(place), record \(name.text.prefix(12))" }

    /// The newest version of a record that this vault has seen; 0 when it has seen none.
    package func newest(of name: RecordName) -> Int64 { seen.newest(of: name.bytes, at: Self.now()) ?? 0 }

    package func note(_ version: Int64, of name: RecordName) { seen.note(version, of: name.bytes, at: Self.now()) }

    private func seal(ofKey number: Int64, _ name: RecordName) async throws(VaultError) -> RecordSeal {
        if let seal = keys[number] { return seal }
        return try await unknownKeys.seal(ofKey: number, in: keys, path(of: name)) { () throws(VaultError) in
            try await readKeys()
        }
    }

    /// Seals a record.
    ///
    /// - Parameters:
    ///   - key: the number of the key that `seal` is of.
    ///   - version: that of the record, and of its lease.
    ///   - ciphers: those of the record that are known.
    package func sealed(
        _ contents: [UInt8], canonical: [UInt8], kind: String, as name: RecordName, by seal: RecordSeal, key: Int64,
        version: Int64, ciphers: RecordCiphers = RecordCiphers()
    ) throws(VaultError) -> SealedRecord {
        let cipher = ciphers.cipher(of: name, withKey: key, seal)
        let label = RecordPart.label.context(kind, key: key, version: version)
        let body = RecordPart.body.context(kind, key: key, version: version)
        return SealedRecord(
            kind: kind, key: key, version: version,
            label: try seal.seal([], canonical: canonical, by: cipher, in: label, path: path(of: name)),
            body: try seal.seal(contents, canonical: canonical, by: cipher, in: body, path: path(of: name)),
            leased: version)
    }

    /// Opens a record that was read.
    ///
    /// - Parameters:
    ///   - newest: its newest version that had been seen before.
    ///   - ciphers: those of the record that are known.
    package func open(
        _ record: SealedRecord, as name: RecordName, newest: Int64, ciphers: RecordCiphers = RecordCiphers()
    ) async throws(VaultError) -> (canonical: [UInt8], contents: [UInt8]) {
        let seal = try await seal(ofKey: record.key, name)
        guard record.leased == record.version else { throw .versionsDiffer(of: path(of: name)) }
        let context = RecordPart.body.context(record.kind, key: record.key, version: record.version)
        let cipher = ciphers.cipher(of: name, withKey: record.key, seal)
        let opened = try seal.open(record.body, by: cipher, in: context, path: path(of: name))
        try seen.accept(record.version, of: name.bytes, seen: newest, at: Self.now(), path: path(of: name))
        return opened
    }

    /// The key of a record of this kind; nil for a record of another one.
    package func key(of label: SealedLabel, _ kind: VaultKey.Kind) async throws(VaultError) -> VaultKey? {
        let name = try name(label.name)
        let seal = try await seal(ofKey: label.key, name)
        guard label.leased == label.version else { throw .versionsDiffer(of: path(of: name)) }
        let context = RecordPart.label.context(kind.rawValue, key: label.key, version: label.version)
        return VaultKey(canonical: try seal.open(label.sealed, as: name, in: context, path: path(of: name)).canonical)
    }

    /// Hands over the keys of all records of a kind, a page at a time, from a random place to the end and from the beginning to there.
    ///
    /// Programs that are killed before the end of a listing, again and again, so leave no record out for ever.
    package func eachPage(of kind: VaultKey.Kind, _ body: (VaultListing) async throws -> Void) async throws {
        // Names are digests, so a random one is as likely anywhere.
        let start = (0..<RecordName.shortLength).map { _ in UInt8.random(in: .min ... .max) }
        try await eachPage(of: kind, after: start, through: nil, body)
        try await eachPage(of: kind, after: nil, through: start, body)
    }

    private func eachPage(
        of kind: VaultKey.Kind, after first: [UInt8]?, through end: [UInt8]?,
        _ body: (VaultListing) async throws -> Void
    ) async throws {
        var last = first
        while true {
            try Task.checkCancellation()
            let page = try await labels(of: kind, after: last)
            let labels = end.map { end in page.filter { !end.lexicographicallyPrecedes($0.name) } } ?? page
            var keys: [VaultKey] = []
            var damaged: [VaultError] = []
            for label in labels {
                do throws(VaultError) {
                    if let key = try await self.key(of: label, kind) { keys.append(key) }
                } catch {
                    damaged.append(error)
                }
            }
            if !labels.isEmpty { try await body(VaultListing(keys: keys, damaged: damaged)) }
            guard labels.count == page.count, let next = page.last?.name else { return }
            last = next
        }
    }

    /// All pages in one.
    package func listing(of kind: VaultKey.Kind) async throws -> VaultListing {
        var keys: [VaultKey] = []
        var damaged: [VaultError] = []
        try await eachPage(of: kind) { page in
            keys += page.keys
            damaged += page.damaged
        }
        return VaultListing(keys: keys, damaged: damaged)
    }

    /// The master keys that are found, by their numbers.
    package static func masters(
        _ entries: [MasterKeyEntry], _ find: (MasterKeyEntry) async throws -> VaultMasterKey?
    ) async throws(VaultError) -> [Int64: VaultMasterKey] {
        var masters: [Int64: VaultMasterKey] = [:]
        do {
            for entry in entries { masters[entry.number] = try await find(entry) }
        } catch let error as VaultError {
            throw error
        } catch {
            throw .unavailable("the key store did not answer")
        }
        return masters
    }
}
