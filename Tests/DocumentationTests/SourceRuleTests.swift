import Foundation
import Testing

/// What no source, and no test, may have.
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

    @Test(
        "BE-17, VL48: a user unit starts again until a keyring that is locked at first is unlocked",
        arguments: [("nearby", "3 64"), ("keep", "64")])
    func startsAgain(name: String, prevented: String) throws {
        let path = "Scripts/Packaging/handshake-\(name).service"
        let unit = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        let lines = unit.split(separator: "\n")
        #expect(lines.contains("Restart=on-failure"))
        // 7 is a locked vault.
        let statuses = lines.filter { $0.hasPrefix("RestartPreventExitStatus=") }
        #expect(statuses == ["RestartPreventExitStatus=\(prevented)"])
        // Otherwise systemd gives up after five starts in ten seconds.
        let pause = lines.compactMap { $0.hasPrefix("RestartSec=") ? Int($0.dropFirst("RestartSec=".count)) : nil }
        #expect(pause == [30] && !lines.contains { $0.hasPrefix("StartLimit") })
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
                    "unverified", "isUnverified", "maximumUnverified", "unverifiedSince", "unverifiedStep",
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
            // Where a listing begins, and what shows that two vaults are one.
            "Sources/Handshake/Vaults/TableVault.swift": [".random("],
            "Sources/Handshake/Vaults/VaultCopy.swift": [".random("],
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

    @Test("C9: on Apple's platforms no timeout of the system's own ends an exchange before its deadline")
    func systemTimeouts() throws {
        let path = "Sources/Handshake/Transport/URLSessionTransport.swift"
        let text = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        // Each is 60 s where it is not set.
        #expect(Self.has(text, " configuration.timeoutIntervalForRequest = 86_400\n"))
        #expect(Self.has(text, " message.timeoutInterval = limits.timeout.bounded / .seconds(1) + 5\n"))
    }

    @Test("C9: AsyncHTTPClient, whose process one answer can stop, is used behind the transport's validator alone")
    func oneClient() throws {
        let files = try Repository.files(below: ["Sources", "Examples", "Benchmarks"], ending: ["swift"])
        let users = try files.filter { file in
            let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
            return Self.has(text, "import AsyncHTTPClient")
        }
        #expect(users == ["Sources/Handshake/Transport/AsyncHTTPTransport.swift"])
    }

    /// What makes a test depend on the machine's speed, or on the time of day.
    private static let clockPatterns = [
        "Task.sleep": #"\bTask\.sleep\b"#, "Thread.sleep": #"\bThread\.sleep\b"#, "usleep": #"\busleep\("#,
        ".timeLimit": #"\.timeLimit\("#, "Clock.now": #"\b(Continuous|Suspending)Clock(\(\))?\.now\b"#,
        "Date()": #"\bDate(\(\)|\.now\b)"#,
        // A type's own clock, and not `world.time.now()`, which may be one that stands still.
        ".now()": #"(?<![\w)\]}?!])\.now\(\)|\b[A-Z]\w*\.now\(\)|\.system\.now\b"#,
    ]

    private static func clocks(in text: String) throws -> Set<String> {
        let range = NSRange(text.startIndex..., in: text)
        return try Set(
            clockPatterns.filter { _, pattern in
                try NSRegularExpression(pattern: pattern).firstMatch(in: text, range: range) != nil
            }.keys)
    }

    @Test("tests wait for no time and read no clock of the machine, except where this list says why")
    func clocksInTests() throws {
        let known: [String: Set<String>] = [
            // Samples of the documentation, as an app has them.
            "Tests/DocumentationTests/CircleSamples.swift": [".now()"],
            "Tests/DocumentationTests/DeviceSamples.swift": ["Date()", "Clock.now"],
            "Tests/FileSelectorTests/DocumentedCodeTests.swift": [".now()"],
            // The command under test reads the machine's clock.
            "Tests/HandshakeCLITests/NearbyRetentionTests.swift": ["Date()"],
            "Tests/HandshakeCLITests/OutputTests.swift": ["Date()"],
            // The list under test reads the machine's clock, and keeps an import for a day.
            "Tests/SequencingTests/Other/ImportListTests.swift": ["Date()"],
            "Tests/SequencingTests/Other/UnfinishedImportsTests.swift": ["Date()"],
            // An app with the clock of its sandbox, which is the machine's unless a test holds it.
            "Tests/ConnectButtonTests/Model/ModelScene.swift": ["Date()"],
            "Tests/HandshakeTests/Fixtures/World.swift": [".now()"],
            // The default is the machine's clock.
            "Tests/HandshakeTests/SecurityDefaultsTests.swift": [".now()"],
            // Ten minutes, so that the test ends when the defence is gone.
            "Tests/HandshakeTests/Transport/AddressCheckTests.swift": [".now()"],
            // A clock whose longer times no test waits for.
            "Tests/NearbyTests/DesktopAlertsTests.swift": ["Task.sleep", "Clock.now"],
            // Only a start, from which a test counts on.
            "Tests/HandshakeTests/Vaults/SeenVersionsTests.swift": ["Clock.now"],
            "Tests/NearbyTests/PairingChannelTests.swift": ["Clock.now"],
            // A longer run on request.
            "Tests/HandshakeTests/Transport/TransportFuzzTests.swift": ["Clock.now"],
            // Five minutes, so that the test ends when the defence is gone.
            "Tests/HandshakeTests/Accounts/InterleavingTests.swift": ["Clock.now"],
            "Tests/HandshakeTests/Accounts/UnstoredAnswerTests.swift": ["Clock.now"],
            // A sample of the README.
            "Tests/DocumentationTests/ReadmeTests.swift": ["Clock.now"],
        ]
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appending(path: "Tests").path
        ).filter { $0.hasSuffix("Tests") || $0.hasSuffix("Fixtures") }
        let files = try Repository.files(below: folders.map { "Tests/\($0)" }, ending: ["swift"])
        #expect(files.count > 400)
        #expect(Set(known.keys).isSubset(of: files))
        for file in files where file != "Tests/DocumentationTests/SourceRuleTests.swift" {
            let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
            let found = try Self.clocks(in: text)
            #expect(found == known[file] ?? [], "\(file): see Tests in CONTRIBUTING.md")
        }
    }

    @Test("a test bounds a command's time only where it waits for what has to happen before, or only for its end")
    func timeouts() throws {
        let known: Set = [
            "Tests/HandshakeCLITests/Fixtures/Command.swift", "Tests/HandshakeCLITests/ParsingTests.swift",
            // The server never answers, so that the command ends in the same way whenever its time is over.
            "Tests/HandshakeCLITests/TimeoutTests.swift",
        ]
        for file in try Repository.files(below: ["Tests"], ending: ["swift"])
        where file != "Tests/DocumentationTests/SourceRuleTests.swift" {
            let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
            let isBound = text.contains(/"--timeout",\s/)
            #expect(!isBound || known.contains(file), "\(file): use runIntoTimeout")
        }
    }

    @Test("a suite that waits for other processes has threads of its own")
    func ownThreads() throws {
        var count = 0
        for file in try Repository.files(below: ["Tests"], ending: ["swift"])
        where file != "Tests/DocumentationTests/SourceRuleTests.swift" {
            let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
            let suites = text.components(separatedBy: "@Suite(").dropFirst()
            for suite in suites where suite.contains("(processExitsWith: ") {
                count += 1
                let hasThreads = suite.prefix { $0 != "{" }.contains(".ownThreads")
                #expect(hasThreads, "\(file): see OwnThreadsTrait")
            }
        }
        #expect(count > 10)
    }

    @Test(
        "each clock is found, and one that a test drives is none",
        arguments: [
            ("try await Task.sleep(for: .seconds(1))", "Task.sleep"),
            ("Thread.sleep(forTimeInterval: 1)", "Thread.sleep"),
            ("usleep(50_000)", "usleep"), (#"@Test("x", .timeLimit(.minutes(1)))"#, ".timeLimit"),
            ("at time: Date = Date()", "Date()"), ("let now = Date.now", "Date()"), ("now: .now())", ".now()"),
            ("Timestamp.now()", ".now()"), ("TimeSource.system.now()", ".now()"), ("world.time.now()", nil),
            ("clock.now", nil), ("ContinuousClock.now - start", "Clock.now"), ("self[0].now()", nil),
            ("Date(timeIntervalSince1970: 0)", nil),
            ("clock.sleep(for: .seconds(1))", nil),
        ] as [(String, String?)])
    func findsClocks(text: String, name: String?) throws {
        #expect(try Self.clocks(in: text) == Set([name].compactMap { $0 }))
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
                "AsyncSupport", "HandshakeEmbeddedFiles", "Foundation", "FoundationEssentials", "Handshake", "OAuth",
                "Sequencing", "Translations", "HTTPTypes",
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

    @Test("D20: the search of the SwiftUI selector keeps what the user types, and its menu marks the order of the rows")
    func searchAndOrder() throws {
        let views = try Self.sources(["FileSelector"])
        let list = try #require(views.first { $0.file.hasSuffix("/SwiftUI/FileListView.swift") }).text
        let search = try #require(list.firstMatch(of: /(?s)TextField\(\s*text\(\.search\).*?\.overlay/))
        #expect(search.0.contains(".autocorrectionDisabled()"))
        #expect(search.0.contains(".textInputAutocapitalization(.never)"))
        #expect(list.contains(/Picker\(\s*text\(\.sort\),\s*selection:/))
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

    @Test("a token needs no line of the services: only what describes or chooses a service reads them")
    func linesOfServices() throws {
        let readers: Set = [
            "BuiltInService.swift", "ServiceComparison.swift", "ServiceIndex.swift", "ServiceLines.swift",
            "ServiceMembers.swift", "ServiceName.swift",
            // Sign-ins, and the command `services`.
            "AssertionChoice.swift", "ServiceChoice.swift", "Services.swift",
            // What is printed where there is no such account or command.
            "AbsentAccount.swift", "UnknownCommand.swift",
        ]
        let names = ["ServiceIndex", "ServiceLines", "BuiltInService", "Service.named(", "Service.Name.all"]
        let found = try Self.sources(Self.modules()).filter { source in
            names.contains { Self.has(source.text, $0) }
        }
        #expect(Set(found.map { String($0.file.split(separator: "/").last ?? "") }) == readers)
        #expect(found.count == readers.count)
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
