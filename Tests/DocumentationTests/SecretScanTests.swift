import Foundation
import Testing

/// Searches the repository for what must not be committed: tokens, keys and files of keys.
@Suite("The repository's secrets")
struct SecretScanTests {
    /// Forms that a service gives its keys, and assignments of a value to a name that says it is secret.
    private static let forms: [(name: String, pattern: String)] = [
        ("a private key", "-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        ("a key of a service account", #""private_key_id"\s*:\s*"[0-9a-f]{20,}""#),
        ("a key of Amazon Web Services", #"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"#),
        ("a key of Google's", #"\bAIza[0-9A-Za-z_-]{35}|\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}"#),
        ("a token of GitHub's", #"\bgh[pousr]_[0-9A-Za-z]{36}|\bgithub_pat_[0-9A-Za-z_]{40,}"#),
        ("a token of Slack's", #"\bxox[abeprs]-[0-9A-Za-z-]{10,}"#),
        ("a key of Stripe's", #"\b[rs]k_live_[0-9A-Za-z]{16,}"#),
        ("a signed token", #"\beyJ[0-9A-Za-z_-]{16,}\.eyJ[0-9A-Za-z_-]{16,}"#),
        // At least four each of digits, capitals and small letters: what a generator makes and no person writes.
        (
            "a random value",
            #"(?<![A-Za-z0-9+_-])(?=(?:[A-Za-z+_-]*[0-9]){4})(?=(?:[a-z0-9+_-]*[A-Z]){4})(?=(?:[A-Z0-9+_-]*[a-z]){4})[A-Za-z0-9+_-]{32,}"#
        ),
    ]

    private static let namesOfKeys =
        #"(?i)(?:\.(?:p12|pfx|jks|keystore|pem|p8|key|mobileprovision|cer|crt|der|env)|/(?:service[-_]?account[^/]*\.json|google-services\.json|GoogleService-Info\.plist|id_(?:rsa|ecdsa|ed25519)|\.netrc|\.npmrc|credentials))$"#

    /// The files that hold published test vectors, alphabets and keys made for one test, each with what it may have.
    private static let known: [String: Set<String>] = [
        "Benchmarks/Sources/Benchmarks/Redirects.swift": ["a random value"],
        "Documentation/Protocols/any-server.md": ["a random value", "a signed token"],
        "Documentation/Protocols/sequencing.md": ["a random value"],
        "Examples/GroceryExpress/Web/react.html": ["a random value"],
        "Sources/DesktopServices/Notifications/Notifications.swift": ["a random value"],
        "Sources/OAuth/Base64URL.swift": ["a random value"],
        "Sources/SandboxSequencing/Fixtures.swift": ["a random value"],
        "Tests/Fuzz/OAuth/corpus/key-pkcs8-ed25519": ["a private key"],
        "Tests/Fuzz/OAuth/corpus/key-sec1-p256": ["a private key"],
        "Tests/Fuzz/OAuth/corpus/key-service-account": ["a private key"],
        "Tests/Fuzz/OAuth/words": ["a private key"],
        "Tests/HandshakeTests/Fixtures/UntrustedServer.swift": ["a private key"],
        "Tests/HandshakeTests/Profiles/TestCertificates.swift": ["a private key"],
        "Tests/OAuthTests/JWTBearerTests.swift": ["a private key"],
    ]

    private static func findings(in text: String) throws -> Set<String> {
        let range = NSRange(text.startIndex..., in: text)
        return try Set(
            forms.filter {
                try NSRegularExpression(pattern: $0.pattern).firstMatch(in: text, range: range) != nil
            }.map(\.name))
    }

    private static func isAKeysName(_ path: String) -> Bool {
        "/\(path)".range(of: namesOfKeys, options: .regularExpression) != nil
    }

    @Test("W2: no file of the library, its examples, scripts and pages has a token or a key")
    func sources() throws {
        let folders = [
            "Sources", "Examples", "Scripts", "Benchmarks", "Documentation", "Supporting", ".ci", ".github",
        ].filter { FileManager.default.fileExists(atPath: Repository.root.appending(path: $0).path) }
        let files = try Repository.files(below: folders) + Self.topFiles()
        #expect(files.count > 500 && Set(files).isSuperset(of: ["README.md", "CHANGELOG.md", "Package.swift"]))
        #expect(files.contains { $0.hasPrefix(".github/") })
        for file in files {
            let found = try Self.findings(in: Self.text(of: file)).subtracting(Self.known[file] ?? [])
            #expect(found.isEmpty, "\(file) has \(found.sorted().joined(separator: " and "))")
            #expect(!Self.isAKeysName(file), "\(file) is named as a file of keys is")
        }
    }

    @Test("W2: a test's random values are its own, and what else it has of keys is told here")
    func tests() throws {
        for file in try Repository.files(below: ["Tests"]) {
            let found = try Self.findings(in: Self.text(of: file))
                .subtracting(Self.known[file] ?? []).subtracting(["a random value", "a signed token"])
            let isThisFile = file.hasSuffix("/SecretScanTests.swift")
            #expect(found.isEmpty || isThisFile, "\(file) has \(found.sorted().joined(separator: " and "))")
            #expect(!Self.isAKeysName(file), "\(file) is named as a file of keys is")
        }
    }

    @Test(
        "W2: the search finds each form of key",
        arguments: [
            ("-----BEGIN EC " + "PRIVATE KEY-----", "a private key"),
            (#""private_key_id": "0123456789abcdef0123""#, "a key of a service account"),
            ("AKIA" + "ABCDEFGHIJKLMNOP", "a key of Amazon Web Services"),
            ("AIza" + String(repeating: "x", count: 35), "a key of Google's"),
            ("ghp_" + String(repeating: "a", count: 36), "a token of GitHub's"),
            ("xoxb-" + "1234567890", "a token of Slack's"),
            ("sk_live_" + String(repeating: "a", count: 24), "a key of Stripe's"),
            ("eyJ" + String(repeating: "a", count: 20) + ".eyJ" + String(repeating: "b", count: 20), "a signed token"),
            (#"token = "q7Xw2Lk9"# + #"Zt4Vb8Nm3Rc6Yp1Hd5Js0Fg9""#, "a random value"),
        ])
    func finds(text: String, name: String) throws {
        #expect(try Self.findings(in: "let it = \(text)\n").contains(name))
    }

    @Test(
        "W2: a name that keys have is one",
        arguments: [
            "App/ServiceAccount.json", "keystore.p12", "server.PEM", "a/google-services.json", ".env", "a/id_rsa",
        ]
    )
    func keysNames(path: String) {
        #expect(Self.isAKeysName(path))
    }

    @Test("W2: prose, code and addresses are none")
    func prose() throws {
        let text = """
            introspection_endpoint_auth_signing_alg_values_supported kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            https://docs.example.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps-2026-11-25
            """
        #expect(try Self.findings(in: text) == [])
        #expect(!Self.isAKeysName("Sources/OAuth/ServiceAccountKey.swift"))
    }

    /// The files of the repository's own folder.
    private static func topFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Repository.root.path).filter { name in
            var isFolder: ObjCBool = false
            let path = Repository.root.appending(path: name).path
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    /// Nothing of a file that is gone: the repository has none that vanish.
    private static func text(of file: String) throws -> String {
        let place = Repository.root.appending(path: file)
        do {
            return String(decoding: try Data(contentsOf: place), as: UTF8.self)
        } catch CocoaError.fileReadNoSuchFile {
            return ""
        }
    }
}
