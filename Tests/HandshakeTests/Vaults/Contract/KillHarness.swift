import Foundation
import Handshake
import TestFixtures
import Testing

/// Counts in several records until it is killed, and says before and after each step what it does; then checks that
/// the vault holds what was said.
///
/// The journal is written with single appends, which outlive the process. A record must hold the last count whose
/// replacement had returned, or, if one was under way, the next.
struct KillHarness {
    private static let keys = (0..<8).map { VaultKey(.account, ["key \($0)"]) }

    /// The journal's file.
    let path: String

    struct Journal {
        var begun: [Int: UInt64] = [:]
        var done: [Int: UInt64] = [:]
    }

    /// Works until the process dies.
    ///
    /// - Parameter begun: called when each task has replaced its first record.
    func work(in vault: any Vault, begun: @escaping @Sendable () -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let journal = try Appender(path)
                    for round in 0... {
                        let index = Int.random(in: Self.keys.indices)
                        try await vault.update(Self.keys[index]) { record in
                            let count = try (await record.contents).map(Self.count) ?? 0
                            journal.append("begin \(index) \(count + 1)")
                            try await record.replace(with: Self.contents(count + 1))
                            journal.append("done \(index) \(count + 1)")
                        }
                        if round == 0 { begun() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Opens a vault and works until this process kills itself at a random moment.
    ///
    /// - Parameter fromTheStart: whether it may die before it has replaced its first record.
    func beKilled(fromTheStart: Bool, opening open: () throws -> any Vault) async throws {
        if fromTheStart { killAtRandom(countingUpTo: 1_000_000) }
        try await work(in: open()) { if !fromTheStart { killAtRandom(countingUpTo: 1_000_000) } }
    }

    /// Checks every record against the journal.
    func check(round: Int, in vault: any Vault) async throws {
        let journal = try journal()
        for (index, key) in Self.keys.enumerated() {
            let count = try await vault.record(key).map(Self.count) ?? 0
            #expect(count >= journal.done[index] ?? 0, "round \(round): key \(index) lost a record")
            #expect(
                count <= journal.begun[index] ?? 0, "round \(round): key \(index) has a record that was never written")
        }
        let listing = try await vault.keys(of: .account)
        #expect(listing.damaged.isEmpty, "round \(round)")
    }

    func journal() throws -> Journal {
        var journal = Journal()
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return journal }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let index = Int(words[1]), let count = UInt64(words[2]) else {
                throw Torn(what: "journal: \(line)")
            }
            if words[0] == "begin" { journal.begun[index] = count } else { journal.done[index] = count }
        }
        return journal
    }

    struct Torn: Error {
        let what: String
    }

    /// Contents that show every torn byte: a count, and a filling of a length and value that follow from it.
    private static func contents(_ count: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            + [UInt8](repeating: UInt8(truncatingIfNeeded: count &* 31), count: Int(count &* 7919 % 6000))
    }

    private static func count(_ contents: [UInt8]) throws -> UInt64 {
        let count = contents.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        guard contents == Self.contents(count) else { throw Torn(what: "record with count \(count)") }
        return count
    }
}

/// A file that lines are appended to, each in one step.
private struct Appender {
    private let handle: FileHandle

    init(_ path: String) throws {
        let number = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw CocoaError(.fileWriteUnknown) }
        handle = FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }

    func append(_ line: String) {
        let line = Array("\(line)\n".utf8)
        _ = line.withUnsafeBytes { write(handle.fileDescriptor, $0.baseAddress, $0.count) }
    }
}
