import Foundation
import Testing

/// The Swift code that the pages and the documentation comments show. `swift build --build-tests`, `Tests/AppleDeclarations/check` or `Tests/Consumers/check`
/// compiles it: a block that is in none of their files, whole and in order, is an error.
@Suite("The Swift code of the pages")
struct CodeTests {
    @Test("is compiled, block by block")
    func compiled() throws {
        let files = try CompiledFile.all()
        let blocks = try CodeBlock.all()
        #expect(blocks.count > 80)
        for block in blocks {
            #expect(files.contains { $0.has(block) }, "\(block.place): in no file that is compiled:\n\(block.text)")
        }
    }

    @Test(
        "is found as a whole only",
        arguments: [
            ("let a = 1\nlet b = 2", true), ("  let a = 1\n\n  let b = 2", true), ("import A\n\nlet a = 1", true),
            ("let b = 2\nlet a = 1", false), ("let a = 1\nlet c = 3", false), ("import B\nlet a = 1", false),
            ("let a = 1\nlet b = 2\nlet c = 3\nlet d = 4", false), ("let a", false),
        ])
    func blocks(_ text: String, _ isFound: Bool) {
        let file = CompiledFile("import A\n\nfunc f() {\n    let a = 1\n    let b = 2\n    let c = 3\n}")
        #expect(file.has(CodeBlock(place: "", text: text)) == isFound)
    }

    @Test(
        "is read from each fence, also from one inside a list",
        arguments: [
            ("```swift\nlet a = 1\n```", ["let a = 1"]), ("* b\n\n  ```swift\n  let a = 1\n  ```", ["let a = 1"]),
            ("```\nlet a = 1\n```\n```swift\nb\n```", ["b"]), ("```swift\na\n```\n```swift\nb\n```", ["a", "b"]),
            ("```swift\na", ["a"]),
        ])
    func fences(_ page: String, _ blocks: [String]) {
        #expect(CodeBlock.blocks(of: page, at: "").map { $0.lines.joined() } == blocks)
    }

    @Test("is read from documentation comments, and not from the code below them")
    func comments() {
        let source =
            "    /// ```swift\n    /// let a = 1\n    /// ```\n    let b = 2\n    // ```swift\n    // let c = 3\n    // ```"
        let blocks = CodeBlock.blocks(of: CodeBlock.documentation(in: source), at: "")
        #expect(blocks.map { $0.lines.joined() } == ["let a = 1"])
    }
}

/// A block of Swift code on a page.
private struct CodeBlock {
    let place: String
    let text: String
    /// The lines without indentation and empty lines, after the imports.
    let lines: [String]
    let imports: Set<String>

    init(place: String, text: String) {
        self.place = place
        self.text = text
        let lines = text.significantLines
        imports = Set(lines.filter { $0.hasPrefix("import ") })
        self.lines = lines.filter { !$0.hasPrefix("import ") }
    }

    /// The blocks of every page and documentation comment of the repository, except the reports in `Documentation/Upstream`: they
    /// show other packages' code.
    static func all() throws -> [CodeBlock] {
        let top = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path)
            .filter { $0.hasSuffix(".md") }
        let folders = [".github", "Benchmarks", "Documentation", "Examples", "Sources", "Tests"]
        let pages = try top + Repository.files(below: folders, ending: ["md"])
        let ours = try pages.filter { !$0.hasPrefix("Documentation/Upstream/") }.flatMap { page in
            blocks(of: try Repository.text(page), at: page)
        }
        return try ours
            + Repository.files(below: ["Sources"], ending: ["swift"]).flatMap { file in
                blocks(of: documentation(in: try Repository.text(file)), at: file)
            }
    }

    /// The documentation comments of a source file, each on its own line; other lines are empty.
    static func documentation(in source: String) -> String {
        source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let line = line.trimmingCharacters(in: .whitespaces)
            return line.hasPrefix("///") ? String(line.dropFirst(3)) : ""
        }.joined(separator: "\n")
    }

    static func blocks(of page: String, at path: String) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var fence: (start: Int, isSwift: Bool)?
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        func close(at end: Int) {
            if let fence, fence.isSwift {
                let text = lines[fence.start..<end].joined(separator: "\n")
                blocks.append(CodeBlock(place: "\(path):\(fence.start + 1)", text: text))
            }
            fence = nil
        }
        for (number, line) in lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard line.hasPrefix("```") else { continue }
            if fence == nil { fence = (number + 1, line.hasPrefix("```swift")) } else { close(at: number) }
        }
        close(at: lines.count)
        return blocks
    }
}

/// A file that is compiled: of a test target, an example, a consumer, or a sample for Apple's platforms.
private struct CompiledFile {
    let lines: [String]

    init(_ text: String) {
        lines = text.significantLines
    }

    static func all() throws -> [CompiledFile] {
        try Repository.files(below: ["Tests", "Examples"], ending: ["swift"]).filter { path in
            path.contains(/^Tests\/(?:\w+Tests|Consumers|Databases)\/|^Examples\//)
                || path.contains(/^Tests\/AppleDeclarations\/\w*Sample\.swift$/)
        }
        .map { CompiledFile(try Repository.text($0)) }
    }

    func has(_ block: CodeBlock) -> Bool {
        guard let first = block.lines.first, block.imports.isSubset(of: lines) else { return false }
        return lines.indices.contains { lines[$0] == first && lines[$0...].starts(with: block.lines) }
    }
}

extension String {
    /// Without indentation and empty lines.
    fileprivate var significantLines: [String] {
        split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

extension Repository {
    fileprivate static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
