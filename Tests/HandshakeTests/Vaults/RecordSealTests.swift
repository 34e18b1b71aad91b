import Crypto
import Testing

@testable import Handshake

@Suite("The keys of records")
struct RecordSealTests {
    private static let identifier = VaultIdentifier(bytes: Array(0..<16))

    private static func seal() throws -> RecordSeal {
        RecordSeal(
            vault: identifier, master: try #require(VaultMasterKey(revealed: [UInt8](repeating: 7, count: 32))))
    }

    /// As Crypto's own HKDF gives it (RFC 5869).
    private static func derived(_ info: String, length: Int) -> SymmetricKey {
        let extracted = HKDF<SHA256>.extract(
            inputKeyMaterial: SymmetricKey(data: [UInt8](repeating: 7, count: 32)), salt: identifier.bytes)
        return HKDF<SHA256>.expand(
            pseudoRandomKey: extracted, info: Array("handshake vault \(info)".utf8), outputByteCount: length)
    }

    @Test("records, names and the check have the keys of HKDF, and names are HMAC-SHA256 of canonical keys")
    func keys() throws {
        let seal = try Self.seal()
        let key = VaultKey(.account, ["a", ""])
        let canonical = [0, 0, 0, 7] + Array("account".utf8) + [0, 0, 0, 1] + Array("a".utf8) + [0, 0, 0, 0]
        #expect(key.canonical == canonical)
        let digest = Array(HMAC<SHA256>.authenticationCode(for: canonical, using: Self.derived("names", length: 32)))
        let name = seal.name(of: key)
        #expect(name.bytes == digest && RecordName(name.text) == name)
        #expect(seal.shortName(of: key).bytes == Array(digest.prefix(16)))
        #expect(seal.cipher(of: name).key == Self.derived("record" + name.text, length: 32))
        #expect(SymmetricKey(data: seal.check) == Self.derived("check", length: 16))
    }

    @Test("one hold derives the cipher of a record once for each key, and another record has another one")
    func ciphers() throws {
        let seal = try Self.seal()
        let other = RecordSeal(vault: Self.identifier, master: .random())
        let names = ["a", "b"].map { seal.name(of: VaultKey(.account, [$0])) }
        let ciphers = RecordCiphers()
        for (number, seal) in [(1, seal), (2, other), (1, seal)] as [(Int64, RecordSeal)] {
            for name in names {
                #expect(ciphers.cipher(of: name, withKey: number, seal).key == seal.cipher(of: name).key)
            }
        }
        // What is known is not derived again, from whatever it would be.
        let known = ciphers.cipher(of: names[1], withKey: 1, other).key
        #expect(known == seal.cipher(of: names[1]).key)
    }
}
