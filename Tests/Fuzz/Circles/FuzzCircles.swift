import Budget
import Crypto

@testable import Circles

/// Bytes of a circle's server, of its members, and of a device that pairs. The first byte selects the reader.
///
/// What fails, or takes longer than the time budget, ends the process, and the fuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = Input(start, count), let reader = readers[input.kind] else { return -1 }
    reader(input.content)
    Budget(length: lengths[input.kind] ?? 1_048_576).check(input.kind, input.content, reader)
    return 0
}

private let readers: [UInt8: @Sendable ([UInt8]) -> Void] = [
    UInt8(ascii: "M"): readMember, UInt8(ascii: "K"): readKeys, UInt8(ascii: "P"): readPage,
    UInt8(ascii: "F"): readPhotos, UInt8(ascii: "T"): readCode, UInt8(ascii: "C"): readCard,
    UInt8(ascii: "S"): readSession,
]

/// The longest content that a reader takes, where that is less than 1 MiB.
private let lengths: [UInt8: Int] = [
    UInt8(ascii: "T"): 4_096, UInt8(ascii: "C"): 2_048, UInt8(ascii: "S"): 2_048,
]

private let now: UInt64 = 1_700_000_000
private let scope = CircleScope(circleAt: "https://circle.example.com")
private let key = known {
    try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: [UInt8](repeating: 9, count: 32))
}
private let member = known {
    let bytes = [UInt8](repeating: 5, count: 32) + [UInt8](repeating: 6, count: 32)
    guard let keys = MemberKeys(revealed: bytes) else { throw CircleError.weakKey }
    return try MemberRecord(signedBy: keys, in: scope, number: 7, at: now)
}
private let session = [UInt8](repeating: 3, count: PairingMessage.sessionLength)
private let nonce = [UInt8](repeating: 4, count: PairingMessage.nonceLength)
private let offerer = PairingSession(offeringAt: now, key: key, nonce: nonce, session: session)
private let joiner = known { try PairingSession.join(offerer.code, at: now, key: key, nonce: nonce).0 }

/// An error of a form says so in a few words.
private func reading(_ body: () throws(CircleError) -> Void) {
    do { try body() } catch {
        require((1..<1_024).contains(error.description.utf8.count), "an error is long")
        require(error.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "an error controls the terminal")
    }
}

private func readMember(_ bytes: [UInt8]) {
    reading { () throws(CircleError) in
        let record = try MemberRecord(bytes)
        require(record.bytes == bytes, "a record is not what was sent")
        require(!record.replaces(member), "a stranger replaced a member")
        try record.check(in: scope, of: 7, at: now)
    }
}

/// No input has the member's signature.
private func readKeys(_ bytes: [UInt8]) {
    reading { () throws(CircleError) in
        let record = try KeyRecord(bytes)
        require(
            record.dayKeys.count == record.count && record.dayKeys.allSatisfy { $0.key.count == 32 }, "a key is cut")
        require("\(record)".hasPrefix("(secret keys of "), "a record shows its keys")
        try record.check(in: record.terms.scope, by: member, at: now, epoch: record.terms.epoch)
        require(false, "keys without the member's signature were accepted")
    }
}

private func readPage(_ bytes: [UInt8]) {
    reading { () throws(CircleError) in
        let page = try KeyPage(bytes)
        require(page.entries.count <= KeyPage.maximumEntries, "a page has too many entries")
        guard !page.entries.contains(.unknown) else { return }
        require(try KeyPage(page.bytes) == page, "a page changed when it was written")
    }
}

private func readPhotos(_ bytes: [UInt8]) {
    reading { () throws(CircleError) in
        let pack = try PhotoPack(bytes)
        require(pack.photos.values.allSatisfy { $0.count <= PhotoPack.maximumPhotoSize }, "a photo is too long")
        require(try PhotoPack(pack.bytes) == pack, "a pack changed when it was written")
    }
}

private func readCode(_ bytes: [UInt8]) {
    reading { () throws(CircleError) in
        let code = try PairingCode(String(decoding: bytes, as: UTF8.self))
        require(try PairingCode(code.text) == code, "a code changed when it was written")
        _ = try PairingSession.join(code, at: now)
    }
}

/// No input has the signatures of a card.
private func readCard(_ bytes: [UInt8]) {
    reading { () throws(CircleError) in
        _ = try PairingCard(bytes, in: scope, at: now)
        require(false, "a card without its signatures was accepted")
    }
}

/// Messages with their lengths before them, to both sides of a pairing: none of them ends it without the users.
private func readSession(_ bytes: [UInt8]) {
    for var side in [offerer, joiner] {
        var rest = bytes[...]
        while let length = rest.first, rest.count > Int(length) {
            let message = Array(rest.dropFirst().prefix(Int(length)))
            rest = rest.dropFirst(1 + Int(length))
            reading { () throws(CircleError) in
                _ = try side.receive(Array(message.prefix(1)) + session + message.dropFirst(), at: now)
            }
        }
        require(side.card == nil && side.state != .done, "a pairing ended without its users")
    }
}
