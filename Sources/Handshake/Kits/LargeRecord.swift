import OAuth

/// A record too long for one entry of a vault: parts, and a description of them.
///
/// The parts of a new content are written beside those of the old one, then the description names them, then all others are
/// removed: a reader sees the old content or the new one. A writer holds the description meanwhile, so that writers take turns.
/// A process that is killed while it writes leaves parts, which the next writer removes.
package struct LargeRecord: Sendable {
    private let vault: any Vault
    private let kind: VaultKey.Kind
    private let components: [String]

    /// The bytes of a part.
    private static let partLength = 900 << 10
    /// The maximum number of parts that are read.
    private static let maximumParts = 64

    /// - Parameters:
    ///   - vault: where the parts are stored.
    ///   - kind: the kind of the description and the parts.
    ///   - components: the name. Parts have two more components, so that removing all with this beginning removes everything.
    package init(in vault: any Vault, _ kind: VaultKey.Kind, _ components: [String]) {
        self.vault = vault
        self.kind = kind
        self.components = components
    }

    /// The content; nil when there is none, or a part of it is missing.
    package func contents() async throws -> [UInt8]? {
        guard let description = try await description() else { return nil }
        var contents: [UInt8] = []
        for index in 0..<description.parts {
            guard let part = try await vault.record(key(description.generation, index)) else { return nil }
            contents += part
        }
        return contents.count == description.length ? contents : nil
    }

    /// Replaces the content. When this throws, the old one stays, unless the storage failed in the last steps.
    ///
    /// - Throws: ``VaultError/denied(what:reason:)`` for a content of more parts than are read.
    package func replace(with contents: [UInt8]) async throws {
        let starts = Array(stride(from: 0, to: contents.count, by: Self.partLength))
        guard starts.count <= Self.maximumParts else {
            throw VaultError.denied(
                what: "a record of kind \(kind.rawValue)",
                reason: "its \(contents.count) bytes are more than \(Self.maximumParts * Self.partLength)")
        }
        // At random: a damaged part of an earlier content cannot be replaced.
        let generation = RandomSource.system.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        try await vault.update(VaultKey(kind, components)) { record in
            do {
                for (index, start) in starts.enumerated() {
                    let part = Array(contents[start..<min(start + Self.partLength, contents.count)])
                    try await vault.replace(key(generation, index), with: part)
                }
            } catch {
                for index in starts.indices { _ = try? await vault.remove(key(generation, index)) }
                throw error
            }
            let former = await record.contents.flatMap { Self.parse($0) }
            try await record.replace(with: Array("\(generation) \(starts.count) \(contents.count)".utf8))
            // By their names, because damaged ones are not listed.
            if let former, former.generation != generation {
                for index in 0..<former.parts { try await vault.remove(key(former.generation, index)) }
            }
            // Those of a process that was killed.
            for key in try await vault.keys(of: kind).keys where isPart(key, ofOtherThan: generation) {
                try await vault.remove(key)
            }
        }
    }

    private func isPart(_ key: VaultKey, ofOtherThan generation: UInt32) -> Bool {
        key.components.count == components.count + 2 && key.components.starts(with: components)
            && key.components[components.count] != "\(generation)"
    }

    private struct Description: Sendable {
        let generation: UInt32
        let parts: Int
        let length: Int
    }

    private func description() async throws -> Description? {
        try await vault.record(VaultKey(kind, components)).flatMap { Self.parse($0) }
    }

    private static func parse(_ bytes: [UInt8]) -> Description? {
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard parts.count == 3, let generation = UInt32(parts[0]), let count = Int(parts[1]),
            let length = Int(parts[2]),
            (0...maximumParts).contains(count)
        else { return nil }
        return Description(generation: generation, parts: count, length: length)
    }

    private func key(_ generation: UInt32, _ index: Int) -> VaultKey {
        VaultKey(kind, components + ["\(generation)", "\(index)"])
    }
}
