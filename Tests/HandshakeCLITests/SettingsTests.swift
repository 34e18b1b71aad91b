import Foundation
import Testing

@testable import HandshakeCLI

@Suite("Settings")
struct SettingsTests {
    private func read(_ text: String) throws -> Settings.File {
        try Settings.File(Array(text.utf8), path: "/home/ada/config.toml")
    }

    @Test("a service's table is what login would otherwise be told")
    func services() throws {
        let file = try read(
            """
            vault = "files:~/vault"
            [services.mine]
            issuer = "https://example.test"
            client-id = "app"
            scope = ["a", "b"]
            """)
        #expect(file.vault == "files:~/vault")
        #expect(file.services?["mine"]?.clientID == "app")
        #expect(file.services?["mine"]?.scope == ["a", "b"])
    }

    @Test("the settings of the example go together, when all that it offers is taken")
    func example() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let page = tests.deletingLastPathComponent().appending(path: "Examples/config.toml")
        let text = try String(contentsOf: page, encoding: .utf8).replacing("# vault", with: "vault")
        let file = try read(text.replacing("# base-url", with: "base-url").replacing("# preset", with: "preset"))
        #expect(file.vault == "files:~/accounts" && file.vaultKey?.hasPrefix("command:") == true)
        let service = file.services?["recurse-center"]
        #expect(service?.preset == "hackerschool" && service?.baseURL != nil)
        _ = try VaultChoice(nil, key: nil, settings: Settings(home: "/nowhere", environment: [:], file: file))
    }

    @Test("the vault “keychain” is status 64, and the error says why and which vault to use")
    func keychain() throws {
        let settings = Settings(home: "/nowhere", environment: [:], file: try read(""))
        for value in ["keychain", "keychain:work"] {
            let error = try #require(
                #expect(throws: CommandError.self) { try VaultChoice(value, key: nil, settings: settings) })
            #expect(error.status == .usage)
            #expect(error.message.contains("--vault") && error.message.contains("signed apps"))
            #expect(error.message.contains("files:DIR"))
        }
    }

    @Test(
        "settings that make no sense are status 64, name the file and quote nothing that steers a terminal",
        arguments: [
            "vault = [", "vault = 7", "vault = \"a\"\nvault = \"b\"", "colour = \"blue\"", "services = 3",
            "[services]\nmine = 3", "[services.mine]\nissuer = 3", "[services.mine]\nscope = \"a\"",
            "[services.mine]\ncolour = 1", "\"\u{1B}[31m\" = 1", "vault = \"a\u{0}\"",
            "[services.\"\u{1B}[2J\"]\nx = 1",
            "\"" + String(repeating: "\u{301}\u{323}", count: 60_000) + "\" = 1",
            String(repeating: "[", count: 100_000), "a = " + String(repeating: "[", count: 5000),
            "a = " + String(repeating: "{b=", count: 5000), String(repeating: "a.", count: 5000) + "b = 1",
        ])
    func senseless(_ text: String) {
        let error = #expect(throws: CommandError.self) { try read(text) }
        #expect(error?.status == .usage)
        #expect(error?.message.contains("/home/ada/config.toml") == true)
        #expect(error?.message.unicodeScalars.allSatisfy { $0.value >= 0x20 } == true, "\(error?.message ?? "")")
        #expect((error?.message.utf8.count ?? .max) < 5000)
    }

    @Test(
        "a setting of the wrong type is told with what it has to be",
        arguments: [
            ("vault = 7", "vault", "text in quotation marks"), ("services = 3", "services", "a table"),
            ("[services]\nmine = 3", "services.mine", "a table, [services.mine]"),
            ("[services.mine]\nscope = \"a\"", "services.mine.scope", "a list, [\"a\", \"b\"]"),
            ("[services.mine]\nset = 1", "services.mine.set", "a table"),
            ("[services.mine]\nfapi2 = \"yes\"", "services.mine.fapi2", "true or false"),
            (
                "[services.mine]\nretry-lost-refreshes = \"no\"", "services.mine.retry-lost-refreshes", "true or false"
            ),
        ])
    func types(_ text: String, name: String, expected: String) throws {
        let error = try #require(#expect(throws: CommandError.self) { try read(text) })
        #expect(error.message == "“/home/ada/config.toml”: “\(name)” has to be \(expected).")
    }

    @Test(
        "a header without a name is status 64 with its line, and does not end the process",
        arguments: [
            ("[\n", 1), ("[=]", 1), ("[.a]", 1), ("[ ?]", 1), ("[[\n]]", 1), ("[[ =]]", 1), ("[ä]", 1),
            ("\u{FEFF}[=]", 1), ("[#a]", 1), ("[\u{10}[a]]", 1), ("\t[\r\n", 1), ("a = 1 # [x\n[=]", 2),
            ("a = \"]\"\n[=]", 2), (#"a = '\'"# + "\n[=]", 2), (#"a = "\"""# + "\n[=]", 2),
            ("a = '''\n[x'''\n[=]", 3), (#"a = """\n\""""# + "\n[ \"\"\"\"\"\n[=]", 3),
            ("a = [\n[1],\n]\n[=]", 4), (#"["]\"]"]"# + "\n[=]", 2), ("['[']\n[=]", 2), ("a = {b = [{}]}\n[=]", 2),
            ("a = \"\"\n[=]", 2), ("a = ''\n[=]", 2), ("[a]#'\n[=]", 2),
        ])
    func nameless(_ text: String, line: Int) throws {
        let error = try #require(#expect(throws: CommandError.self) { try read(text) })
        #expect(error.status == .usage && error.message.contains("/home/ada/config.toml"))
        #expect(error.message.contains("is not valid TOML, line \(line): "), "\(error.message)")
    }

    @Test(
        "a bracket where no header stands is read",
        arguments: [
            "vault = \"\"\"\n[?\"\"\"", "vault = '''\n[=]'''", "vault = 'x' # [=]", "# [=]\nvault = 'x'",
            "\"vault\" = '[='", "[services.x]\nscope = [\n\"a\",\n]", "[services.\"[=]\"]\nissuer = 'x'",
            "vault = \"\"\"\"\"\n[=]\"\"\"\"\"",
        ])
    func brackets(_ text: String) throws {
        let file = try read(text)
        #expect(file.vault != nil || file.services?.count == 1)
    }

    @Test("services are told apart by their bytes, and two names that look the same are refused")
    func equivalentNames() throws {
        let file = try read("[services.\"caf\u{E9}\"]\nclient-id = \"app\"")
        let settings = Settings(home: "/home/ada", environment: [:], file: file)
        #expect(settings.service("caf\u{E9}").clientID == "app")
        #expect(settings.service("cafe\u{301}").clientID == nil)
        let error = try #require(
            #expect(throws: CommandError.self) {
                try read(
                    "[services.\"caf\u{E9}\"]\nclient-id = \"a\"\n[services.\"cafe\u{301}\"]\nclient-id = \"b\"")
            })
        #expect(error.status == .usage)
        #expect(error.message.contains("/home/ada/config.toml"))
        #expect(error.message.contains("differ in their bytes"), "\(error.message)")
    }

    @Test("bytes that are not UTF-8 are not settings")
    func notText() {
        #expect(throws: CommandError.self) { try Settings.File([0xFF, 0xFE], path: "x") }
    }

    @Test("where the vault's key lies follows the environment")
    func keyHome() {
        func home(_ environment: [String: String]) -> String {
            Settings(home: "/h", environment: environment.merging(["HOME": "/u"]) { $1 }, file: .init()).keyHome
        }
        #expect(home([:]) == "/u/.config/handshake")
        #expect(home(["XDG_CONFIG_HOME": "/c"]) == "/c/handshake")
        #expect(home(["XDG_CONFIG_HOME": "relative"]) == "/u/.config/handshake")
        #expect(home(["HANDSHAKE_HOME": "/d", "XDG_CONFIG_HOME": "/c"]) == "/u/.config/handshake/keys")
        #expect(home(["HANDSHAKE_HOME": "/d", "HANDSHAKE_KEY_HOME": "/k"]) == "/k")
    }
}
