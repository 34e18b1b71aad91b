import Beacons
import Crypto
import CryptoExtras
import Foundation
import Testing

/// Exposure Notification's derivation, for the vectors of dossier 8.3.
private struct ExposureKey {
    let key: SymmetricKey

    init(_ bytes: [UInt8]) { key = SymmetricKey(data: bytes) }

    private func derived(_ info: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array(info.utf8), outputByteCount: 16)
    }

    var identifierKey: SymmetricKey { derived("EN-RPIK") }
    var metadataKey: SymmetricKey { derived("EN-AEMK") }

    static func padded(_ interval: UInt32) -> [UInt8] {
        Array("EN-RPI".utf8) + [UInt8](repeating: 0, count: 6)
            + withUnsafeBytes(of: interval.littleEndian) { Array($0) }
    }

    func identifier(_ interval: UInt32) throws -> [UInt8] {
        try encrypted(Self.padded(interval), with: identifierKey)
    }

    func metadata(_ plain: [UInt8], _ interval: UInt32) throws -> [UInt8] {
        let pad = try encrypted(try identifier(interval), with: metadataKey)
        return zip(plain, pad).map { $0 ^ $1 }
    }
}

/// Eddystone-EID's derivation, for the vectors of dossier 8.3.
private struct EphemeralKey {
    let key: SymmetricKey
    let exponent: UInt8

    func temporary(_ time: UInt32) throws -> [UInt8] {
        try encrypted([UInt8](repeating: 0, count: 11) + [0xFF, 0, 0] + bigEndian(time).prefix(2), with: key)
    }

    func identifier(_ time: UInt32) throws -> [UInt8] {
        let start = (time >> UInt32(exponent)) << UInt32(exponent)
        let block = [UInt8](repeating: 0, count: 11) + [exponent] + bigEndian(start)
        return Array(try encrypted(block, with: SymmetricKey(data: try temporary(time))).prefix(8))
    }

    private func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

/// One block of AES.
private func encrypted(_ block: [UInt8], with key: SymmetricKey) throws -> [UInt8] {
    var block = block
    try AES.permute(&block, key: key)
    return block
}

private func digits(_ key: SymmetricKey) -> String { key.withUnsafeBytes { hex($0) } }

@Suite("Known schemes")
struct KnownSchemeTests {
    private let exposure = ExposureKey(Array(0...15))
    private let newYear: UInt32 = 2_945_376

    @Test("BE-21: the published derivation of Exposure Notification")
    func published() {
        #expect(
            digits(ExposureKey(bytes("75c734c6dd1a782de7a965da5eb93125")).identifierKey)
                == "185ad91db69ec7dd048960f1f3ba6175")
    }

    @Test("BE-21: the keys and the padded block of Exposure Notification")
    func keys() {
        #expect(digits(exposure.identifierKey) == "4c3615250075e094e42e1b72e538ded2")
        #expect(digits(exposure.metadataKey) == "3454dd8d8c8c835029754c15df6d44d7")
        #expect(hex(ExposureKey.padded(newYear)) == "454e2d52504900000000000060f12c00")
    }

    @Test(
        "BE-21: identifiers and metadata of Exposure Notification",
        arguments: [
            (0, "82def107fbfe056631e54cec4ec7c4df", "73bf7a32"), (1, "f830c97e80a6d9b82a8c33685cd9878e", "96b8d411"),
            (143, "14af7322599f58ea3f08faf219b31dbf", "998cbb52"),
        ] as [(UInt32, String, String)])
    func identifiers(_ offset: UInt32, _ identifier: String, _ metadata: String) throws {
        #expect(hex(try exposure.identifier(newYear + offset)) == identifier)
        #expect(hex(try exposure.metadata([0x40, 0xF4, 0, 0], newYear + offset)) == metadata)
    }

    @Test("BE-21: the frame of Exposure Notification is recognised, identifies no beacon, and resolves with the key")
    func frame() throws {
        let data = try AdvertisingData(
            received: bytes(
                "02 01 1a 03 03 6f fd 17 16 6f fd 82 de f1 07 fb fe 05 66 31 e5 4c ec 4e c7 c4 df 73 bf 7a 32"))
        let frame = FrameParser().frame(in: data)
        guard case .exposureNotification(let notification) = frame else { throw Unexpected(frame) }
        #expect(notification.identifier.bytes == (try exposure.identifier(newYear)))
        #expect(notification.metadata == 0x73bf_7a32)
        #expect(frame.identity == nil)
        let short = try AdvertisingData([.serviceData(.exposureNotification, [1, 2, 3])])
        #expect(FrameParser().frame(in: short) == .malformed(.exposureNotification))
    }

    @Test(
        "BE-21: ephemeral identifiers of Eddystone",
        arguments: [
            (0, "68d14ef25b6abcc46b96568081ec8a52", "df8e76bbfec4efc5"),
            (1_023, "68d14ef25b6abcc46b96568081ec8a52", "df8e76bbfec4efc5"),
            (1_024, "68d14ef25b6abcc46b96568081ec8a52", "f7a6081d867e3474"),
            (66_560, "89b9b57c9f9b105a9541f31958492269", "5ba72a70ace3470a"),
        ] as [(UInt32, String, String)])
    func ephemeral(_ time: UInt32, _ temporary: String, _ identifier: String) throws {
        let key = EphemeralKey(key: SymmetricKey(data: Array(0...15) as [UInt8]), exponent: 10)
        #expect(hex(try key.temporary(time)) == temporary)
        #expect(hex(try key.identifier(time)) == identifier)
        let data = try AdvertisingData([.serviceData(.eddystone, [0x30, 0xEE] + key.identifier(time))])
        let frame = FrameParser().frame(in: data)
        #expect(frame == .eddystone(.ephemeral(try #require(UInt64(identifier, radix: 16)), power: -18)))
    }
}
