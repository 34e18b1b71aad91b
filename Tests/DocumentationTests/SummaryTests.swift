import Foundation
import Testing

/// DocC and editors show the first sentence of a comment alone, in lists and beside completions.
@Suite("The documentation comments")
struct SummaryTests {
    /// How many characters a first sentence may have, its full stop included.
    private static let limit = 80

    @Test("the first sentence of every public comment is short")
    func summaries() throws {
        var count = 0
        for file in try Repository.files(below: ["Sources"], ending: ["swift"]) {
            let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
            for comment in PublicComment.all(in: text) {
                count += 1
                let length = comment.summary.count
                if length > Self.limit {
                    Issue.record("\(file):\(comment.line): \(length) characters: “\(comment.summary)”")
                }
            }
        }
        #expect(count > 2000)
    }

    @Test(
        "are read up to the first full stop, across lines",
        arguments: [
            ("/// One.", "One."), ("/// One two\n/// three. Four.", "One two three."),
            ("/// `a.swift` 1.0 (RFC 9110, section 4.2). Nil.", "`a.swift` 1.0 (RFC 9110, section 4.2)."),
            ("/// Is it “one”? It is.", "Is it “one”?"), ("/// A fragment\n///\n/// More.", "A fragment"),
            ("/// A fragment\n/// - Returns: one.", "A fragment"), ("///   - Returns: one.", "- Returns: one."),
        ])
    func sentences(_ comment: String, _ summary: String) {
        #expect(PublicComment.all(in: comment + "\npublic func f()").map(\.summary) == [summary])
    }

    @Test(
        "are those of public declarations",
        arguments: [
            ("/// A.\npublic private(set) var a = 1", true), ("/// A.\nlet a = 1", false),
            ("/// A.\n@MainActor\n@available(iOS, unavailable)\nopen class A {", true),
            ("/// A.\n@discardableResult public func f() -> Int { 1 }", true),
            ("/// A.\n#if canImport(UIKit)\npublic typealias A = Int", true),
            ("/// A.\nfunc set(_ a: Int, public b: Bool)", false), ("/// A.\n\npublic let a = 1", false),
            ("public enum A {\n    /// A.\n    case a\n}", true), ("enum A {\n    /// A.\n    case a\n}", false),
            ("public enum A {\n    /// A.\n    static let a = 1\n}", false),
            ("public protocol A {\n    /// A.\n    func f()\n}", true),
            ("public enum A {\n    case a\n}\n\nenum B {\n    /// B.\n    case b\n}", false),
        ])
    func declarations(_ source: String, _ isPublic: Bool) {
        #expect(PublicComment.all(in: source).isEmpty != isPublic)
    }
}

/// The comment above a public declaration.
private struct PublicComment {
    /// Its first line, counted from 1.
    let line: Int
    /// The first sentence, without line breaks.
    let summary: String

    static func all(in source: String) -> [PublicComment] {
        var all: [PublicComment] = []
        var comment: [Substring] = []
        var start = 0
        var scopes: [Scope] = []
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let code = line.drop { $0 == " " }
            if code.hasPrefix("///") {
                if comment.isEmpty { start = index + 1 }
                comment.append(code.dropFirst(3))
                continue
            }
            guard !code.isEmpty else {
                comment = []
                continue
            }
            if code.hasPrefix("//") || code.hasPrefix("#") { continue }
            let declaration = Declaration(code)
            // An attribute on a line of its own stands between the comment and the declaration.
            if code.hasPrefix("@"), declaration.keyword == nil { continue }
            let indentation = line.count - code.count
            while let scope = scopes.last, indentation <= scope.indentation { scopes.removeLast() }
            if !comment.isEmpty, declaration.isPublic(in: scopes.last) {
                all.append(PublicComment(line: start, summary: firstSentence(of: comment)))
            }
            comment = []
            if declaration.isType, code.hasSuffix("{") {
                scopes.append(Scope(indentation: indentation, declaration: declaration))
            }
        }
        return all
    }

    /// The first sentence of the first paragraph; all of the paragraph where it has no full stop.
    private static func firstSentence(of comment: [Substring]) -> String {
        var words: [Substring] = []
        for line in comment {
            let text = line.drop { $0 == " " }
            let isNextBlock = ["- ", "```", "|"].contains { text.hasPrefix($0) }
            if text.isEmpty || (isNextBlock && !words.isEmpty) { break }
            for word in text.split(separator: " ") {
                words.append(word)
                let last = word.last { !")”\"'*_`".contains($0) }
                if let last, ".?!".contains(last) { return words.joined(separator: " ") }
            }
        }
        return words.joined(separator: " ")
    }
}

/// A type whose braces are open.
private struct Scope {
    let indentation: Int
    let declaration: Declaration
}

/// The line on which a declaration begins.
private struct Declaration {
    /// Attributes, access level and other modifiers.
    let modifiers: [Substring]
    /// Nil for a line that declares nothing.
    let keyword: Substring?

    private static let types: Set<Substring> = ["actor", "class", "enum", "extension", "protocol", "struct"]
    private static let members: Set<Substring> = [
        "associatedtype", "case", "func", "init", "let", "subscript", "typealias", "var",
    ]

    init(_ line: Substring) {
        let words = line.prefix { $0 != "{" && $0 != "=" }.split { " (<?:".contains($0) }
        let modifiers = words.prefix { !Self.types.contains($0) && !Self.members.contains($0) }
        self.modifiers = Array(modifiers)
        keyword = words.dropFirst(modifiers.count).first
    }

    var isType: Bool { keyword.map { Self.types.contains($0) } ?? false }

    private var isMarkedPublic: Bool { modifiers.contains("public") || modifiers.contains("open") }

    /// Cases of a public enum and requirements of a public protocol are public without saying so.
    func isPublic(in scope: Scope?) -> Bool {
        guard keyword != nil, !isMarkedPublic else { return isMarkedPublic }
        guard let scope, scope.declaration.isMarkedPublic else { return false }
        return scope.declaration.keyword == "protocol" || (scope.declaration.keyword == "enum" && keyword == "case")
    }
}
