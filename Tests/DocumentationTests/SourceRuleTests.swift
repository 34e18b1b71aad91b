import Foundation
import Testing

/// What no source may have.
@Suite("The sources")
struct SourceRuleTests {
    private static func sources(_ modules: [String], ending: [String] = ["swift"]) throws -> [(
        file: String, text: String
    )] {
        try Repository.files(below: modules.map { "Sources/\($0)" }, ending: ending).map {
            ($0, try String(contentsOf: Repository.root.appending(path: $0), encoding: .utf8))
        }
    }

    private static func modules() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: "Sources").path)
            .filter { !$0.hasPrefix(".") }
    }

    /// Whether a text has these bytes; a search by characters would take seconds.
    private static func has(_ text: String, _ name: String) -> Bool {
        text.range(of: name, options: .literal) != nil
    }

    @Test("I1: no source shows a sign-in page inside the app")
    func noEmbeddedView() throws {
        let sources = try Self.sources(Self.modules())
        #expect(sources.count > 50)
        for (file, text) in sources {
            for name in ["import WebKit", "WKWebView", "UIWebView", "SFSafariViewController", "webkit_web_view"] {
                #expect(!Self.has(text, name), "\(file) has \(name)")
            }
        }
    }

    @Test("B11: no source takes an authorization response from a message of another window")
    func noMessages() throws {
        let sources = try Self.sources(Self.modules(), ending: ["swift", "js", "html", "mustache"])
        #expect(sources.contains { $0.file.hasSuffix(".js") })
        for (file, text) in sources {
            for name in [
                "postMessage", "window.onmessage", "self.onmessage", #"addEventListener("message""#, "web_message",
                "BroadcastChannel",
            ] {
                #expect(!Self.has(text, name), "\(file) has \(name)")
            }
        }
    }

    @Test("CI49: the user unit writes no names into the system's journal, which no forgetting reaches")
    func noNamesInTheJournal() throws {
        let path = "Scripts/Packaging/handshake-nearby.service"
        let unit = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        let lines = unit.split(separator: "\n")
        // The watch prints who is near; what fails is on standard error.
        #expect(lines.contains { $0.hasPrefix("ExecStart=") && $0.contains(" nearby watch ") })
        #expect(lines.filter { $0.hasPrefix("StandardOutput=") } == ["StandardOutput=null"])
        #expect(!lines.contains { $0.hasPrefix("StandardError=") })
    }

    @Test("M1: the one insecure option has a name that says so, and only callers set it")
    func insecureOptions() throws {
        let sources = try Self.sources(Self.modules())
        for (file, text) in sources {
            for match in text.matches(
                of:
                    /(?:var|let|case|func) (\w*(?:[iI]nsecure|[uU]nsafe|[uU]nverified|[nN]oVerif|[sS]kipCheck|[dD]isable[A-Z])\w*)/
            ) {
                let isKnown = [
                    "allowingInsecureLoopback", "insecureTransport", "insecure", "insecureAccounts", "unsafeBytes",
                    // Of whom a radio has told, and no option.
                    "unverified",
                ].contains(String(match.1))
                #expect(isKnown, "\(file) declares \(match.1)")
            }
            #expect(!Self.has(text, "certificateVerification = .none"), "\(file)")
        }
        // A kit may check its own redirect's address with it, but neither describe a service nor send a request so.
        for (file, text) in try Self.sources(["Sequencing", "RecurseCenter", "IFTTTConnect"]) {
            for line in text.split(separator: "\n") where line.contains("allowingInsecureLoopback") {
                #expect(line.contains("EndpointURL(") && !line.contains("Service"), "\(file): \(line)")
            }
        }
    }

    @Test("M2: clock, randomness and network are read in the few files that bring them")
    func injected() throws {
        let known: [String: Set<String>] = [
            // The defaults themselves.
            "Sources/OAuth/RandomSource.swift": ["SystemRandomNumberGenerator"],
            "Sources/Handshake/TimeSource.swift": ["clock_gettime"],
            "Sources/Handshake/Transport/URLSessionTransport.swift": ["URLSession"],
            // Names of files, and identifiers and keys of vaults: nothing of the protocol.
            "Sources/Handshake/Vaults/Files/FolderFiles.swift": [".random("],
            "Sources/Handshake/Vaults/Files/VaultDescription.swift": [".random("],
        ]
        for (file, text) in try Self.sources(["OAuth", "Handshake"]) {
            let code = text.split(separator: "\n").filter { !$0.contains("//") }.joined(separator: "\n")
            for name in [
                "Date()", "Date.now", "clock_gettime", "SystemRandomNumberGenerator", "URLSession(",
                "URLSession.shared",
                ".random(in",
            ] {
                let isKnown = known[file]?.contains { name.hasPrefix($0) } ?? false
                #expect(!code.contains(name) || isKnown, "\(file) uses \(name)")
            }
        }
    }

    @Test("texts of the libraries that an app on a phone shows name no command and no option of the terminal")
    func noCommands() throws {
        let sources = try Self.sources(["Beacons", "Circles", "Nearby", "Radio", "RecurseCenter"])
        #expect(sources.count > 100)
        for (file, text) in sources {
            for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                #expect(!line.contains(/handshake [a-z]/), "\(file): \(line)")
                // BlueZ's daemon has options, too.
                guard !file.contains("/BlueZ") else { continue }
                #expect(!line.contains(/\ --[a-z]/), "\(file): \(line)")
            }
        }
    }

    @Test("F05: the Sequencing kit and the selector's core need no Apple framework, callback or unchecked type")
    func core() throws {
        let sources = try Self.sources(["Sequencing", "FileSelector"]).filter { !$0.file.contains("/SwiftUI/") }
        #expect(sources.count > 30)
        for (file, text) in sources {
            let imports = Set(
                text.matches(of: /(?m)^\s*(?:\w+ )*import (?:struct |class |func |enum )?(\w+)/).map { String($0.1) })
            let foreign = imports.subtracting([
                "AsyncSupport", "Foundation", "FoundationEssentials", "Handshake", "OAuth", "Sequencing",
                "Translations", "HTTPTypes",
                "Observation", "Synchronization", "Crypto", "CryptoExtras", "Dispatch", "Glibc", "Musl", "Darwin",
            ])
            #expect(foreign == [], "\(file) imports \(foreign.sorted())")
            for name in [
                "@unchecked Sendable", "nonisolated(unsafe)", "completionHandler", "@preconcurrency",
            ] {
                #expect(!Self.has(text, name), "\(file) has \(name)")
            }
        }
        let views = try Self.sources(["FileSelector"]).filter { $0.file.contains("/SwiftUI/") }
        #expect(!views.isEmpty && views.allSatisfy { $0.text.contains("#if canImport(SwiftUI)") })
    }

    @Test("A16: the Sequencing kit, the selector, the sandbox and the sample hold no picture of the service's")
    func noBrandPictures() throws {
        let folders = [
            "Sources/Sequencing", "Sources/FileSelector", "Sources/SandboxSequencing", "Examples/WeatherMyWay",
            "Examples/WeatherMyWay.swiftpm",
        ]
        let files = try Repository.files(below: folders)
        #expect(files.count > 90)
        let endings = ["png", "jpg", "jpeg", "gif", "webp", "avif", "heic", "svg", "pdf", "ico", "icns"]
        for file in files {
            #expect(!endings.contains { file.lowercased().hasSuffix("." + $0) }, "\(file)")
            let text = String(decoding: try Data(contentsOf: Repository.root.appending(path: file)), as: UTF8.self)
            #expect(!Self.has(text, "data:image/"), "\(file) holds a picture")
        }
    }

    @Test("M3: no library product but the sandbox's own contains the sandbox")
    func sandbox() throws {
        let manifest = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
        // A target's text reaches to the next one.
        var dependencies: [String: Set<String>] = [:]
        for part in manifest.split(separator: /\.(?:target|executableTarget|testTarget)\(/).dropFirst() {
            guard let name = part.firstMatch(of: /name: "(\w+)"/).map({ String($0.1) }) else { continue }
            let list = part.firstMatch(of: /(?s)dependencies: \[(.*?)\]/).map { $0.1 } ?? ""
            dependencies[name] = Set(list.matches(of: /"(\w+)"/).map { String($0.1) })
        }
        let products = manifest.matches(of: /\.library\(name: "(\w+)", targets: \["(\w+)"\]\)/).map { String($0.2) }
        #expect(products.count > 10 && products.contains("Sandbox"))
        for product in products where product != "Sandbox" {
            var (reached, next) = (Set<String>(), [product])
            while let name = next.popLast() {
                if reached.insert(name).inserted { next += dependencies[name] ?? [] }
            }
            #expect(reached.filter { $0.hasPrefix("Sandbox") } == [], "\(product)")
            #expect(dependencies[product] != nil, "\(product)")
        }
        for module in try Self.modules() where !module.hasPrefix("Sandbox") && module != "HandshakeCLI" {
            for (file, text) in try Self.sources([module]) {
                #expect(!text.contains(/import Sandbox/), "\(file)")
            }
        }
    }
}
