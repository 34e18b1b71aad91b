import Foundation
import Testing

/// `Tests/ROWS.md` against the checklist, the tests and the patches that it names.
@Suite("The table of security rows")
struct SecurityRowTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    }

    /// The cells of the rows of a document whose first cell is a row's name.
    private static func rows(in text: String, named name: Regex<Substring>) -> [String: [String]] {
        var rows: [String: [String]] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.dropFirst(2).split(separator: " |", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard let first = cells.first, first.wholeMatch(of: name) != nil else { continue }
            rows[first, default: []] += cells.dropFirst()
        }
        return rows
    }

    private static func table() throws -> [String: [String]] {
        rows(in: try text("Tests/ROWS.md"), named: /(?:[A-M]|VL|CI|BE-|RC-|SV)\d{1,3}/)
    }

    /// The tables of two kits, whose dossiers count their rows alike. Patches name the kit before the row.
    private static let kits = ["IFTTT": "IFTTTConnectTests", "Sequencing": "SequencingTests"]

    /// The last two columns of the kits' rows, with the kit before the row's name: what shows it, and what is removed.
    private static func kitTable() throws -> [String: [String]] {
        var table: [String: [String]] = [:]
        for (kit, folder) in kits {
            for (row, cells) in rows(in: try text("Tests/\(folder)/ROWS.md"), named: /[A-Z]\d{1,3}/) {
                table["\(kit)-\(row)"] = Array(cells.dropLast().suffix(2))
            }
        }
        // The Connect Button's motion has no kit; its rows have names that no other table has.
        for (row, cells) in rows(in: try text("Tests/ConnectButtonTests/ROWS.md"), named: /MO\d{1,2}/) {
            table[row] = Array(cells.dropLast().suffix(2))
        }
        return table
    }

    /// The rows of the motion, with what shows each and what is removed.
    private static func motionTable() throws -> [String: [String]] {
        rows(in: try text("Tests/ConnectButtonTests/ROWS.md"), named: /MO\d{1,2}/)
    }

    @Test("has each of the 111 rows of the checklist once")
    func complete() throws {
        let checklist = Self.rows(
            in: try Self.text("Documentation/Protocols/oauth-security.md"), named: /[A-M]\d{1,2}/)
        #expect(checklist.count == 111)
        let table = try Self.table()
        for row in checklist.keys.sorted() { #expect(table[row] != nil, "\(row) has no entry") }
        for (row, cells) in table { #expect(cells.filter { !$0.isEmpty }.count <= 2, "\(row) stands there twice") }
    }

    @Test("has each row in one line, as a table needs it")
    func lines() throws {
        for line in try Self.text("Tests/ROWS.md").split(separator: "\n") where line.hasSuffix(" |") {
            #expect(line.hasPrefix("| "), "\(line.prefix(80))")
        }
    }

    @Test("has each of the 48 rows of the lease protocol, and the dossier says how VL25 is built otherwise")
    func leases() throws {
        let dossier = try Self.text("Documentation/Protocols/vault-lease.md").replacing("\n", with: " ")
        let rows = Set(dossier.matches(of: /\*\*(VL\d+)\*\*/).map { String($0.1) })
        #expect(rows == Set((1...48).map { "VL\($0)" }))
        let table = try Self.table()
        for row in rows.sorted() { #expect(table[row] != nil, "\(row) has no entry") }
        #expect(dossier.contains("VL25 is built as “no holder sends a token again after the service has answered”"))
    }

    @Test("names for each row a test and a patch, or the issue that brings it")
    func shown() throws {
        for (row, cells) in try Self.table().sorted(by: { $0.key < $1.key }) {
            let (shown, removed) = (cells.first ?? "", cells.dropFirst().first ?? "")
            if shown.contains(/Not built[^|]*: issue \d+/) { continue }
            #expect(shown.contains("“") || shown.contains("`test_"), "\(row) names no test")
            #expect(removed.hasPrefix("`"), "\(row) names no patch")
        }
    }

    @Test("names every patch of Tests/Mutations, each at its row")
    func patches() throws {
        let table = try Self.table().merging(Self.kitTable()) { own, _ in own }
            .merging(Self.motionTable()) { own, _ in own }
        let files = try Repository.files(below: ["Tests/Mutations/rows"], ending: ["patch"])
        #expect(files.count > 150)
        var names: Set<String> = []
        for file in files {
            let name = String(file.split(separator: "/").last?.dropLast(".patch".count) ?? "")
            names.insert(name)
            let row = String(try #require(try Self.text(file).firstMatch(of: /(?m)^Row: *([\w-]+)$/)).1)
            #expect(name == row || name.hasPrefix(row + "-"), "\(name) is a patch of \(row)")
            #expect(table[row]?.dropFirst().first?.contains("`\(name)`: ") == true, "\(row) does not name \(name)")
        }
        for (row, cells) in table {
            let name = #/`((?:[A-M]|VL|CI|BE-|RC-|SV|MO|IFTTT-|Sequencing-)[\w-]*)`: /#
            for match in (cells.dropFirst().first ?? "").matches(of: name) {
                #expect(names.contains(String(match.1)), "\(row): there is no patch \(match.1)")
            }
        }
    }
}
