import ArgumentParser
import Foundation
import Handshake
import OAuth
import Testing

@testable import HandshakeCLI

@Suite("Services of the user's own, and values that services need")
struct OwnServiceTests {
    private func plan(_ arguments: [String], _ file: Settings.File = Settings.File()) async throws -> LoginPlan {
        let login = try #require(try HandshakeCommand.parseAsRoot(["login"] + arguments) as? Login)
        let settings = Settings(home: "/nowhere", environment: [:], file: file)
        return try await LoginPlan(service: login.service ?? "", options: login.options, settings: settings)
    }

    private static func settings(_ lines: String) throws -> Settings.File {
        try Settings.File(Array("[services.mine]\n\(lines)".utf8), path: "/config.toml")
    }

    @Test(
        "all values that a service needs are named, and the command that is printed signs in with what was stated",
        arguments: [
            (["keycloak", "--client-id", "app"], ["host", "realm"]),
            (["harvest", "--client-id", "app", "--set", "account_id=1", "--auth", "none"], ["contact"]),
            (
                ["amazon-cognito", "--client-id", "app", "--account", "work", "--scope", "openid", "--device"],
                ["domain", "region", "user_pool"]
            ),
            (["authentik", "--client-id", "app", "--set", "application=mine"], ["host"]),
        ])
    func missingValues(_ arguments: [String], _ missing: [String]) async throws {
        let thrown = await #expect(throws: CommandError.self) { try await plan(arguments) }
        let error = try #require(thrown)
        #expect(error.status == .usage)
        for name in missing { #expect(error.message.contains("“\(name)”"), "\(error.message)") }
        let command = try #require(error.message.split(separator: ": handshake login ", maxSplits: 1).last)
        let words = command.split(separator: " ").map(String.init)
        let next = try await plan(words)
        #expect(next.client.id == "app")
        for argument in arguments { #expect(words.contains(argument), "\(command)") }
    }

    @Test("the command that is printed names the file of a secret, and never the secret")
    func missingValuesWithSecret() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)")
        try Data("canary-secret".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = await #expect(throws: CommandError.self) {
            try await plan(["keycloak", "--client-id", "app", "--client-secret-file", file.path])
        }
        let message = try #require(error?.message)
        #expect(message.contains("--set realm=master --client-id app --client-secret-file "), "\(message)")
        #expect(!message.contains("canary-secret"))
    }

    /// The client of a sign-in at a server of the user's own.
    private static func client(scopes: [String], parameters: [String: String] = [:]) throws -> Client {
        let endpoints = AuthorizationServerMetadata(
            issuer: try Issuer("https://id.example"), authorizationEndpoint: try EndpointURL("https://id.example/a"),
            tokenEndpoint: try EndpointURL("https://id.example/t"))
        let service = try Service(name: "mine", authorizationServer: .described(endpoints))
        return Client(service: service, id: "app").asking(for: scopes, parameters)
    }

    @Test("A9: the consent page of offline access ends with it, and stays otherwise unless a prompt is stated")
    func laterConsent() async throws {
        let last = try Self.client(scopes: ["openid", "offline_access"], parameters: ["prompt": "consent"])
        func later(_ arguments: [String]) async throws -> [String: String] {
            let login = try #require(try HandshakeCommand.parseAsRoot(["login", "mine"] + arguments) as? Login)
            let settings = Settings(home: "/nowhere", environment: [:], file: Settings.File())
            return try await LoginPlan(
                service: "mine", options: login.options, settings: settings, previous: last
            ).client.parameters
        }
        #expect(try await later([]) == ["prompt": "consent"])
        #expect(try await later(["--scope", "openid"]) == [:])
        #expect(try await later(["--param", "a=b"]) == ["a": "b", "prompt": "consent"])
        #expect(try await later(["--param", "a=b", "--scope", "openid"]) == ["a": "b"])
        for prompt in ["login", "consent"] {
            let stated = try await later(["--param", "prompt=\(prompt)", "--scope", "openid"])
            #expect(stated == ["prompt": prompt])
        }
    }

    @Test("A9: the refusal of scopes that the command has chosen names the command that asks for fewer")
    func refusedScopes() async throws {
        let places = ["--authorize-url", "https://id.example/a", "--token-url", "https://id.example/t"]
        let words = ["mine", "--client-id", "app"] + places
        let login = try #require(try HandshakeCommand.parseAsRoot(["login"] + words) as? Login)
        var plan = try await plan(words)
        #expect(!plan.choosesScopes, "no server is asked what it lists")
        let refused = ServerError(step: .authorization, code: "invalid_scope")
        for (scopes, fewer) in [(["openid", "profile", "offline_access"], "openid"), (["openid"], "''")] {
            plan.client = try Self.client(scopes: scopes)
            let error = try #require(plan.refusal(of: refused, login.options) as? CommandError)
            #expect(error.status == .serviceError && error.code == "invalid_scope")
            let asked = scopes.joined(separator: " ")
            #expect(error.message.contains("ask for “\(asked)”, which the command asks for"), "\(error.message)")
            let command = "handshake login mine \(places.joined(separator: " ")) --client-id app --scope \(fewer)"
            #expect(error.message.hasSuffix(" with: \(command)"), "\(error.message)")
        }
        plan.client = try Self.client(scopes: [])
        #expect(plan.refusal(of: refused, login.options) is HandshakeError, "nothing was asked for")
    }

    @Test("a member that describes a service is refused in the table of a built-in one, and named")
    func membersOfBuiltIn() async throws {
        for (name, line, member) in [
            ("github", "default-scopes = [\"user:email\"]", "default-scopes"),
            ("github", "revocation-url = \"https://elsewhere.example/revoke\"", "revocation-url"),
            ("recurse-center", "title = \"Mine\"", "title"),
        ] {
            let file = try Settings.File(Array("[services.\(name)]\n\(line)".utf8), path: "/config.toml")
            let error = await #expect(throws: CommandError.self) { try await plan([name, "--client-id", "app"], file) }
            #expect(error?.status == .usage)
            #expect(error?.message.hasPrefix("“\(member)” in [services.\(name)] describes a service") == true)
            let login = try #require(try HandshakeCommand.parseAsRoot(["login", name]) as? Login)
            let library = Service.builtIn.first { $0.name == name }
            let described = try BuiltInService.named(name)?.service()
            let service = try #require(library ?? described)
            let settings = Settings(home: "/nowhere", environment: [:], file: file)
            let later = await #expect(throws: CommandError.self) {
                try await LoginPlan(
                    service: name, options: login.options, settings: settings,
                    previous: Client(service: service, id: "app"))
            }
            #expect(later?.message == error?.message)
        }
        let whole = "authorize-url = \"https://id.example/a\"\ntoken-url = \"https://id.example/t\"\n"
        let file = try Settings.File(
            Array("[services.github]\n\(whole)default-scopes = [\"read\"]".utf8), path: "/config.toml")
        #expect(try await plan(["github", "--client-id", "app"], file).client.scopes == ["read"])
    }

    @Test("a description that lacks several values names them all")
    func missingValuesOfDescription() throws {
        let error = #expect(throws: HandshakeError.self) { try BuiltInService.named("keycloak")?.filled(with: [:]) }
        guard case .configuration(let member, let problem)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(member == "host" && problem.contains("id.example.org"))
        #expect(problem.contains("“realm” (such as “master”)"))
    }

    /// The members of `Documentation/Services.md`, and those of them that its last column says `config.toml` has.
    private static func documented() throws -> (all: [String], own: Set<String>) {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let page = tests.deletingLastPathComponent().appending(path: "Documentation/Services.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let table = try #require(text.components(separatedBy: "## Members").last?.components(separatedBy: "<!--").first)
        var (all, own): ([String], Set<String>) = ([], [])
        for row in table.split(separator: "\n") where row.hasPrefix("| `") {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let names = Self.names(in: cells[0])
            all += names
            let said = try #require(cells.last)
            switch said.split(separator: " ").first {
            case "yes": own.formUnion(names)
            case "no": break
            case "only": own.formUnion(Self.names(in: said))
            case "not": own.formUnion(names.filter { !Self.names(in: said).contains($0) })
            default: Issue.record("\(row)")
            }
        }
        return (all, own)
    }

    private static func names(in cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }

    @Test("config.toml takes each member that the page of services promises, and refuses the others")
    func members() throws {
        let (all, own) = try Self.documented()
        #expect(all.count >= 60 && own.count >= 50 && own.isSubset(of: all))
        for name in all {
            let setting = name.replacing("_", with: "-")
            let line = "\(setting) = \"https://id.example/x\""
            guard own.contains(name) else {
                let error = #expect(throws: CommandError.self, "\(name)") { try Self.settings(line) }
                #expect(error?.message.contains("“\(setting)” is not a setting") == true)
                continue
            }
            #expect(throws: Never.self, "\(name)") { try Self.settings(line) }
        }
        let known = Set(OwnService.members.map { $0.replacing("-", with: "_") })
        #expect(known.subtracting(own) == [], "the page has every member")
    }

    @Test("that a revocation ends all of a user's tokens can be said of an own service, and is shown of it")
    func wholeRevocation() async throws {
        for (line, isWhole) in [("revokes-whole-authorization = true", true), ("", false)] {
            let file = try Self.settings(
                """
                authorize-url = "https://id.example/authorize"
                token-url = "https://id.example/token"
                revocation-url = "https://id.example/revoke"
                \(line)
                """)
            let service = try await plan(["mine", "--client-id", "app"], file).client.service
            #expect(service.deviations.revokesWholeAuthorization == isWhole)
            let shown = try Services.shown("mine", Settings(home: "/nowhere", environment: [:], file: file))
            #expect(shown["revokes_whole_authorization"]?.bool == (isWhole ? true : nil))
        }
        let wrong = try Self.settings(
            "token-url = \"https://id.example/token\"\nrevokes-whole-authorization = \"yes\"")
        let error = await #expect(throws: HandshakeError.self) {
            try await self.plan(["mine", "--client-id", "app"], wrong)
        }
        #expect("\(String(describing: error))".contains("revokes-whole-authorization"))
    }

    @Test("how a refresh token is obtained and whether apps need a secret can be said of an own service")
    func offline() async throws {
        let file = try Self.settings(
            """
            authorize-url = "https://id.example/authorize"
            token-url = "https://id.example/token"
            client-authentication = "post"
            public-clients = true
            default-scopes = ["read"]
            offline = { scopes = ["offline_access"], parameters = { access_type = "offline" } }
            denial-codes = ["user_said_no"]
            denial-parameter = "reason"
            error-detail-pointer = "/detail"
            own-device-grant = true
            refresh-margin = 25
            invalid-grant-codes = ["gone"]
            """)
        let plan = try await plan(["mine", "--client-id", "app"], file)
        let service = plan.client.service
        #expect(service.defaultScopes == ["read", "offline_access"])
        #expect(service.deviations.offlineParameters == ["access_type": "offline"])
        #expect(service.deviations.denialCodes == ["user_said_no"])
        #expect(service.deviations.denialParameter == "reason")
        #expect(service.deviations.token.errorDetail == "/detail")
        #expect(service.deviations.token.invalidGrantCodes == ["gone"])
        #expect(service.deviations.hasOwnDeviceGrant)
        #expect(service.deviations.refreshMargin == 25)
        let login = try #require(
            try HandshakeCommand.parseAsRoot(["login", "mine", "--client-id", "app"]) as? Login)
        let settings = Settings(home: "/nowhere", environment: [:], file: file)
        try ServiceChoice("mine", options: login.options, settings: settings).requireCredential(of: plan)
        let wrong = try Self.settings("token-url = \"https://id.example/token\"\noffline = \"always\"")
        let error = await #expect(throws: HandshakeError.self) {
            try await self.plan(["mine", "--client-id", "app"], wrong)
        }
        #expect("\(String(describing: error))".contains("offline"))
    }
}
