/// A record too long for one entry of a vault: parts, and a description of them.
///
/// The parts of a new content are written beside those of the old one, then the description names them, then the old ones are
/// removed: a reader sees the old content or the new one. One writer at a time is the caller's care.
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

    /// Replaces the content.
    package func replace(with contents: [UInt8]) async throws {
        let former = try? await description()
        let generation = (former?.generation ?? 0) &+ 1
        let starts = Array(stride(from: 0, to: contents.count, by: Self.partLength))
        for (index, start) in starts.enumerated() {
            let part = Array(contents[start..<min(start + Self.partLength, contents.count)])
            try await vault.replace(key(generation, index), with: part)
        }
        let text = "\(generation) \(starts.count) \(contents.count)"
        try await vault.replace(VaultKey(kind, components), with: Array(text.utf8))
        guard let former else { return }
        for index in 0..<former.parts { try await vault.remove(key(former.generation, index)) }
    }

    private struct Description {
        let generation: UInt32
        let parts: Int
        let length: Int
    }

    private func description() async throws -> Description? {
        guard let bytes = try await vault.record(VaultKey(kind, components)) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard parts.count == 3, let generation = UInt32(parts[0]), let count = Int(parts[1]),
            let length = Int(parts[2]),
            (0...Self.maximumParts).contains(count)
        else { return nil }
        return Description(generation: generation, parts: count, length: length)
    }

    private func key(_ generation: UInt32, _ index: Int) -> VaultKey {
        VaultKey(kind, components + ["\(generation)", "\(index)"])
    }
}
