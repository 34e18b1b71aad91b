import Foundation
import OAuth
import Sequencing
import Testing

@testable import FileSelector

/// `file-selector-cases.json`, which the web component is held to as well.
enum SharedTable {
    /// The rows of one part of the table.
    static func rows<Row>(_ part: String, _ read: (JSONValue) throws -> Row) -> [Row] {
        do {
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "file-selector-cases.json")
            let table = try JSONValue(parsing: Array(Data(contentsOf: file)))
            return try (table.object?[part]?.array ?? []).map(read)
        } catch {
            Issue.record(error, "the table of cases cannot be read")
            return []
        }
    }
}

/// What a user and a list that changes do to a selector, and what it shows after each step.
struct SelectorVisit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    private let files: JSONObject
    private let choice: String?

    struct Step: Sendable {
        /// The word for what is done, and to which files.
        let action: [String]
        /// The name of the selected file.
        let selected: String?
        /// The keys of the notices' texts.
        let notices: [String]
    }

    private init(_ value: JSONValue) throws {
        let members = try #require(value.object)
        testDescription = members["name"]?.string ?? ""
        files = try #require(members["files"]?.object)
        choice = members["remembered"]?.string
        steps = try (members["steps"]?.array ?? []).map { step in
            let members = try #require(step.object)
            func texts(_ name: String) -> [String] { (members[name]?.array ?? []).compactMap(\.string) }
            return Step(action: texts("do"), selected: members["selected"]?.string, notices: texts("notices"))
        }
    }

    static let all = SharedTable.rows("visits", SelectorVisit.init)

    private func list(_ names: some Sequence<String>) throws -> FileList {
        try FileList(.array(names.map { try #require(files[$0]) }))
    }

    private func file(_ name: String) throws -> GeneticFile {
        try #require(try list([name]).files.first)
    }

    /// The choice of an earlier launch.
    func remembered() throws -> RememberedChoice? {
        try choice.map { RememberedChoice(try file($0)) }
    }

    /// Does what a step says.
    func take(_ step: Step, in selector: inout FileSelectorState) throws {
        let names = step.action.dropFirst()
        switch step.action.first {
        case "list": selector.show(try list(names), at: 0)
        case "fail": selector.fail(.unreachable)
        case "open": selector.choose(try #require(names.first.flatMap(FileSelectorState.Tab.init(rawValue:))))
        case "tap":
            let file = try file(try #require(names.first))
            selector.choose(file.isSample ? .sample : .own)
            selector.toggle(file.id)
        case "select": selector.select(try #require(names.first.flatMap { FileID($0) }))
        case "continue": selector.remember(try #require(selector.selected))
        case "forget": selector.forget()
        default: Issue.record("unknown step \(step.action)")
        }
    }
}

extension FileSelectorState.Notice {
    /// The key of its text.
    var key: String {
        switch self {
        case .stale: "stale"
        case .noOwnFiles: "no_own"
        case .noSamples: "no_samples"
        case .noFiles: "empty"
        case .selectionGone: "selection_gone"
        case .nothingFound: "nothing_matches"
        case .unreadableEntries: "skipped"
        case .rememberedFile: "remembered"
        case .rememberedFileGone: "remembered_gone"
        }
    }
}
