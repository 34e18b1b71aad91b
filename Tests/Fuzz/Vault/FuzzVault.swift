import Budget
import Crypto
import HTTPTypes
import OAuth

@testable import Handshake

/// Bytes of a vault's files, of what is sealed inside its records, and of what reaches a sign-in. The first byte selects the reader.
///
/// What fails, or takes longer than the time budget, ends the process, and the fuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = Input(start, count), let reader = readers[input.kind] else { return -1 }
    reader(input.content)
    Budget(length: lengths[input.kind] ?? 1_048_576, isOnlyLinear: insideRecords.contains(input.kind))
        .check(input.kind, input.content, reader)
    return 0
}

/// What reads the contents of a sealed record, which the vault's user alone can have written.
private let insideRecords: Set = [UInt8(ascii: "A"), UInt8(ascii: "P"), UInt8(ascii: "C")]

private let readers: [UInt8: @Sendable ([UInt8]) -> Void] = [
    UInt8(ascii: "R"): openRecord, UInt8(ascii: "S"): sealAndSpoil, UInt8(ascii: "N"): readKey,
    UInt8(ascii: "D"): readDescription, UInt8(ascii: "A"): readAccount, UInt8(ascii: "P"): readPendingSignIn,
    UInt8(ascii: "C"): readRegistration, UInt8(ascii: "M"): openNames, UInt8(ascii: "K"): readMasterKey,
    UInt8(ascii: "H"): readRequest, UInt8(ascii: "T"): readRetryAfter,
]

/// The longest content that a reader takes, where that is less than 1 MiB. The transport takes no more header fields than 80 KiB.
private let lengths: [UInt8: Int] = [
    UInt8(ascii: "H"): RedirectExchange<String>.maximumHead, UInt8(ascii: "T"): 81_920,
]

private let seal = RecordSeal(
    vault: Array(repeating: 7, count: 16), master: SymmetricKey(data: Array(repeating: UInt8(9), count: 32)))
private let key = VaultKey(.account, ["service", "https://server.example.com", "client", "alice"])
private let id = known {
    guard let id = AccountID(key) else { throw VaultError.unavailable("no account's key") }
    return id
}

/// An error of a record names it and says nothing of what stands in it.
private func reading(_ body: () throws -> Void) {
    do {
        try body()
    } catch let error as HandshakeError {
        require(error.code == "vault_damaged" && error.description.utf8.count < 4_096, "\(error)")
    } catch let error as VaultError {
        require(error.code == "vault_damaged" && error.description.utf8.count < 4_096, "\(error)")
    } catch {
        require(false, "an error of a foreign type: \(error)")
    }
}

/// Such a record cannot be written without the key: none opens.
private func openRecord(_ bytes: [UInt8]) {
    reading {
        _ = try seal.open(bytes, as: seal.name(of: key), path: "record")
        require(false, "bytes without the key opened as a record")
    }
}

/// The first two bytes say which bit of the sealed rest is turned.
private func sealAndSpoil(_ bytes: [UInt8]) {
    let contents = Array(bytes.dropFirst(2))
    let name = seal.name(of: key)
    guard contents.count <= RecordSeal.contentsLimit,
        var sealed = try? seal.seal(contents, of: key, as: name, path: "record")
    else { return }
    reading { require(try seal.open(sealed, as: name, path: "record").contents == contents, "a record changed") }
    let bit = bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) } % (sealed.count * 8)
    sealed[bit / 8] ^= 1 << UInt8(bit % 8)
    openRecord(sealed)
}

private func readKey(_ bytes: [UInt8]) {
    guard let key = VaultKey(canonical: bytes) else { return }
    require(key.canonical == bytes, "a key has two spellings")
}

/// The key of names of a later master key, which cannot be written without that key.
private func openNames(_ bytes: [UInt8]) {
    reading {
        _ = try seal.withNames(bytes, path: "key")
        require(false, "bytes without the key opened as a key of names")
    }
}

/// What a program prints in the place of a key.
private func readMasterKey(_ bytes: [UInt8]) {
    guard let key = VaultMasterKey(printed: bytes) else { return }
    require(key.reveal().count == VaultMasterKey.length, "a key of another length")
    require(bytes.count <= 2 * VaultMasterKey.length + 2, "a key that is longer than any form of it")
}

private func readDescription(_ bytes: [UInt8]) {
    reading {
        let description = try VaultDescription(json: bytes, path: "vault.json")
        require(description.id.count == 16 && description.check.count == 16, "an id of another length")
    }
}

private func readAccount(_ bytes: [UInt8]) {
    reading {
        let record = try AccountRecord(stored: bytes, expected: id)
        require(record.id == id, "another account's record")
        let next = record.refreshed(record.grant, record.binding)
        let again = try AccountRecord(stored: next.stored(), expected: id)
        require(again.generation == next.generation && again.state == next.state, "a record changed when it was stored")
    }
}

private func readPendingSignIn(_ bytes: [UInt8]) {
    reading {
        let pending = try PendingSignIn(stored: bytes)
        let again = try PendingSignIn(stored: pending.stored())
        require(again.account == pending.account && again.request.url == pending.request.url, "a sign-in changed")
    }
}

private func readRegistration(_ bytes: [UInt8]) {
    reading { _ = try Registrations.client(stored: bytes, as: "name") }
}

/// A program of this machine, or a page in its browser, asks the loopback listener.
private func readRequest(_ bytes: [UInt8]) {
    let exchange = RedirectExchange<String>(authority: "127.0.0.1:49152", path: "/callback") { url in
        .accepted(url, page: "done")
    }
    let answer = exchange.answer(to: bytes)
    require(answer.bytes.starts(with: "HTTP/1.1 ".utf8), "an answer is no HTTP")
    guard let url = answer.accepted else { return }
    require(url.utf8.starts(with: "http://127.0.0.1:49152/callback".utf8), "another address was accepted")
    require(url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "an address has a space or a control character")
}

private func readRetryAfter(_ bytes: [UInt8]) {
    let fields: HTTPFields = [.retryAfter: String(decoding: bytes, as: UTF8.self)]
    let response = HTTPResponse(status: .serviceUnavailable, headerFields: fields)
    for now in [0, 1_700_000_000, 253_402_300_799] as [Double] {
        guard let pause = RetryAfter.pause(in: response, now: now) else { continue }
        require(pause >= .zero && pause <= .seconds(Int32.max), "a pause is no time to wait")
    }
}
