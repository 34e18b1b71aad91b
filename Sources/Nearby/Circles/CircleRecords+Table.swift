import Foundation
import Handshake
import OAuth

/// The circle's table: what the device knows of the members.
extension CircleRecords {
    /// The table; an empty one where none was stored yet.
    ///
    /// - Throws: ``CircleProblem/unreadableTable(circle:)`` where it is damaged, lost, or none of this version.
    func table() async throws -> CircleTable {
        guard let table = try await readableTable() else {
            let circle = (try? await state())?.circle
            throw CircleProblem.unreadableTable(circle: circle.map { quoted($0, limit: 80) } ?? "a circle")
        }
        return table
    }

    /// The table; nil where it is damaged, lost, or none of this version.
    func readableTable() async throws -> CircleTable? {
        do {
            guard try await mustHaveTable() else { return CircleTable() }
            var bytes = try await largeTable.contents()
            // Another process may have replaced it while it was read.
            if bytes == nil { bytes = try await largeTable.contents() }
            return bytes.flatMap { try? JSONDecoder().decode(CircleTable.self, from: Data($0)) }
        } catch VaultError.damaged {
            return nil
        }
    }

    /// Whether a table is there, or was, and was not removed with the members.
    private func mustHaveTable() async throws -> Bool {
        if try await vault.record(key("table")) != nil { return true }
        do {
            return try await state()?.hasTable == true
        } catch VaultError.damaged {
            return false
        }
    }

    /// Replaces the table.
    ///
    /// - Parameter known: the table before; nil when it does not matter.
    func replaceTable(_ table: CircleTable, known: CircleTable? = nil) async throws {
        guard table != known else { return }
        try await largeTable.replace(with: Array(try JSONEncoder().encode(table)))
        if table.rows != known?.rows { try await noteChange() }
    }

    /// Removes a table that cannot be read; the next synchronisation fetches all members again.
    func removeUnreadableTable() async throws -> Bool {
        // First: a table that is not there afterwards is lost, with its pins, which the next synchronisation reports.
        // Another table may be put back.
        try await changeState { ($0.membersTag, $0.keysTag, $0.hasTable) = (nil, nil, true) }
        let existed = try await removeTable()
        try await noteChange()
        return existed
    }

    /// Removes the table and its parts. A damaged record cannot be replaced before it is removed.
    @discardableResult
    func removeTable() async throws -> Bool {
        // What is damaged is not listed. Replacing the table removes its parts by their names.
        if (try? await vault.record(key("table"))) != nil { try await largeTable.replace(with: []) }
        var existed = try await vault.remove(key("table"))
        for key in try await vault.keys(of: .circle).keys
        where key.components.starts(with: [community, scope, "table"]) {
            existed = try await vault.remove(key) || existed
        }
        return existed
    }

    private var largeTable: LargeRecord { LargeRecord(in: vault, .circle, [community, scope, "table"]) }
}
