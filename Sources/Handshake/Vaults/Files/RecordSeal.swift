import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Names, seals and opens the records of one vault.
///
/// All keys come from the vault's master key by HKDF-SHA256 (RFC 5869), extracted with the vault's id as salt:
///
/// | info | use |
/// |---|---|
/// | `handshake vault names` | HMAC-SHA256 over the canonical ``VaultKey``: the record's name |
/// | `handshake vault record` + the name's digest | AES-256-GCM of that one record |
/// | `handshake vault check` | shown in the vault's description: tells whether a key is the right one |
///
/// | `handshake vault keys` | AES-256-GCM of the key of names, where a later master key has to give the names of the first one |
///
/// With a key for each record, the 2³² seals that random nonces are good for count for a single record, not for the
/// vault.
///
/// A sealed record is, in this order: four bytes `HSV1`, a nonce of 12 bytes, the ciphertext, a tag of 16 bytes.
/// Authenticated with it are those four bytes, the vault's id, the record's name, and what else a vault binds a record to, as a
/// database does its version. The plaintext is the length of the canonical key in four bytes, the canonical key, and the contents. A
/// record that was changed, renamed, swapped, or brought from another vault therefore does not open.
package struct RecordSeal: Sendable {
    /// The largest contents of a record, in bytes.
    package static let contentsLimit = 1 << 20
    /// The largest canonical key, in bytes.
    static let keyLimit = 1 << 16
    /// The largest sealed record, in bytes.
    package static let sealedLimit = header.count + nonceLength + lengthLength + keyLimit + contentsLimit + tagLength

    private static let header = Array("HSV1".utf8)
    private static let nonceLength = 12
    private static let lengthLength = 4
    private static let tagLength = 16

    /// What tells whether a master key is this vault's, and nothing else about it: 16 bytes.
    package let check: [UInt8]

    private let id: [UInt8]
    private var names: KeyedHash
    private let extracted: KeyedHash

    package init(vault: VaultIdentifier, master: VaultMasterKey) {
        self.init(vault: vault.bytes, master: master.key)
    }

    init(vault id: [UInt8], master: SymmetricKey) {
        self.id = id
        extracted = KeyedHash(SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: master, salt: id)))
        names = KeyedHash(extracted.derived("names"))
        check = extracted.derived("check").withUnsafeBytes { Array($0.prefix(16)) }
    }

    /// The name of a key's record.
    package func name(of key: VaultKey) -> RecordName {
        RecordName(digest: names.code(of: key.canonical))
    }

    /// The name of a key's record in a table whose names are UUIDs: the first 16 bytes of ``name(of:)``.
    package func shortName(of key: VaultKey) -> RecordName { shortName(ofCanonical: key.canonical) }

    /// The same for a key's canonical bytes.
    package func shortName(ofCanonical canonical: [UInt8]) -> RecordName {
        RecordName(digest: names.code(of: canonical).prefix(RecordName.shortLength))
    }

    /// This vault's key of names, sealed with another master key of the vault: names must outlive the key that they were made with.
    ///
    /// - Throws: ``VaultError/unavailable(_:)``.
    package func names(sealedWith other: RecordSeal) throws(VaultError) -> [UInt8] {
        do {
            var plaintext = names.key.withUnsafeBytes { Array($0) }
            defer { plaintext.resetBytes() }
            let key = other.extracted.derived("keys")
            let box = try AES.GCM.seal(plaintext, using: key, authenticating: Self.header + id)
            return Array(box.nonce) + box.ciphertext + box.tag
        } catch {
            throw .unavailable("the key of names could not be encrypted")
        }
    }

    /// The same with the key of names that ``names(sealedWith:)`` made for this master key.
    ///
    /// - Throws: ``VaultError/damaged(what:reason:)``.
    package func withNames(_ sealed: [UInt8], path: String) throws(VaultError) -> RecordSeal {
        let key = extracted.derived("keys")
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let opened = try? AES.GCM.open(box, using: key, authenticating: Self.header + id), opened.count == 32
        else { throw .damaged(what: path, reason: "the encrypted key of the record names was changed") }
        var seal = self
        seal.names = KeyedHash(SymmetricKey(data: opened))
        return seal
    }

    /// What seals and opens the parts of a record.
    package func cipher(of name: RecordName) -> RecordCipher {
        RecordCipher(
            name: name, key: extracted.derived("record", name.text.utf8),
            associated: Self.header + id + name.text.utf8)
    }

    /// Seals contents as the record of a key, which has the given name.
    ///
    /// - Parameter context: what the record is bound to beside its name; it opens only with the same.
    /// - Throws: ``VaultError/denied(what:reason:)`` when the contents or the key are too large.
    package func seal(
        _ contents: [UInt8], of key: VaultKey, as name: RecordName, in context: [UInt8] = [],
        path: @autoclosure () -> String
    ) throws(VaultError) -> [UInt8] {
        try seal(contents, canonical: key.canonical, by: cipher(of: name), in: context, path: path())
    }

    /// As ``seal(_:of:as:in:path:)``, for a record of a kind that this version may not know.
    package func seal(
        _ contents: [UInt8], canonical: [UInt8], by cipher: RecordCipher, in context: [UInt8],
        path: @autoclosure () -> String
    ) throws(VaultError) -> [UInt8] {
        guard contents.count <= Self.contentsLimit, canonical.count <= Self.keyLimit else {
            throw .denied(
                what: path(),
                reason: "contents of \(contents.count) bytes under a key of \(canonical.count) bytes are more than the "
                    + "\(Self.contentsLimit) and \(Self.keyLimit) that a vault takes")
        }
        var plaintext: [UInt8] = []
        plaintext.reserveCapacity(Self.lengthLength + canonical.count + contents.count)
        for shift in stride(from: 24, through: 0, by: -8) {
            plaintext.append(UInt8(truncatingIfNeeded: canonical.count >> shift))
        }
        plaintext.append(contentsOf: canonical)
        plaintext.append(contentsOf: contents)
        defer { plaintext.resetBytes() }
        do {
            let box = try AES.GCM.seal(plaintext, using: cipher.key, authenticating: cipher.associated + context)
            // Nonce, ciphertext and tag: there is none for nonces of another length alone.
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            var sealed: [UInt8] = []
            sealed.reserveCapacity(Self.header.count + combined.count)
            sealed.append(contentsOf: Self.header)
            sealed.append(contentsOf: combined)
            return sealed
        } catch {
            throw .unavailable("\(path()) could not be encrypted: \(error)")
        }
    }

    /// Opens the record that lies under a name.
    ///
    /// - Returns: the canonical key it was sealed for, which has this name, and the contents.
    /// - Throws: ``VaultError/damaged(what:reason:)``.
    package func open(
        _ sealed: [UInt8], as name: RecordName, in context: [UInt8] = [], path: @autoclosure () -> String
    ) throws(VaultError) -> (canonical: [UInt8], contents: [UInt8]) {
        try open(sealed, by: cipher(of: name), in: context, path: path())
    }

    /// The same with the record's cipher.
    package func open(
        _ sealed: [UInt8], by cipher: RecordCipher, in context: [UInt8], path: @autoclosure () -> String
    ) throws(VaultError) -> (canonical: [UInt8], contents: [UInt8]) {
        guard sealed.count >= Self.header.count + Self.nonceLength + Self.tagLength else {
            throw .damaged(what: path(), reason: "it is too short for a record (\(sealed.count) bytes)")
        }
        guard sealed.starts(with: Self.header) else {
            throw .damaged(what: path(), reason: "it has no record header of this version")
        }
        var plaintext: Data
        do {
            let box = try AES.GCM.SealedBox(combined: sealed.dropFirst(Self.header.count))
            plaintext = try AES.GCM.open(box, using: cipher.key, authenticating: cipher.associated + context)
        } catch {
            throw .damaged(
                what: path(), reason: "it was changed, or is not the record that was written under this name")
        }
        defer { plaintext.resetBytes(in: plaintext.startIndex..<plaintext.endIndex) }
        let length = plaintext.prefix(Self.lengthLength).reduce(0) { $0 << 8 | Int($1) }
        let rest = plaintext.dropFirst(Self.lengthLength)
        guard plaintext.count >= Self.lengthLength, length <= rest.count else {
            throw .damaged(what: path(), reason: "its contents are truncated")
        }
        let canonical = Array(rest.prefix(length))
        guard cipher.name.matches(names.code(of: canonical)) else {
            throw .damaged(what: path(), reason: "it holds the record of another key")
        }
        return (canonical, Array(rest.dropFirst(length)))
    }
}

/// A key of HMAC-SHA256 whose first blocks are hashed already: what many codes have in common.
private struct KeyedHash: Sendable {
    let key: SymmetricKey
    private let begun: HMAC<SHA256>

    init(_ key: SymmetricKey) {
        self.key = key
        begun = HMAC(key: key)
    }

    func code(of bytes: [UInt8]) -> HMAC<SHA256>.MAC {
        var hash = begun
        hash.update(data: bytes)
        return hash.finalize()
    }

    /// The 32 bytes that HKDF-Expand gives for a use, with this as the pseudorandom key (RFC 5869, section 2.3): its first block.
    func derived(_ use: String, _ name: String.UTF8View = "".utf8) -> SymmetricKey {
        SymmetricKey(data: code(of: Array("handshake vault \(use)".utf8) + name + [1]))
    }
}

extension VaultKey {
    /// Reads ``canonical`` back; nil when it is none, or of a kind that this version does not know.
    package init?(canonical: [UInt8]) {
        var parts: [String] = []
        var rest = canonical[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard length <= rest.count, let part = String(validating: rest.prefix(length), as: UTF8.self) else {
                return nil
            }
            parts.append(part)
            rest = rest.dropFirst(length)
        }
        guard let first = parts.first, let kind = Kind(rawValue: first) else { return nil }
        self.init(kind, Array(parts.dropFirst()))
    }
}
