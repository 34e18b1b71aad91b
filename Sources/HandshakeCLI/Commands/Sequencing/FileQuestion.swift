#if CommandLine
import FileSelector
import Foundation
import OAuth
import Sequencing

/// Asks at the terminal for a file.
enum FileQuestion {
    /// Whether a user sees the question and can answer it.
    static let canBeAsked = StandardInput.isTerminal && Output.isTerminal

    /// The maximum number of files in the list; others are found by searching.
    private static let maximumShown = 30

    /// Lists the files and asks until the answer is one of them: its number in the list, its identifier, or words, which
    /// list the matching files.
    ///
    /// - Throws: ``CommandError`` with status 2 when the input ends; `CancellationError`.
    static func ask(_ files: [GeneticFile]) async throws -> GeneticFile {
        show(Array(files.indices), of: files)
        while true {
            let question = "Which file? 1 to \(files.count), or words to search for:"
            let answer = try await Prompt.line(question, wanted: "the choice of a file")
                .trimmingCharacters(in: .whitespaces)
            if let file = file(answer, of: files) { return file }
            let found = Set(GeneticFile.matching(files, search: answer).map(\.id))
            if found.isEmpty { Output.error("No file matches “\(quoted(answer, limit: 80))”.") }
            show(files.indices.filter { found.contains(files[$0].id) }, of: files)
        }
    }

    /// The file that an answer names by its number in the list or by its identifier; nil for words.
    static func file(_ answer: String, of files: [GeneticFile]) -> GeneticFile? {
        if let number = Int(answer), number > 0, number <= files.count { return files[number - 1] }
        return FileID(answer).flatMap { id in files.first { $0.id == id } }
    }

    private static func show(_ places: [Int], of files: [GeneticFile]) {
        let columns = Terminal.columns
        let rows = places.prefix(maximumShown).map { place in
            ["\(place + 1)", files[place].displayName, files[place].facts.joined(separator: ", ")]
        }
        var lines = Table.lines(rows)
        if lines.contains(where: { $0.displayWidth > columns }) {
            // On separate lines if they do not fit on one.
            lines = rows.flatMap { Table.lines([[$0[0], $0[1]]]) + Table.lines([["  ", $0[2]]]) }
        }
        for line in lines { Output.error(line) }
        if places.count > maximumShown { Output.error("… and \(places.count - maximumShown) more") }
    }
}
#endif
