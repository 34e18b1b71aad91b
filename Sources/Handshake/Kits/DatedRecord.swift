/// A record that expires: when it was stored, in seconds since 1970, then its content.
package struct DatedRecord: Sendable {
    package let storedAt: Double
    package let content: [UInt8]

    package init(storedAt: Double, content: [UInt8]) {
        self.storedAt = storedAt
        self.content = content
    }

    /// Parses a record; nil when it has no time.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= 8 else { return nil }
        let storedAt = Double(bitPattern: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        guard storedAt.isFinite else { return nil }
        self.init(storedAt: storedAt, content: Array(bytes.dropFirst(8)))
    }

    package var bytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: storedAt.bitPattern >> (56 - 8 * $0)) } + content
    }
}

extension Vault {
    /// Replaces a record, also a damaged one: for what can be fetched again.
    package func replace(_ key: VaultKey, with contents: [UInt8]) async throws {
        do {
            try await update(key) { try await $0.replace(with: contents) }
        } catch VaultError.damaged {
            try await remove(key)
            try await update(key) { try await $0.replace(with: contents) }
        }
    }
}
