import ArgumentParser
import Handshake
import OAuth
import Positions
import Testing

@testable import HandshakeCLI

@Suite("The command line")
struct ParsingTests {
    private static let partnerCommandLines: [[String]] = [
        ["ifttt", "options", "aB3dE5fG", "--action", "lumen_garden.start_drip"],
        ["ifttt", "update", "aB3dE5fG", "--configuration", "-"],
        ["ifttt", "run", "aB3dE5fG", "lumen_garden.start_drip", "--field", "zone=7"],
        ["ifttt", "perform", "aB3dE5fG", "lumen_garden.list_plants", "--limit", "5"],
        ["ifttt", "test", "aB3dE5fG", "location.exit_region_location"],
        ["ifttt", "notify", "--trigger-identity", "t1"],
    ]

    private static let otherCommandLines: [[String]] = [
        [
            "login", "github", "--issuer", "https://example.test", "--client-id", "app", "--scope", "a", "--scope",
            "b",
        ],
        [
            "login", "mine", "--issuer", "https://example.test", "--client-id", "app", "--key", "key.pem", "--key-id",
            "k1",
        ],
        ["login", "mine", "--issuer", "https://example.test", "--client-id", "app", "--par", "always"],
        ["login", "mine", "--issuer", "https://example.test", "--client-id", "app", "--dpop"],
        ["login", "mine", "--issuer", "https://example.test", "--client-id", "app", "--no-dpop"],
        ["login", "mine", "--issuer", "https://example.test", "--client-id", "app", "--no-retry-lost-refreshes"],
        ["login", "google", "--grant", "jwt-bearer", "--key", "account.json", "--scope", "a", "--subject", "ada@b.c"],
        ["public-key", "key.pem", "--key-id", "k1"], ["public-key", "key.pem", "--json"],
        ["accounts", "--json"], ["token", "github"], ["token", "github", "--min-valid", "60", "--kind", "id"],
        ["headers", "github", "--for", "https://api.github.com/user", "--format", "json"],
        ["login", "microsoft", "--tenant", "contoso.example", "--client-id", "app"],
        ["login", "github", "--device", "--client-id", "app"],
        ["services", "--json"], ["services", "list", "--json"], ["services", "show", "github"],
        ["services", "check", "gitlab-self-managed", "--set", "host=gitlab.example.org"],
        ["request", "GET", "user", "--account", "github", "-H", "A: b"],
        ["inspect", "github"], ["logout", "github", "--local"], ["doctor"],
        ["vault", "check", "--vault", "files:a"], ["vault", "stats", "--json"], ["vault", "migrate"],
        ["vault", "rotate-key"], ["keep", "--once", "--ahead", "60", "--dry-run"],
        ["vault", "copy", "files:a", "sqlite:b", "--replace"],
        ["sequencing", "files", "--sample"], ["sequencing", "file", "1"],
        ["sequencing", "chain", "Chain9", "--file", "1"],
        ["sequencing", "chains", "9", "88"], ["sequencing", "report-file", "1", "-o", "report.pdf"],
        ["sequencing", "beacon", "1", "10000", "A"], ["sequencing", "register", "ada@example.test"],
        ["sequencing", "jobs"], ["sequencing", "resume", "1"], ["sequencing", "reset-password", "ada@example.test"],
        ["sequencing", "import", "23andme", "--wait"],
        ["sequencing", "connect", "ada@example.test", "--file", "a=https://files.example.test/a", "--deliver"],
        ["recurse-center", "me"], ["recurse-center", "profile", "759"], ["recurse-center", "search", "ada"],
        ["recurse-center", "batches"], ["recurse-center", "locations", "New"],
        ["recurse-center", "visit", "--notes", "pairing"],
        ["recurse-center", "visits", "--person", "759", "--from", "2026-11-01", "--to", "2026-11-30"],
        ["ifttt", "show", "aB3dE5fG"], ["ifttt", "connect", "aB3dE5fG"],
        ["ifttt", "disconnect", "aB3dE5fG", "--yes"],
        ["ifttt", "url", "aB3dE5fG", "--email", "ada@example.test"], ["ifttt", "token", "aB3dE5fG"],
        ["nearby", "watch", "--duration", "5"], ["nearby", "scan"], ["nearby", "log", "--csv"],
        ["nearby", "advertise", "--advertise", "rolling"], ["nearby", "replay", "x", "--no-delay"],
        ["nearby", "show", "36"], ["nearby", "forget", "--everyone"], ["nearby", "friends"],
        ["nearby", "share", "--days", "2"], ["nearby", "befriend", "-"], ["nearby", "unfriend", "36"],
        ["nearby", "open", "--port", "0", "--browser", "print"], ["nearby", "pair", "--by-hand", "--name", "Ada"],
        ["nearby", "audit", "-", "--duration", "60"], ["nearby", "wave", "36", "--text", "Coffee?"],
        ["nearby", "circle", "join", "https://circle.example/rc"], ["nearby", "circle", "members", "--timeout", "5"],
        ["nearby", "circle", "pause"], ["nearby", "circle", "resume"], ["nearby", "circle", "hide", "36"],
        ["nearby", "circle", "unhide", "36"], ["nearby", "circle", "rotate"], ["nearby", "circle", "sync"],
        [
            "nearby", "circle", "settings", "--circle", "https://circle.example/rc", "--photo", "off",
            "--others-photos", "on",
        ],
        ["nearby", "circle", "leave", "--circle", "https://circle.example/rc"],
        ["recurse-center", "hub", "--source", "gpsd", "--radius", "80"],
        ["sandbox", "--port", "0"], ["demo", "--headless"],
        ["places", "list", "--regions", "areas.geojson", "--at", "40.7251,-73.9967"],
        ["places", "watch", "--source", "gpsd:localhost:2947", "--speed", "2"],
        ["places", "replay", "walk.gpx", "--speed", "max", "--upload"],
        ["places", "sync", "--once", "--connection", "aB3dE5fG"], ["places", "queue", "--account", "ifttt"],
        ["places", "map", "-o", "map.svg", "--regions", "areas.geojson", "--track", "walk.gpx"],
    ]

    private static let commandLines =
        partnerCommandLines.map { $0 + ["--user", "garden-1001", "--service-key-file", "key"] } + otherCommandLines

    /// The commands below a command that have no commands of their own.
    private static func leaves(_ type: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        let children = type.configuration.subcommands
        return children.isEmpty ? [type] : children.flatMap(leaves)
    }

    @Test("a command that the user of Sequencing.com is told acts for the same account")
    func toldCommands() throws {
        #expect(try SequencingOptions.parse([]).command("files") == "handshake sequencing files")
        let options = try SequencingOptions.parse(["--account", "my work"])
        #expect(
            options.command("import ancestry --resume")
                == "handshake sequencing import ancestry --resume --account 'my work'")
    }

    @Test("every command of the contract is parsed", arguments: commandLines)
    func commands(_ arguments: [String]) throws {
        _ = try HandshakeCommand.parseAsRoot(arguments)
    }

    @Test("a command that is parsed by itself is what the whole tree would give", arguments: commandLines)
    func alone(_ arguments: [String]) throws {
        let (alone, whole) = (
            try HandshakeCommand.command(for: arguments), try HandshakeCommand.parseAsRoot(arguments)
        )
        #expect(String(reflecting: type(of: alone)) == String(reflecting: type(of: whole)))
    }

    @Test(
        "help and errors name the whole command",
        arguments: [["token", "--help"], ["token"], ["nearby", "log", "-h"]])
    func wholeNames(_ arguments: [String]) throws {
        let error = try #require(throws: (any Error).self) {
            var command = try HandshakeCommand.command(for: arguments)
            try command.run()
        }
        let path = arguments.prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        #expect(HandshakeCommand.fullMessage(for: error).contains("handshake \(path)"))
    }

    @Test("every command states its name: the parser takes a millisecond to make one from a type's name")
    func names() {
        func check(_ type: any ParsableCommand.Type) {
            #expect(type.configuration.commandName != nil, "\(type)")
            for next in type.configuration.subcommands { check(next) }
        }
        check(HandshakeCommand.self)
    }

    @Test("only a token without options needs no parser")
    func plainToken() {
        #expect(WantedToken(plain: ["token", "github"])?.account == "github")
        for arguments in [
            ["token"], ["token", "--help"], ["token", "-h"], ["token", "github", "--json"], ["token", "a", "b"],
            ["headers", "github"], [], ["token", "--"],
        ] {
            #expect(WantedToken(plain: arguments) == nil, "\(arguments)")
        }
    }

    @Test("no command is missing from the command lines of these tests")
    func complete() throws {
        let parsed = Set(try Self.commandLines.map { "\(type(of: try HandshakeCommand.parseAsRoot($0)))" })
        #expect(parsed == Set(Self.leaves(HandshakeCommand.self).map { "\($0)" }))
    }

    @Test("every command is bounded by --timeout, but those that use no network or go on until they are interrupted")
    func bounded() {
        let unbounded = Self.leaves(HandshakeCommand.self).filter { !($0 is any BoundedCommand.Type) }.map { "\($0)" }
        // These have a deadline of their own, whose error tells what was waited for.
        let own = [
            "Login", "SequencingImport", "SequencingConnect", "SequencingChain", "SequencingChains", "SequencingResume",
            "IFTTTConnectCommand", "CircleJoin", "NearbyPair",
        ]
        let local = [
            "Accounts", "Inspect", "Doctor", "PlacesQueue", "NearbyLog", "NearbyForget", "NearbyFriends", "NearbyShare",
            "NearbyShow",
            "NearbyBefriend", "NearbyUnfriend", "List", "Show", "PublicKey", "VaultCheck", "VaultStats", "VaultMigrate",
            "VaultCopy", "VaultRotateKey",
        ]
        let endless = [
            "RunSandbox", "Demo", "Keep", "PlacesWatch", "PlacesReplay", "NearbyWatch", "NearbyReplay", "NearbyScan",
            "NearbyAdvertise", "NearbyOpen", "NearbyAudit", "RecurseCenterHub",
        ]
        #expect(Set(unbounded).isSubset(of: own + local + endless), "\(unbounded)")
    }

    @Test(
        "a wrong command line is status 64 with a message",
        arguments: [
            ["bogus"], ["token"], ["token", "one", "two"], ["login", "one", "two"], ["accounts", "--colour"],
            ["nearby", "forget"], ["nearby", "forget", "36", "--everyone"], ["nearby", "show", "0"],
            ["nearby", "show", "\u{1B}[31m"], ["nearby", "watch", "--duration", "nan"],
            ["nearby", "watch", "--advertise", "static"], ["nearby", "advertise"],
            ["nearby", "log", "--csv", "--json"], ["nearby", "share", "--days", "32"],
            ["ifttt", "show", "not an id"], ["sequencing", "chain", "nine lives"],
            // Only the commands that fetch areas of IFTTT take connections, and beside no other areas.
            ["places", "queue", "--connection", "aB3dE5fG"],
            ["places", "map", "-o", "map.svg", "--connection", "aB3dE5fG"],
            ["places", "watch", "--here", "100", "--connection", "aB3dE5fG"],
            ["places", "watch", "--regions", "areas.geojson", "--connection", "aB3dE5fG"],
            ["places", "replay", "walk.gpx", "--regions", "areas.geojson", "--connection", "aB3dE5fG"],
            ["places", "list", "--regions", "areas.geojson", "--connection", "aB3dE5fG"],
            ["sequencing", "import", "23andme", "--forget", "1", "--resume"],
            ["sequencing", "import", "23andme", "--forget", "one"],
        ])
    func wrong(_ arguments: [String]) throws {
        let error = try #require(throws: (any Error).self) {
            var command = try HandshakeCommand.parseAsRoot(arguments)
            if !(command is any AsyncParsableCommand) { try command.run() }
        }
        #expect(HandshakeCommand.exitCode(for: error) == .validationFailure)
        #expect(!HandshakeCommand.message(for: error).isEmpty)
    }

    @Test("options of a sign-in reach its plan, before variables and settings")
    func loginPlan() async throws {
        let command = try HandshakeCommand.parseAsRoot([
            "login", "mine", "--issuer", "https://option.example", "--client-id", "app", "--scope", "a b", "--scope",
            "c",
            "--redirect", "loopback:8080", "--browser", "print", "--account", "work",
        ])
        let login = try #require(command as? Login)
        var file = Settings.File()
        file.services = ["mine": .init(issuer: "https://file.example", clientID: "other", auth: "none")]
        let settings = Settings(
            home: "/nowhere", environment: ["HANDSHAKE_ISSUER": "https://variable.example"], file: file)
        let plan = try await LoginPlan(service: login.service ?? "", options: login.options, settings: settings)
        #expect(plan.client.id == "app")
        #expect("\(plan.client.service.authorizationServer.issuer)" == "https://option.example")
        #expect(plan.client.scopes == ["a", "b", "c"])
        #expect(plan.account == "work")
        #expect(plan.browser == .print)
    }

    private func plan(_ arguments: [String], _ file: Settings.File = Settings.File()) async throws -> LoginPlan {
        let login = try #require(try HandshakeCommand.parseAsRoot(["login"] + arguments) as? Login)
        let settings = Settings(home: "/nowhere", environment: [:], file: file)
        return try await LoginPlan(service: login.service ?? "", options: login.options, settings: settings)
    }

    @Test("VL3: an option or a setting says that a lost refresh is not retried, and an account keeps it")
    func lostRefreshes() async throws {
        let addresses = ["--authorize-url", "https://a.example/a", "--token-url", "https://a.example/t"]
        let mine = ["mine", "--client-id", "app"] + addresses
        #expect(try await plan(mine).client.options.retriesLostRefreshes)
        let once = try await plan(mine + ["--no-retry-lost-refreshes"])
        #expect(!once.client.options.retriesLostRefreshes)
        let file = try Settings.File(Array("[services.mine]\nretry-lost-refreshes = false".utf8), path: "/a")
        #expect(try await !plan(mine, file).client.options.retriesLostRefreshes)
        #expect(try await plan(mine + ["--retry-lost-refreshes"], file).client.options.retriesLostRefreshes)
        let login = try #require(try HandshakeCommand.parseAsRoot(["login"] + mine) as? Login)
        let later = try await LoginPlan(
            service: "mine", options: login.options,
            settings: Settings(home: "/nowhere", environment: [:], file: Settings.File()), previous: once.client)
        #expect(!later.client.options.retriesLostRefreshes)
    }

    @Test("the token of a service with a library of its own may go to the origins of --api-origin too")
    func libraryOrigins() async throws {
        let added = ["--client-id", "app", "--api-origin", "https://more.example.org"]
        let production = try await plan(["recurse-center"] + added)
        #expect(production.client.service.apiOrigins.map(\.host) == ["more.example.org"])
        let sandbox = try await plan(["recurse-center", "--base-url", "http://127.0.0.1:1"] + added)
        #expect(sandbox.client.service.apiRoot?.origin.host == "127.0.0.1")
        #expect(sandbox.client.service.apiOrigins.map(\.host) == ["more.example.org"])
    }

    @Test("RC-08: the preset of the settings or of the command line is a server of 2014 at the address beside it")
    func preset() async throws {
        func table(_ more: String) throws -> Settings.File {
            try Settings.File(
                Array("[services.recurse-center]\nclient-id = \"app\"\n\(more)".utf8), path: "/home/ada/config.toml")
        }
        let service = try await plan(
            ["recurse-center"], try table("base-url = \"http://127.0.0.1:1\"\npreset = \"hackerschool\"")
        ).client.service
        #expect(service.identityEndpoint?.url.string == "http://127.0.0.1:1/api/v1/people/me")
        #expect(service.name == "recurse-center" && service.apiRoot?.string == "http://127.0.0.1:1/api/v1/")
        let stated = ["--preset", "hackerschool", "--base-url", "http://127.0.0.1:2"]
        let other = try await plan(["recurse-center"] + stated, try table("")).client.service
        #expect(other.identityEndpoint?.url.string == "http://127.0.0.1:2/api/v1/people/me")
        let plain = try await plan(["recurse-center", "--base-url", "http://127.0.0.1:2"], try table("")).client.service
        #expect(plain.identityEndpoint?.url.path == "/api/v1/profiles/me")
        for (arguments, problem) in [
            (["recurse-center", "--preset", "hackerschool"], "add --base-url URL"),
            (
                ["recurse-center", "--preset", "2014", "--base-url", "http://127.0.0.1:2"],
                "--preset takes hackerschool"
            ),
            (["sequencing", "--client-id", "app"] + stated, "is for the Recurse Center"),
            (["github", "--client-id", "app"] + stated, "is for the Recurse Center"),
        ] as [([String], String)] {
            let error = await #expect(throws: CommandError.self) { try await plan(arguments, try table("")) }
            #expect(error?.status == .usage && error?.message.contains(problem) == true, "\(error?.message ?? "")")
        }
    }

    @Test("every service that is listed can be shown")
    func shown() throws {
        let settings = Settings(home: "/nowhere", environment: [:], file: Settings.File())
        let described = BuiltInService.all.filter { $0.unsupportedReason == nil }
        for name in Service.builtIn.map(\.name) + described.map(\.name) {
            let known = try Services.known(name, settings)
            #expect(known.facts["token_url"] != nil || known.facts["issuer"] != nil, "\(name)")
        }
    }

    @Test("a built-in service is found by its name, with its placeholders filled and its origins extended")
    func builtIn() async throws {
        let plan = try await plan([
            "gitlab-self-managed", "--set", "host=gitlab.example.org", "--client-id", "app", "--api-origin",
            "https://more.example.org",
        ])
        let service = plan.client.service
        #expect("\(service.authorizationServer.issuer)" == "https://gitlab.example.org")
        #expect(service.identityEndpoint?.url.origin.host == "gitlab.example.org")
        #expect(service.apiOrigins.map(\.host) == ["more.example.org"])
        #expect(plan.account == "gitlab-self-managed")
    }

    @Test("a sign-in without a user is repeated, unless an option means a page or another grant")
    func repeatedGrant() throws {
        let own = [[], ["--scope", "a"], ["--client-id", "app"], ["--timeout", "5"], ["--param", "audience=api"]]
        for arguments in own {
            #expect(try LoginOptions.parse(arguments).repeating(.clientCredentials).grant == .clientCredentials)
        }
        for arguments in [
            ["--redirect", "loopback"], ["--browser", "print"], ["--device"],
            ["--authorize-url", "https://id.example/authorize"], ["--authorization-details", "[]"],
            ["--grant", "authorization-code"], ["--token-file", "-"], ["--require-acr"],
        ] {
            let options = try LoginOptions.parse(arguments)
            #expect(options.repeating(.clientCredentials).grant == .authorizationCode, "\(arguments)")
        }
        #expect(try LoginOptions.parse(["--grant", "jwt-bearer"]).repeating(.clientCredentials).grant == .jwtBearer)
        #expect(try LoginOptions.parse(["--param", "a=b"]).repeating(.jwtBearer).grant == .authorizationCode)
    }

    /// A server of the user's own.
    private static func ownService() throws -> Service {
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://id.example"), authorizationEndpoint: try EndpointURL("https://id.example/a"),
            tokenEndpoint: try EndpointURL("https://id.example/t"))
        return try Service(name: "mine", authorizationServer: .described(server))
    }

    /// What a later sign-in of an account does.
    private func later(
        _ arguments: [String], after last: Client, wasWithoutUser: Bool = false
    ) async throws -> LoginPlan {
        let login = try #require(try HandshakeCommand.parseAsRoot(["login", "mine"] + arguments) as? Login)
        let settings = Settings(home: "/nowhere", environment: [:], file: Settings.File())
        return try await LoginPlan(
            service: "mine", options: login.options, settings: settings, previous: last, wasWithoutUser: wasWithoutUser)
    }

    @Test("a sign-in on another device is repeated there, unless an option means a page or another grant")
    func repeatedDevice() async throws {
        var last = Client(service: try Self.ownService(), id: "app")
        last.signsInOnDevice = true
        for arguments in [[], ["--scope", "a"], ["--param", "acr_values=gold"], ["--timeout", "5"], ["--device"]] {
            let plan = try await later(arguments, after: last)
            #expect(plan.isOnAnotherDevice && plan.client.signsInOnDevice, "\(arguments)")
        }
        for arguments in [
            ["--browser", "system"], ["--redirect", "loopback"], ["--grant", "authorization-code"], ["--fapi2"],
            ["--request-object"], ["--response-mode", "jwt"], ["--par", "always"],
        ] {
            let plan = try await later(arguments, after: last)
            #expect(!plan.isOnAnotherDevice && !plan.client.signsInOnDevice, "\(arguments)")
        }
        last.signsInOnDevice = false
        #expect(try await !later([], after: last).isOnAnotherDevice)
        // Where the server has no such grant any more, a command without a word of it would repeat it.
        let login = try #require(try HandshakeCommand.parseAsRoot(["login", "mine", "--device"]) as? Login)
        #expect(login.options.inBrowser(after: true).command("mine") == "handshake login mine --browser system")
        #expect(login.options.inBrowser(after: false).command("mine") == "handshake login mine")
    }

    @Test("the parameters of a client without a user are no page's, nor a page's that client's")
    func parametersOfGrants() async throws {
        let last = Client.confidential(
            service: try Self.ownService(), id: "app", secret: Secret("a-secret"), parameters: ["audience": "api"])
        let robot = try await later([], after: last, wasWithoutUser: true)
        #expect(robot.grant == .clientCredentials && robot.client.parameters == ["audience": "api"])
        let other = try await later(["--param", "audience=b"], after: last, wasWithoutUser: true)
        #expect(other.grant == .clientCredentials && other.client.parameters == ["audience": "b"])
        let page = try await later(["--grant", "authorization-code"], after: last, wasWithoutUser: true)
        #expect(page.grant == .authorizationCode && page.client.parameters == [:])
        let newRobot = try await later(["--grant", "client-credentials"], after: last)
        #expect(newRobot.grant == .clientCredentials && newRobot.client.parameters == [:])
        #expect(try await later([], after: last).client.parameters == ["audience": "api"])
    }

    @Test(
        "options of a page are refused beside client credentials",
        arguments: [["--browser", "print"], ["--redirect", "loopback"], ["--require-acr"]])
    func pageOptions(_ options: [String]) throws {
        let robot = try LoginOptions.parse(["--grant", "client-credentials"] + options)
        let error = #expect(throws: CommandError.self) { try robot.check() }
        let advice = "leave out --redirect, --browser and --require-acr"
        #expect(error?.status == .usage && error?.message.contains(advice) == true)
        try LoginOptions.parse(["--grant", "client-credentials", "--param", "audience=api", "--no-require-acr"]).check()
    }

    @Test("another client ID is refused where only the last sign-in has named the server, with the whole command")
    func otherClient() async throws {
        let endpoints = AuthorizationServerMetadata(
            issuer: try Issuer("https://id.example"), authorizationEndpoint: try EndpointURL("https://id.example/a"),
            tokenEndpoint: try EndpointURL("https://id.example/t"))
        var last = Client(service: try Service(name: "mine", authorizationServer: .described(endpoints)), id: "app")
        func message(_ arguments: [String], wasWithoutUser: Bool = false) async throws -> String {
            let login = try #require(try HandshakeCommand.parseAsRoot(["login"] + arguments) as? Login)
            let settings = Settings(home: "/nowhere", environment: [:], file: Settings.File())
            do {
                _ = try await LoginPlan(
                    service: login.service ?? "", options: login.options, settings: settings, previous: last,
                    wasWithoutUser: wasWithoutUser)
                return ""
            } catch { return (error as? CommandError)?.message ?? "\(error)" }
        }
        let other = ["mine", "--account", "work", "--client-id", "other", "--scope", "a b"]
        let command = "\nThen sign in with: handshake login mine --account work --scope 'a b'"
        let logout = "“app”. Sign it out with: handshake logout work" + command
        let places = " --authorize-url https://id.example/a --token-url https://id.example/t --client-id other\n"
        #expect(try await message(other).contains(logout + places))
        let robot = " --grant client-credentials --token-url https://id.example/t --client-id other\n"
        #expect(try await message(other, wasWithoutUser: true).contains(logout + robot))
        last.confinement = try EndpointURL("https://api.example/mcp")
        #expect(try await message(other).contains(logout + " --resource https://api.example/mcp --client-id other\n"))
        // A name that the account's service does not have.
        let foreign = try await message(["foo", "--account", "work", "--client-id", "other"])
        #expect(foreign.contains("“foo” is not a built-in service"), "\(foreign)")
    }

    @Test("D8: an authentication context is demanded by an option, and an account keeps the demand")
    func requiredContext() async throws {
        let mine = [
            "mine", "--client-id", "app", "--authorize-url", "https://a.example/a", "--token-url",
            "https://a.example/t",
            "--param", "acr_values=gold",
        ]
        #expect(try await !plan(mine).client.options.requiresAuthenticationContext)
        let demanding = try await plan(mine + ["--require-acr"]).client
        #expect(demanding.options.requiresAuthenticationContext)
        func later(_ arguments: [String]) async throws -> Client {
            let login = try #require(try HandshakeCommand.parseAsRoot(["login", "mine"] + arguments) as? Login)
            let settings = Settings(home: "/nowhere", environment: [:], file: Settings.File())
            return try await LoginPlan(
                service: "mine", options: login.options, settings: settings, previous: demanding
            ).client
        }
        #expect(try await later([]).options.requiresAuthenticationContext)
        #expect(try await !later(["--no-require-acr"]).options.requiresAuthenticationContext)
        for option in ["--require-acr", "--no-require-acr"] {
            let login = try #require(try HandshakeCommand.parseAsRoot(["login", "mine", option]) as? Login)
            #expect(login.options.command("mine") == "handshake login mine \(option)")
        }
    }

    @Test(
        "the command that is printed says how to sign in as the user has said it",
        arguments: [
            "--account work", "--issuer https://id.example", "--authorize-url https://id.example/a",
            "--token-url https://id.example/t", "--base-url https://id.example", "--preset hackerschool",
            "--tenant contoso.example", "--set host=id.example", "--redirect loopback:8080", "--browser print",
            "--device", "--grant client-credentials", "--subject ada@b.c", "--assertion-issuer app",
            "--assertion-audience token_endpoint", "--scope read", "--resource https://api.example/mcp",
            "--api-origin https://api.example", "--param prompt=consent", "--par always", "--response-mode jwt",
            "--authorization-details @details.json", "--dpop", "--no-dpop", "--fapi2", "--no-fapi2",
            "--request-object", "--no-request-object", "--retry-lost-refreshes", "--no-retry-lost-refreshes",
            "--require-acr", "--no-require-acr",
        ])
    func statedOptions(_ option: String) throws {
        let words = ["login", "mine"] + option.split(separator: " ").map(String.init)
        let login = try #require(try HandshakeCommand.parseAsRoot(words) as? Login)
        #expect(login.options.command("mine") == "handshake login mine \(option)")
    }

    @Test("where an account is in an API's way, the account that was named is signed out, and what was stated is kept")
    func otherAPI() throws {
        let words = [
            "login", "mcp", "--account", "it's", "--resource", "https://api.example/b", "--scope", "read", "--dpop",
            "--device",
        ]
        let login = try #require(try HandshakeCommand.parseAsRoot(words) as? Login)
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://id.example"), tokenEndpoint: try EndpointURL("https://id.example/t"))
        var last = Client(service: try Service(name: "mcp", authorizationServer: .described(server)), id: "app")
        last.confinement = try EndpointURL("https://api.example/a")
        let registration = RegistrationChoice(
            options: login.options, redirect: nil, previous: last, isPurged: false, unfinished: nil,
            vault: MemoryVault())
        let choice = ResourceChoice(
            name: "mcp", options: login.options, deviations: DiscoveredResource.Deviations(), credential: nil,
            registration: registration, servers: { [] })
        let message = choice.otherAPI(than: last).message
        let place = "https://api.example/a at https://id.example"
        #expect(message.hasPrefix("“it's” is the account of \(place). Sign it out with: "), "\(message)")
        #expect(message.contains(": handshake logout 'it'\\''s', or give the new account"), "\(message)")
        let named = "--issuer https://id.example --scope read --resource https://api.example/b --dpop"
        let command = "handshake login mcp --account 'it'\\''s' \(named)"
        let (api, issuer) = ("https://api.example/b", "https://id.example")
        #expect(choice.command(for: api, at: issuer) == command + " --device")
        #expect(choice.command(for: api, at: issuer, onDevice: false) == command)
    }

    @Test("a command that is printed names an account as a shell takes it")
    func quotedAccounts() throws {
        let (name, word) = ("it's", "'it'\\''s'")
        #expect(KnownAccount.login(name, at: "mine") == "handshake login mine --account \(word)")
        #expect(KnownAccount.login("mine", at: "mine") == "handshake login mine")
        #expect(KnownAccount.shellWord("") == "''")
        let none = try #require(try HandshakeCommand.parseAsRoot(["login", "mine", "--scope", ""]) as? Login)
        #expect(none.options.command("mine") == "handshake login mine --scope ''")
        let unfinished = Logout.unfinished(name, .contentNotReplayable).message
        #expect(unfinished.contains("Finish with: handshake logout \(word)\n"), "\(unfinished)")
        #expect(unfinished.hasSuffix(": handshake logout \(word) --local"), "\(unfinished)")
        let places = try PlacesAccountOptions.parse(["--account", name])
        let cure = try #require(places.curable(.damaged(what: "w", reason: "r")) as? CommandError)
        #expect(cure.message.contains(" with: handshake logout \(word) --local\nThen connect "), "\(cure.message)")
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://id.example"), tokenEndpoint: try EndpointURL("https://id.example/t"))
        let other = Client(service: try Service(name: "mine", authorizationServer: .described(server)), id: "app")
        let refusal = Login.otherClient(other, of: name).message
        #expect(refusal.contains(" with: handshake logout \(word), or give the new account"), "\(refusal)")
    }

    @Test("WorkOS is told whose accounts users sign in with, as its page demands")
    func workOS() async throws {
        let service = try await plan(["workos", "--client-id", "app", "--set", "provider=GitHubOAuth"]).client.service
        #expect(service.deviations.authorizationParameters == ["provider": "GitHubOAuth"])
    }

    @Test(
        "a service that refuses redirects to this machine is signed in to by another one, on no page, and in a sandbox")
    func otherRedirect() async throws {
        let schwab = ["schwab", "--client-id", "app"]
        let encrypted = try await plan(schwab + ["--redirect", "https://127.0.0.1", "--browser", "print"])
        guard case .uri(let uri) = encrypted.client.redirect else {
            Issue.record("\(encrypted.client.redirect)")
            return
        }
        #expect(uri.string == "https://127.0.0.1")
        #expect(try await plan(schwab + ["--base-url", "http://127.0.0.1:1"]).client.redirect == .loopback)
        #expect(try await plan(schwab + ["--token-file", "-"]).tokenFile == "-")
    }

    @Test("the command for another redirect asks for all that is missing, and keeps the choice of a browser")
    func otherRedirectCommand() async throws {
        func message(_ arguments: [String]) async throws -> String {
            let error = await #expect(throws: CommandError.self) { try await plan(arguments) }
            return try #require(error?.message)
        }
        let other = try await message(["yahoo"])
        #expect(other.contains("Register another redirect URI there, and sign in with: "), "\(other)")
        #expect(other.contains(": handshake login yahoo --redirect URI --client-id ID\n"), "\(other)")
        let encrypted = try await message(["schwab", "--browser", "print", "--redirect", "loopback"])
        let command = ": handshake login schwab --browser print --redirect https://127.0.0.1"
        #expect(encrypted.contains(command + " --client-id ID --client-secret-file FILE\n"), "\(encrypted)")
        let client = try await message(["schwab", "--browser", "print", "--redirect", "https://127.0.0.1"])
        #expect(client.contains(" --redirect https://127.0.0.1 --browser print --client-id ID"), "\(client)")
    }

    @Test(
        "a sign-in that the service's description does not allow is status 64 and says what to write",
        arguments: [
            (["gitlab-self-managed"], "--set host=gitlab.example.org"),
            (["gitlab-self-managed", "--set", "host"], "--set takes NAME=VALUE"),
            (["gitlab-self-managed", "--set", "host=a/b"], "gitlab.example.org"),
            (
                ["gitlab-self-managed", "--set", "host=a.example", "--tenant", "b"],
                "has no placeholder “tenant”; it has host."
            ),
            (["github", "--set", "host=evil.example"], "has no placeholder “host”; it has app."),
            (["gitlab-self-managed", "--set", "hots=a.example"], "has no placeholder “hots”; it has host."),
            (
                ["schwab", "--auth", "none"],
                "with: handshake login schwab --redirect https://127.0.0.1 --client-id app --auth none\n"
            ),
            (
                ["yahoo", "--redirect", "loopback:8080", "--scope", "openid"],
                "with: handshake login yahoo --scope openid --redirect URI --client-id app\n"
            ),
            (["yahoo", "--redirect", "http://127.0.0.1:8080/"], "Yahoo accepts no http redirect to this machine."),
            (["workos"], "needs a value for “provider”"), (["workos"], "--set provider=GoogleOAuth"),
            (["wechat"], "not supported"), (["no-such-service"], "--issuer URL"),
            (["mine", "--authorize-url", "https://id.example/authorize"], "add --token-url URL"),
        ])
    func misdescribed(_ arguments: [String], _ words: String) async throws {
        var failure: Failure.Report?
        do {
            _ = try await plan(arguments + ["--client-id", "app"])
        } catch {
            failure = Failure.report(of: error)
        }
        #expect(failure?.status == .usage)
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
    }

    @Test(
        "M210: details to authorize are refused where no page asks for them",
        arguments: [["--device"], ["--token-file", "t"]], [true, false])
    func unaskedDetails(_ options: [String], isOption: Bool) async throws {
        let details = #"[{"type":"payment"}]"#
        let arguments = ["github", "--client-id", "app"] + (isOption ? ["--authorization-details", details] : [])
        var file = Settings.File()
        if !isOption { file.services = ["github": .init(authorizationDetails: details)] }
        #expect(try await plan(arguments, file).client.options.authorizationDetails.map(\.type) == ["payment"])
        let error = await #expect(throws: CommandError.self) { try await plan(arguments + options, file) }
        #expect(error?.status == .usage && error?.message.contains("needs a sign-in in the browser") == true)
    }

    @Test(
        "a secret or key that the service's description demands is asked for before a page opens, with the command",
        arguments: [
            (["github", "--client-id", "app"], "handshake login github --client-id app --client-secret-file FILE"),
            (
                [
                    "apple", "--client-id", "a b", "--set", "team=DEF123GHIJ", "--account", "work",
                    "--redirect", "https://app.example/back",
                ],
                "handshake login apple --account work --redirect https://app.example/back --set team=DEF123GHIJ "
                    + "--client-id 'a b' --key FILE"
            ),
            (["own", "--client-id", "app"], "handshake login own --client-id app --client-secret-file FILE"),
            (["github", "--client-id", "app", "--auth", "none"], nil),
            (["github", "--client-id", "app", "--device"], nil),
            (["spotify", "--client-id", "app"], nil), (["trovo", "--client-id", "app"], nil),
            (["recurse-center", "--client-id", "app"], nil),
            (["github2", "--token-url", "https://id.example/t", "--client-id", "app"], nil),
        ] as [([String], String?)])
    func demandedCredential(_ arguments: [String], _ command: String?) async throws {
        let file = try Settings.File(
            Array("[services.own]\ntoken-url = \"https://id.example/t\"\nclient-authentication = \"basic\"".utf8),
            path: "/config.toml")
        let login = try #require(try HandshakeCommand.parseAsRoot(["login"] + arguments) as? Login)
        let settings = Settings(home: "/nowhere", environment: [:], file: file)
        let choice = ServiceChoice(login.service ?? "", options: login.options, settings: settings)
        let plan = try await plan(arguments, file)
        guard let command else { return try choice.requireCredential(of: plan) }
        let error = #expect(throws: CommandError.self) { try choice.requireCredential(of: plan) }
        #expect(error?.status == .usage)
        #expect(error?.message.contains("sign in with: \(command)\n") == true, "\(error?.message ?? "")")
    }

    @Test("a service of the settings has the members of a built-in one")
    func ownService() async throws {
        let file = try Settings.File(
            Array(
                """
                [services.mine]
                authorize-url = "https://id.example/authorize"
                token-url = "https://id.example/token"
                refresh-url = "https://id.example/refresh"
                userinfo-url = "https://api.example/me"
                subject-pointer = "/data/0/id"
                scope-delimiter = ","
                default-scopes = ["read"]
                token-place = "/data/access_token"
                token-types = [""]
                absent-expiry = 600
                repeats-scope = true
                required-headers = { X-Version = "2" }
                authorization-scheme = "OAuth"
                """.utf8), path: "/home/ada/config.toml")
        let service = try await plan(["mine", "--client-id", "app"], file).client.service
        #expect(service.deviations.scopeDelimiter == ",")
        #expect(service.deviations.repeatsScope)
        #expect(service.deviations.token.tokenPlace == "/data/access_token")
        #expect(service.deviations.token.tokenTypes == [""])
        #expect(service.deviations.token.absentLifetime == 600)
        #expect(service.deviations.requiredHeaders == ["X-Version": "2"])
        #expect(service.deviations.authorization == .scheme("OAuth"))
        #expect(service.identityEndpoint?.subjectMember == "/data/0/id")
        #expect(service.defaultScopes == ["read"])
    }

    @Test(
        "a member of the wrong kind is named",
        arguments: [
            ("token-place = 3", "token-place"), ("repeats-scope = \"yes\"", "repeats-scope"),
            ("token-types = \"OAuth\"", "token-types"),
            ("required-headers = { Authorization = \"x\" }", "required-headers"),
            ("expiry-unit = \"years\"", "expiry-unit"), ("userinfo-url = \"http://api.example/me\"", "userinfo-url"),
        ])
    func wrongMember(_ line: String, _ name: String) async throws {
        let file = try Settings.File(
            Array("[services.mine]\ntoken-url = \"https://id.example/token\"\n\(line)".utf8), path: "/config.toml")
        var failure: Failure.Report?
        do {
            _ = try await plan(["mine", "--client-id", "app"], file)
        } catch {
            failure = Failure.report(of: error)
        }
        #expect(failure?.message.contains(name) == true, "\(failure?.message ?? "nothing")")
    }

    @Test("a source of positions that this system does not have is refused with those that it has")
    func positionSource() throws {
        #if os(Linux)
        let (absent, forms) = (["gps"], "gpsd[:HOST:PORT], geoclue, gpx:FILE, nmea:FILE or -.")
        #else
        let (absent, forms) = (["gps", "geoclue"], "gpsd[:HOST:PORT], gpx:FILE, nmea:FILE or -.")
        #endif
        for source in absent {
            let error = #expect(throws: CommandError.self) { try PlacesSource.open(source, speed: .maximum) }
            #expect(error?.message.hasSuffix("Use \(forms)") == true, "\(error?.message ?? "nothing")")
        }
    }

    @Test("the page of nearby open shows alerts itself, so its help and its option know no terminal")
    func openAlerts() throws {
        #expect(OpenAlertPlace.allCases.map(\.rawValue) == ["desktop", "none"])
        #expect(try NearbyOpen.parse(["--alerts", "none"]).alerts.place == .none)
        #expect(throws: (any Error).self) { try NearbyOpen.parse(["--alerts", "terminal"]) }
        #expect(try NearbyWatch.parse(["--alerts", "terminal"]).alerts == .terminal)
    }
}
