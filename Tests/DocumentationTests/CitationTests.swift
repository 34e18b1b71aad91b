import Foundation
import TestFixtures
import Testing

/// Comments and tests cite the dossiers in `Documentation/Protocols`. Its README says how a citation is read.
@Suite("Citations of the protocol dossiers")
struct CitationTests {
    @Test("name a dossier, and a section or row that it has")
    func citations() throws {
        let dossiers = try Dossier.all()
        var count = 0
        let sources = try Repository.files(
            below: ["Sources", "Tests", "Examples", "Benchmarks"], ending: ["swift", "js", "py"])
        for file in sources where !file.hasPrefix("Tests/DocumentationTests/") {
            let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
            for remark in Remark.all(in: text, of: file) {
                for citation in Citation.all(in: remark.text, of: file) where !citation.references.isEmpty {
                    count += 1
                    let place = "\(file):\(remark.line): “\(citation.text)”"
                    guard let name = citation.dossier else {
                        Issue.record("\(place) does not say which dossier is meant")
                        continue
                    }
                    guard let dossier = dossiers[name] else {
                        Issue.record("\(place): Documentation/Protocols has no \(name)")
                        continue
                    }
                    for reference in citation.references where !dossier.places.contains(reference) {
                        Issue.record("\(place): \(name) has no section or row \(reference)")
                    }
                }
            }
        }
        #expect(count > 400)
    }

    @Test(
        "are read as the README of the dossiers says",
        arguments: [
            ("How it is checked (`oauth-security.md` B6).", "oauth-security.md", ["B6"]),
            ("`oauth-security.md` rows B1 and B9, E5", "oauth-security.md", ["B1", "B9", "E5"]),
            ("people (`recurse-center.md` sections 1 to 4)", "recurse-center.md", ["1", "4"]),
            ("(IFTTT Connect dossier, sections 6.6 and 11.5, row S16)", "ifttt-connect.md", ["6.6", "11.5", "S16"]),
            ("the shape of the dossier, section 2.4.", "beacons.md", ["2.4"]),
            ("packets (dossier 7.2, advertising 1)", "beacons.md", ["7.2"]),
            ("the dossier's table 4.4", "beacons.md", ["4.4"]),
            ("a hint (section 9.1)", "beacons.md", ["9.1"]),
            ("a person (dossier 3), as section 4 of RFC 8252 says", "beacons.md", ["3"]),
            ("an alert (BE-17, BE-18)", "beacons.md", ["BE-17", "BE-18"]),
            ("a wave (CI53).", "circles.md", ["CI53"]),
            ("the bar's colour (MO17)", "connect-button-motion.md", ["MO17"]),
        ])
    func reading(_ text: String, _ dossier: String, _ references: [String]) throws {
        let citations = Citation.all(in: text, of: "Sources/Radio/Radio.swift")
        #expect(citations.map(\.dossier) == [dossier])
        #expect(citations.first?.references == references)
    }

    @Test("are read from the comments and docstrings of Python")
    func python() {
        let file = "Tests/Interop/bluez/air.py"
        let source = """
            \"""What the air holds

            (beacons dossier 7.2).\"""
            import bluez
            # The token of a window,
            # dossier 8.4.
            def test_token():
                \"""The bytes of `connect-button-motion.md` MO6.\"""
                air = sight()  # section 2.2
                dossier = 9.4
            """
        let remarks = Remark.all(in: source, of: file)
        let citations = remarks.flatMap { Citation.all(in: $0.text, of: file) }
        #expect(remarks.map(\.line) == [1, 5, 8, 9])
        #expect(citations.map(\.references) == [["7.2"], ["8.4"], ["MO6"], ["2.2"]])
    }

    @Test(
        "leave the sections of other documents alone",
        arguments: [
            "(RFC 6749, section 10.12)", "(OpenID Connect Core, section 3.1.3.7)", "(HTML, section 9.2)",
            "agrees (X25519)", "a challenge (S256)",
        ])
    func others(_ text: String) {
        #expect(Citation.all(in: text, of: "Sources/Radio/Radio.swift").isEmpty)
    }
}

/// A dossier and what can be cited of it.
private struct Dossier {
    /// The numbers or letters of its sections, the first cells of its tables' rows, the first words of its lists' items, and
    /// identifiers in bold.
    var places: Set<String> = []

    static func all() throws -> [String: Dossier] {
        var all: [String: Dossier] = [:]
        for file in try Repository.files(below: ["Documentation/Protocols"], ending: ["md", "json"]) {
            let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
            all[String(file.split(separator: "/").last ?? "")] = Dossier(text)
        }
        return all
    }

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let heading = line.prefix { $0 == "#" }
            let isCell = line.hasPrefix("|") || line.hasPrefix("* ")
            let cell = isCell ? line.dropFirst() : heading.isEmpty ? nil : line.dropFirst(heading.count)
            let bold = line.split(separator: "**", omittingEmptySubsequences: false).enumerated().filter {
                !$0.offset.isMultiple(of: 2)
            }
            for word in bold.map(\.element) + (cell?.split(separator: " ").prefix(1) ?? []) {
                let place = word.trimmingCharacters(in: CharacterSet(charactersIn: "*.:|"))
                if place.first?.isLetter == true || place.first?.isNumber == true { places.insert(place) }
            }
        }
    }
}

/// One comment, one docstring of Python, or one test's name.
private struct Remark {
    let line: Int
    let text: String

    static func all(in text: String, of file: String) -> [Remark] {
        let isPython = file.hasSuffix(".py")
        var all: [Remark] = []
        var block: [Substring] = []
        var start = 0
        var isDocstring = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.drop { $0 == " " }
            // A docstring on one line has both its quotes, and is read as a line with a text.
            let isQuote = isPython && !content.ranges(of: "\"\"\"").count.isMultiple(of: 2)
            let isComment =
                isPython
                ? content.hasPrefix("#") || isDocstring || isQuote : content.hasPrefix("//") || content.hasPrefix("* ")
            if isQuote { isDocstring.toggle() }
            if isComment {
                if block.isEmpty { start = index + 1 }
                block.append(content.drop { "/*# \"".contains($0) })
                continue
            }
            if !block.isEmpty { all.append(Remark(line: start, text: block.joined(separator: " "))) }
            block = []
            if line.utf8.contains(UInt8(ascii: "\"")) || line.contains(" // ") || line.contains(" # ") {
                all.append(Remark(line: index + 1, text: String(line)))
            }
        }
        return all.filter {
            $0.text.contains("ossier") || $0.text.contains(".md") || $0.text.contains("ection") || $0.text.contains("(")
        }
    }
}

/// What a remark says about one dossier.
private struct Citation {
    /// Nil where the remark leaves open which one.
    let dossier: String?
    let references: [String]
    let text: String

    private static let names = [
        ("sequencing", "sequencing.md"), ("recurse center", "recurse-center.md"),
        ("ifttt connect", "ifttt-connect.md"), ("ifttt", "ifttt-connect.md"),
        ("beacons", "beacons.md"), ("circles", "circles.md"),
    ]

    /// The dossier of a folder or a file, for citations that name none.
    private static let folders = [
        ("IFTTT", "ifttt-connect.md"), ("Sequencing", "sequencing.md"), ("RecurseCenter", "recurse-center.md"),
        ("Beacons", "beacons.md"), ("Radio", "beacons.md"), ("Nearby", "beacons.md"), ("Geofences", "beacons.md"),
        ("Positions", "beacons.md"), ("DesktopServices", "beacons.md"), ("ConnectButton", "ifttt-connect.md"),
        ("HandshakeServer", "ifttt-connect.md"), ("GroceryExpress", "ifttt-connect.md"),
        ("WeatherMyWay", "sequencing.md"), ("FileSelector", "sequencing.md"), ("Circles", "circles.md"),
        ("OAuth", "oauth-security.md"), ("Handshake", "oauth-security.md"),
        // The names of Python's files.
        ("ifttt", "ifttt-connect.md"), ("button", "ifttt-connect.md"), ("grocery", "ifttt-connect.md"),
        ("sequencing", "sequencing.md"), ("selector", "sequencing.md"), ("recurse_center", "recurse-center.md"),
        ("nearby", "beacons.md"), ("bluez", "beacons.md"),
    ]

    static func all(in text: String, of file: String) -> [Citation] {
        let words = text.split(separator: " ").map(String.init)
        var all: [Citation] = []
        // What a bare “section 4” is a section of: the document named last, else the folder's dossier.
        var subject = Subject.dossier(ofFolder(file))
        var index = 0
        while index < words.count {
            let start = index
            let word = bare(words[start])
            index += 1
            if otherDocuments.contains(word) {
                subject = .other
                continue
            } else if isDossier(word) {
                subject = .dossier(word)
            } else if ["dossier", "dossier's"].contains(word.lowercased()) {
                let name = words[max(0, start - 2)..<start].map(bare).joined(separator: " ").lowercased()
                subject = .dossier(names.first { name.hasSuffix($0.0) }?.1 ?? ofFolder(file))
            } else if !["section", "sections"].contains(word.lowercased()) {
                if let rows = rows(in: words[start...], of: file) { all.append(rows) }
                continue
            }
            var references: [String] = []
            while index < words.count, !".):".contains(words[index - 1].last ?? " ") {
                let next = bare(words[index])
                if isReference(next) { references.append(next) } else if !connectors.contains(next) { break }
                index += 1
            }
            // “section 8.4 of RFC 8252”
            let isElsewhere = words[index...].starts(with: ["of", "RFC"])
            guard case .dossier(let dossier) = subject, !references.isEmpty, !isElsewhere else { continue }
            all.append(
                Citation(
                    dossier: dossier, references: references, text: words[start..<index].joined(separator: " ")))
        }
        return all
    }

    /// Rows alone in parentheses, as “(W6)” or “(F056, W3)”: their letters name the dossier, otherwise the folder does.
    private static func rows(in words: ArraySlice<String>, of file: String) -> Citation? {
        guard words.first?.hasPrefix("(") ?? false, let last = words.firstIndex(where: { $0.contains(")") }) else {
            return nil
        }
        let text = words[...last]
        let references = text.map(bare)
        guard references.allSatisfy(isRow) else { return nil }
        let letters = String(references[0].prefix { $0.isLetter })
        let isOfAnyServer = letters == "M" && references[0].count == 4
        guard let dossier = isOfAnyServer ? "any-server.md" : series[letters] ?? ofFolder(file) else { return nil }
        return Citation(dossier: dossier, references: references, text: text.joined(separator: " "))
    }

    /// Whether a word is a row's identifier: `W6`, `MO25`, `F056`, `RC-27`. “X25519”, “S256” and “RS256” are none.
    private static func isRow(_ word: String) -> Bool {
        let letters = word.prefix { $0.isUppercase && $0.isASCII }
        let digits = word.dropFirst(letters.count).drop { $0 == "-" }
        let most = ["F", "M"].contains(letters) ? 3 : 2
        return (letters.count == 1 || series[String(letters)] != nil) && (1...most).contains(digits.count)
            && digits.allSatisfy { $0.isNumber && $0.isASCII }
    }

    /// The dossiers whose rows' letters no other one has.
    private static let series = [
        "MO": "connect-button-motion.md", "CI": "circles.md", "BE": "beacons.md", "RC": "recurse-center.md",
        "VL": "vault-lease.md",
    ]

    private enum Subject {
        /// Nil where the folder has none.
        case dossier(String?)
        case other
    }

    private static let otherDocuments: Set = [
        "RFC", "OpenID", "HTML", "CSP", "WCAG", "JARM", "FAPI", "CIBA", "ISO", "D-Bus", "Specification", "UAX", "Annex",
        "Unicode",
    ]
    private static let connectors: Set = ["and", "to", "or", "section", "sections", "row", "rows", "table", "chapter"]

    /// A word without the punctuation around it.
    private static func bare(_ word: String) -> String {
        word.trimmingCharacters(in: CharacterSet(charactersIn: "()[]“”\"`,;:.*|"))
    }

    /// A section's number or letter, or a row's identifier: `6`, `4.2`, `B`, `B6`, `BE-17`.
    private static func isReference(_ word: String) -> Bool {
        if word.first?.isNumber == true { return word.allSatisfy { $0.isNumber || $0 == "." } }
        let letters = word.prefix { $0.isUppercase && $0.isASCII }
        let number = word.dropFirst(letters.count).drop { $0 == "-" }
        return (1...3).contains(letters.count) && number.allSatisfy(\.isNumber) && (!number.isEmpty || word.count == 1)
    }

    private static func isDossier(_ name: String) -> Bool {
        (name.hasSuffix(".md") || name.hasSuffix(".json"))
            && FileManager.default.fileExists(
                atPath: Repository.root.appending(path: "Documentation/Protocols/\(name)").path)
    }

    private static func ofFolder(_ file: String) -> String? {
        file.split(separator: "/").lazy.compactMap { part in folders.first { part.contains($0.0) }?.1 }.first
    }
}

/// This repository's files.
enum Repository {
    /// The repository of these tests; a copy of it where `Tests/Mutations/run` takes a defence out of what is read.
    static let root =
        ProcessInfo.processInfo.environment["HANDSHAKE_REPOSITORY"].map { URL(filePath: $0) }
        ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The paths of all files below some folders, from the root on; of every kind without endings.
    static func files(below folders: [String], ending suffixes: [String]? = nil) throws -> [String] {
        try folders.flatMap { folder in
            try SourceFolder.files(below: root.appending(path: folder)).map { "\(folder)/\($0)" }
                .filter { path in suffixes?.contains { path.hasSuffix("." + $0) } ?? isFile(path) }
        }
    }

    private static func isFile(_ path: String) -> Bool {
        let place = root.appending(path: path).resolvingSymlinksInPath()
        return (try? place.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) ?? false
    }
}
