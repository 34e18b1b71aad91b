import Foundation
import Handshake
import VaultContents

/// Writers that are killed at random points, and what is left of their records.
///
/// A writer says before each update what it will write, and after it that it has. Whatever it was doing when it died, a record must
/// then hold what was last said to be written, or what was being written; anything else is *lost*, and what is neither is *torn*.
enum VaultKilling {
    private static let kills = 200
    /// So many records are updated over and over, by so many tasks, each with records of its own.
    private static let records = 64
    private static let tasks = 4

    static func run(_ options: Options) async throws -> [Figure] {
        note("killing \(kills) writers")
        let vault = try VaultContents.vault(in: options.folder)
        var state = [Int](repeating: 0, count: records)
        var tally = Tally()
        for kill in 1...kills {
            let sequence = kill * 1_000_000
            let folder = options.folder
            let claims = try await blocking { try killOne(folder: folder, sequence: sequence) }
            tally.killedInside += claims.openCount > 0 ? 1 : 0
            tally.updates += claims.doneCount
            for record in 0..<records {
                state[record] = try await check(record, in: vault, was: state[record], claims, &tally)
            }
        }
        try await goOn(vault)
        let listing = try await vault.keys(of: .account)
        tally.torn += listing.damaged.count
        tally.lost += options.accounts - listing.keys.count
        return [
            Figure("records torn in \(kills) kills", "", .exactly(0), samples: [Double(tally.torn)]),
            Figure("records lost in \(kills) kills", "", .exactly(0), samples: [Double(tally.lost)]),
            Figure("kills in the midst of an update", "", samples: [Double(tally.killedInside)]),
            Figure("updates between the kills", "", samples: [Double(tally.updates)]),
        ]
    }

    private struct Tally {
        var torn = 0
        var lost = 0
        var killedInside = 0
        var updates = 0
    }

    /// What a writer said of each record: the last sequence number it had written, and the one it was writing.
    private struct Claims {
        var done: [Int: Int] = [:]
        var open: [Int: Int] = [:]
        var doneCount = 0
        var openCount: Int { open.count }

        init(_ lines: [String]) {
            for line in lines {
                let words = line.split(separator: " ")
                guard words.count == 3, let record = Int(words[1]), let sequence = Int(words[2]) else { continue }
                if words[0] == "begin" {
                    open[record] = sequence
                } else {
                    open[record] = nil
                    done[record] = sequence
                    doneCount += 1
                }
            }
        }
    }

    private static func killOne(folder: String, sequence: Int) throws -> Claims {
        let child = try ChildPart.updateVault(folder: folder, sequence: sequence).start()
        guard let first = child.readLine() else { throw Failure("a writer did not begin") }
        usleep(.random(in: 0..<20_000))
        child.kill()
        let claims = Claims([first] + child.readLines())
        guard child.wait().status == nil else { throw Failure("a writer ended by itself") }
        return claims
    }

    /// Reads a record and finds the update it holds.
    private static func check(
        _ record: Int, in vault: FileVault, was before: Int, _ claims: Claims, _ tally: inout Tally
    ) async throws -> Int {
        let expected = claims.done[record] ?? before
        let contents: [UInt8]?
        do {
            contents = try await vault.record(VaultContents.key(record))
        } catch VaultError.damaged {
            tally.torn += 1
            return expected
        }
        for sequence in [expected, claims.open[record]].compactMap(\.self)
        where contents == VaultContents.bytes(record, sequence: sequence) {
            return sequence
        }
        if contents == nil || contents == VaultContents.bytes(record, sequence: before) {
            tally.lost += 1
        } else {
            tally.torn += 1
        }
        return expected
    }

    /// Killed processes hold no lock: every record can be updated immediately.
    private static func goOn(_ vault: FileVault) async throws {
        for record in 0..<records {
            let bytes = VaultContents.bytes(record, sequence: 0)
            try await vault.update(VaultContents.key(record)) { try await $0.replace(with: bytes) }
        }
    }

    /// The part of a child: updates until it is killed.
    static func update(folder: String, from first: Int) async throws {
        let vault = try VaultContents.vault(in: folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var sequence = first
                    while true {
                        let record = Int.random(in: 0..<(records / tasks)) * tasks + task
                        sequence += 1
                        let bytes = VaultContents.bytes(record, sequence: sequence)
                        say("begin", record, sequence)
                        try await vault.update(VaultContents.key(record)) { try await $0.replace(with: bytes) }
                        say("done", record, sequence)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// One line in one write, which a pipe takes whole or not at all.
    private static func say(_ word: String, _ record: Int, _ sequence: Int) {
        let line = "\(word) \(record) \(sequence)\n"
        guard line.withCString({ write(1, $0, strlen($0)) }) == line.utf8.count else { exit(1) }
    }
}
