import Foundation
import Testing

/// The links between the repository's pages, as GitHub shows them. Those between a module's articles (`<doc:…>`) are
/// checked by `Scripts/docs`.
@Suite("The links of the repository's pages")
struct LinkTests {
    @Test("lead to files and headings that exist")
    func links() throws {
        let pages = try LinkedPage.all()
        let checked = pages.values.map(\.targets.count).reduce(0, +)
        #expect(checked > 40)
        for (path, page) in pages.sorted(by: { $0.key < $1.key }) {
            for target in page.targets {
                let problem = LinkedPage.problem(target, on: path, among: pages)
                #expect(problem == nil, "\(path): \(target): \(problem ?? "")")
            }
        }
    }

    @Test(
        "a developer who looks for Sequencing.com finds the sample first",
        arguments: [
            ("README.md", "(Documentation/Sequencing.md)"), ("Documentation/Sequencing.md", ""),
            ("Sources/Sequencing/Sequencing.docc/Sequencing.md", ""),
        ])
    func sample(_ path: String, _ mark: String) throws {
        let text = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { mark.isEmpty || $0.contains(mark) }
        let first = try #require(LinkedPage(lines.joined(separator: "\n")).targets.first)
        #expect(first.hasSuffix("Examples/WeatherMyWay/README.md"), "\(first)")
    }

    @Test("each sign-in of a page says which client signs in, or that the server registers it")
    func signIns() throws {
        let pages = try ["README.md"] + Repository.files(below: ["Documentation", "Sources"], ending: ["md"])
        var count = 0
        for path in pages {
            let text = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
            for line in text.split(separator: "\n") where line.hasPrefix("handshake login ") {
                count += 1
                let options = ["--client-id ", "--issuer ", "--resource ", "--token-file ", "--grant jwt-bearer "]
                #expect(options.contains { line.contains($0) }, "\(path): “\(line)” ends with: --client-id is missing")
            }
        }
        #expect(count >= 15)
    }

    @Test("each file selector on a page comes with its module, and asks for files by a flag that is true")
    func selectors() throws {
        let folders = ["Documentation", "Examples", "Sources"]
        let pages = try ["README.md"] + Repository.files(below: folders, ending: ["md", "swift"])
        var count = 0
        for path in pages {
            let text = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
            for selector in text.matches(of: /<file-selector\s[^>]*?\bsrc="([^"]*)"/) {
                count += 1
                let flag = /[?&](?:all|sample|uploaded|shared|fromApps|allWithAltruist)=true(?:&|$)/
                #expect(selector.1.contains(flag), "\(path): FileSelectorRoutes answers 400 to \(selector.1)")
                #expect(text.contains("/file-selector.js\"></script>"), "\(path)")
            }
        }
        #expect(count >= 4)
    }

    @Test("and the paths that they name exist")
    func paths() throws {
        let named = try LinkedPage.all().flatMap { page, text in text.namedPaths.map { (page, $0) } }
        #expect(named.count >= 50)
        for (page, path) in named { #expect(Repository.has(path), "\(page): \(path)") }
    }

    @Test(
        "that lead nowhere are found",
        arguments: ["Gone.md", "#gone", "Other.md#gone", "../../Outside.md", "README.md/"])
    func broken(_ target: String) {
        let pages = ["README.md": LinkedPage("# Here"), "Other.md": LinkedPage("# There")]
        #expect(LinkedPage.problem(target, on: "README.md", among: pages) != nil)
    }

    @Test(
        "are read in each spelling of Markdown",
        arguments: [
            ("[a](One.md)", ["One.md"]), ("[a](<One.md> \"title\") and [b](#two)", ["One.md", "#two"]),
            ("[![p](p.png)](One.md)", ["p.png", "One.md"]), ("[`a`](One.md)", ["One.md"]),
            ("[a]: One.md", ["One.md"]), ("<img src=\"p.png\" alt=\"\">", ["p.png"]),
            ("`[a](One.md)`", []), ("```\n[a](One.md)\n```", []), ("[a](https://example.com/One.md#two)", []),
        ])
    func spellings(_ text: String, _ targets: [String]) {
        #expect(LinkedPage(text).targets == targets)
    }

    @Test(
        "name headings as GitHub does",
        arguments: [
            ("# A terminal", ["a-terminal"]), ("## `send`, and *more*", ["send-and-more"]),
            ("## 2.1 What_is [this](One.md)?", ["21-what_is-this"]), ("# Twice\n# Twice", ["twice", "twice-1"]),
            ("```\n# no heading\n```", []),
        ])
    func headings(_ text: String, _ anchors: [String]) {
        #expect(LinkedPage(text).anchors == Set(anchors))
    }
}

/// What a page in Markdown links to, and what can be linked to in it.
private struct LinkedPage {
    /// Relative links and pictures, in the order of the text.
    let targets: [String]
    let anchors: Set<String>
    /// The paths from the repository's root that stand in the text as code. `*` and `NAME` stand for names.
    let namedPaths: [String]

    static func all() throws -> [String: LinkedPage] {
        let top = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path)
            .filter { $0.hasSuffix(".md") }
        let folders = [".github", "Benchmarks", "Documentation", "Examples", "Sources", "Tests"]
        return try (top + Repository.files(below: folders, ending: ["md"])).reduce(into: [:]) { pages, path in
            pages[path] = LinkedPage(
                try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8))
        }
    }

    init(_ text: String) {
        var isCode = false
        let lines = text.split(separator: "\n").filter { line in
            guard !line.hasPrefix("```") else {
                isCode.toggle()
                return false
            }
            return !isCode
        }
        let link = /\]\(<?([^)<>\s]+)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(\S+)|\b(?:src|href)="([^"]+)"/
        targets = lines.flatMap { line in
            String(line).replacing(/`[^`]*`/, with: "").matches(of: link)
                .compactMap { ($0.1 ?? $0.2 ?? $0.3).map(String.init) }
        }
        .filter { $0.prefixMatch(of: /[a-z][a-z+.\-]*:/) == nil }

        var anchors: Set<String> = []
        for line in lines {
            guard let heading = line.wholeMatch(of: /#{1,6}\s+(.+)/)?.1 else { continue }
            let anchor = Self.anchor(heading)
            let again = (1...).lazy.map { "\(anchor)-\($0)" }
            anchors.insert(anchors.contains(anchor) ? again.first { !anchors.contains($0) } ?? anchor : anchor)
        }
        self.anchors = anchors

        let path = /`((?:Benchmarks|Documentation|Examples|Scripts|Sources|Tests|\.ci|\.github)\/[^`\s]+)`/
        namedPaths = lines.flatMap { $0.matches(of: path).map { String($0.1) } }
            .filter { !$0.contains("*") && !$0.contains("NAME") }
    }

    /// The words of a heading in lower case, joined by hyphens, without punctuation and markup.
    private static func anchor(_ heading: Substring) -> String {
        String(heading).replacing(/\[([^\]]*)\]\([^)]*\)/, with: { $0.1 }).lowercased()
            .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
            .replacing(" ", with: "-")
    }

    /// What is wrong with a link of a page. Nil for one that leads somewhere.
    static func problem(_ target: String, on path: String, among pages: [String: LinkedPage]) -> String? {
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var names = parts[0].isEmpty ? path.split(separator: "/") : path.split(separator: "/").dropLast()
        for name in parts[0].split(separator: "/") where name != "." {
            if name != ".." { names.append(name) } else if names.popLast() == nil { return "leaves the repository" }
        }
        let file = names.joined(separator: "/")
        guard Repository.has(file), !parts[0].hasSuffix("/") || pages[file] == nil else { return "no such file" }
        guard parts.count == 2 else { return nil }
        guard let page = pages[file] else { return "only a page has headings" }
        return page.anchors.contains(String(parts[1])) ? nil : "no such heading"
    }
}

extension Repository {
    fileprivate static func has(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }
}
