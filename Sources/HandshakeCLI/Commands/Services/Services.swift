#if CommandLine
import ArgumentParser
import Handshake
import OAuth

struct Services: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "services",
        abstract: "List the services that can be signed in to by name.",
        discussion: """
            A service of your own is a table in config.toml; handshake doctor names the file. The table has issuer, or \
            authorize-url and token-url. It may also have the options of login, such as client-id, and the members that \
            services show prints, with hyphens:
              [services.mine]
              issuer = "https://id.example"
              client-id = "ID"
            """,
        subcommands: [List.self, Show.self, Check.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the built-in services and those of the settings.")

        @OptionGroup var common: CommonOptions

        func run() throws {
            let own = Services.own(try Settings.load())
            let built = Service.builtIn.map { ($0.name, $0.displayName, "") }
            let described = BuiltInService.all.filter { $0.unsupportedReason == nil }.map { service in
                (service.name, service.title, service.placeholders.map(\.name).joined(separator: ", "))
            }
            let mine = own.map { ($0.key, $0.value.facts["title"]?.string ?? $0.key, "") }
            let rows = (mine + (built + described).filter { own[$0.0] == nil }).sorted { $0.0 < $1.0 }
            if common.json {
                let services = rows.map { name, title, placeholders in
                    JSONText.object([
                        ("name", .string(name)), ("title", .string(title)), ("own", .bool(own[name] != nil)),
                        (
                            "placeholders",
                            .array(placeholders.split(separator: ", ").map { JSONText.string(String($0)) })
                        ),
                    ])
                }
                return Output.result(JSONText.object([("services", .array(services))]).text)
            }
            for line in Table.lines([["SERVICE", "NAME", "NEEDS"]] + rows.map { [$0.0, $0.1, $0.2] }) {
                Output.result(line)
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show what is known of a service.",
            discussion:
                """
                The facts were tested against a stand-in that follows them, not against the service. To sign in to such a stand-in: \
                handshake sandbox --service NAME
                """)

        @Argument(help: "The service's name.")
        var service: String

        @OptionGroup var common: CommonOptions

        func run() throws {
            let facts = try Services.shown(service, try Settings.load())
            if common.json { return Output.result(JSONText(.object(facts)).text) }
            let rows = facts.sorted().flatMap { name, value -> [[String]] in
                switch value {
                case .object(let members):
                    members.sorted().map { ["\(name).\($0.key)", Services.plain($0.value)] }
                default: [[name, Services.plain(value)]]
                }
            }
            for line in Table.lines(rows) { Output.result(line) }
        }
    }

    struct Check: BoundedCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Compare what is known of a service with what its server publishes.",
            discussion: """
                Each line describes one member of the service's description: it drifted, the server does not publish it, or this \
                version does not describe it. With --json, each kind is a list.

                A discovered value that is no longer published has drifted. The accounts in the vault are compared too: protection \
                that the server announced at a sign-in and no longer does has drifted, and so has an endpoint that has moved to \
                another origin or is new at one.

                The exit status is 4 when something drifted, and 5 when the metadata name another issuer.
                """)

        @Argument(help: "The service's name.")
        var service: String

        @Option(
            help: ArgumentHelp("The value of a placeholder; repeatable.", valueName: "name=value"))
        var set: [String] = []

        @Option(
            name: .customLong("base-url"),
            help: ArgumentHelp("The service at another origin, such as a sandbox.", valueName: "url"))
        var baseURL: String?

        @Option(help: .timeout)
        var timeout = 60

        @OptionGroup var common: CommonOptions

        func run() async throws {
            let settings = try Settings.load()
            let known = try Services.known(service, settings)
            let values = try ServiceChoice.values(set, tenant: nil, table: settings.service(service))
            let missing = known.missing(in: values)
            guard missing.isEmpty else {
                let names = missing.map { "“\($0.name)”" }.joined(separator: ", ")
                let pairs = (set + missing.map { "\($0.name)=\($0.example)" })
                    .map { " --set \(KnownAccount.shellWord($0))" }.joined()
                let origin = baseURL.map { " --base-url \(KnownAccount.shellWord($0))" } ?? ""
                throw CommandError.usage(
                    "\(known.title) needs \(missing.count == 1 ? "a value" : "values") for \(names): "
                        + "handshake services check \(service)\(pairs)\(origin)")
            }
            let base = try baseURL.map { try StatedValue(value: $0, name: "--base-url").base() }
            let compared = try await known.comparison(
                values, at: base, security: Services.security(of: settings.service(service)),
                since: try await signIns(settings))
            report(compared, title: known.title)
            let problems = Self.problems((compared ?? []).filter { $0.outcome == .drifted }, of: known.title)
            guard problems.isEmpty else {
                throw CommandError(
                    status: .serviceError, code: "service_changed", message: problems.joined(separator: "\n"))
            }
        }

        /// What drifted, with what to do: as a sentence each for the description and for the accounts.
        private static func problems(_ drifted: [ServiceComparison], of title: String) -> [String] {
            let named = { (items: [ServiceComparison]) in
                items.map { "“\($0.member)”" }.joined(separator: ", ")
            }
            let (described, signedIn) = (drifted.filter { $0.account == nil }, drifted.filter { $0.account != nil })
            var problems: [String] = []
            if !described.isEmpty {
                problems.append(
                    "\(title) publishes other values than this version knows: \(named(described)). If its own documentation "
                        + "agrees, describe the service whole in config.toml, with issuer or with authorize-url and token-url."
                )
            }
            if !signedIn.isEmpty {
                problems.append(
                    "\(title) has changed since accounts signed in: \(named(signedIn)). If its own documentation confirms this, "
                        + "sign in again.")
            }
            return problems
        }

        /// What the servers of the vault's accounts published at their sign-ins. An account that cannot be read is named as a note.
        private func signIns(_ settings: Settings) async throws -> [SignedInServer] {
            var signIns: [SignedInServer] = []
            do {
                let vault = try await common.existingVault(settings)
                for name in try await Registrations(in: vault).names().names {
                    if let signIn = try await signIn(of: name, in: vault) { signIns.append(signIn) }
                }
            } catch let error as CancellationError {
                throw error
            } catch {
                Self.note("The accounts in the vault were not compared", error)
            }
            return signIns
        }

        /// The sign-in of an account of the service; nil for another one, and for one that cannot be read.
        private func signIn(of name: String, in vault: any Vault) async throws -> SignedInServer? {
            do {
                let known = try await KnownAccount.find(name, in: vault)
                guard known.client.service.name == service, let server = known.account.status.server else { return nil }
                return SignedInServer(
                    account: name, server: server, presentsCertificate: known.client.certificate != nil)
            } catch let error as CommandError where error.status == .signInNeeded {
                return nil
            } catch HandshakeError.vault(let error) {
                Self.note("“\(quoted(name, limit: 200))” was not compared", error)
                return nil
            }
        }

        private static func note(_ problem: String, _ error: any Error) {
            Output.note("\(problem): \(Failure.report(of: error)?.message ?? "\(error)")")
        }

        private func report(_ compared: [ServiceComparison]?, title: String) {
            let all = compared ?? []
            if common.json {
                func members(_ isListed: (ServiceComparison.Outcome) -> Bool) -> JSONText {
                    .array(
                        all.filter { isListed($0.outcome) }.map { item -> JSONText in
                            var members: [(String, JSONText)] = [
                                ("member", .string(item.member)), ("known", .optional(item.described)),
                                ("published", .optional(item.published)),
                            ]
                            if let account = item.account { members.append(("account", .string(account))) }
                            return JSONText.object(members)
                        })
                }
                return Output.result(
                    JSONText.object([
                        ("publishes", .bool(compared != nil)), ("differences", members { $0 == .drifted }),
                        ("unpublished", members { $0 == .unpublished }),
                        ("undescribed", members { $0 == .undescribed }),
                        ("same", members { $0 == .same }),
                    ]).text)
            }
            guard compared != nil else {
                return Output.note("\(title) is not known to publish metadata. There is nothing to compare.")
            }
            for item in all.filter({ $0.outcome == .drifted }) + all.filter({ $0.outcome != .drifted }) {
                if let sentence = ServiceSentence(comparison: item).text { Output.result(sentence) }
            }
            let same = all.filter { $0.outcome == .same }.map(\.member)
            Output.note("\(title) publishes as known: \(same.joined(separator: ", ")).")
        }
    }

    /// The description of a service: the user's own before a built-in one.
    static func known(_ name: String, _ settings: Settings) throws -> BuiltInService {
        let table = settings.service(name)
        if table.issuer != nil || table.tokenURL != nil {
            let facts = table.description(issuer: table.issuer, authorize: table.authorizeURL, token: table.tokenURL)
            return BuiltInService(name: name, facts: facts)
        }
        if let service = Service.builtIn.first(where: { $0.name == name }) {
            return BuiltInService(name: name, facts: facts(of: service))
        }
        guard let known = BuiltInService.named(name) else {
            throw CommandError.usage(
                "There is no service “\(quoted(name, limit: 80))”. \(NearestName.question(name, among: names(settings)))"
                    + "List them with: handshake services")
        }
        return known
    }

    /// What is known of a service, as `services show` prints it.
    static func shown(_ name: String, _ settings: Settings) throws -> JSONObject {
        let known = try known(name, settings)
        var facts = known.facts
        facts["name"] = .string(known.name)
        if known.unsupportedReason == nil {
            facts["authentication_methods"] = .array(authenticationMethods(known).map { .string($0) })
        }
        return facts
    }

    /// Which addresses a description may have: those that `login` takes.
    private static func security(of table: Settings.ServiceSettings) -> TransportSecurity {
        ServiceChoice.security(for: table.tokenURL ?? table.issuer)
    }

    /// The services that the settings describe.
    private static func own(_ settings: Settings) -> [String: Settings.ServiceSettings] {
        (settings.file.services ?? [:]).filter { $0.value.issuer != nil || $0.value.tokenURL != nil }
    }

    /// The names of all services that can be signed in to.
    static func names(_ settings: Settings) -> [String] {
        Service.builtIn.map(\.name) + BuiltInService.all.filter { $0.unsupportedReason == nil }.map(\.name)
            + own(settings).keys
    }

    /// The members of a service that a library of this package describes.
    private static func facts(of service: Service) -> JSONObject {
        var facts = JSONObject()
        facts["title"] = .string(service.displayName)
        if case .described(let server) = service.authorizationServer {
            facts["authorize_url"] = server.authorizationEndpoint.map { .string($0.string) }
            facts["token_url"] = .string(server.tokenEndpoint.string)
            facts["revocation_url"] = server.revocationEndpoint.map { .string($0.string) }
        }
        facts["userinfo_url"] = service.identityEndpoint.map { .string($0.url.string) }
        facts["subject_pointer"] = service.identityEndpoint.map { .string("/" + $0.subjectMember) }
        facts["api_origins"] = .array(service.apiRoot.map { [.string($0.origin.description)] } ?? [])
        if !service.defaultScopes.isEmpty {
            facts["default_scopes"] = .array(service.defaultScopes.map { .string($0) })
        }
        facts["scope_delimiter"] = .string(service.deviations.scopeDelimiter)
        return facts
    }

    /// How a client authenticates at a service, in the words of `login --auth`.
    private static func authenticationMethods(_ service: BuiltInService) -> [String] {
        let open = service.facts["public_clients"]?.bool == true ? ["none"] : []
        if service.facts["signed_client_secret"] != nil { return open + ["private-key-jwt"] }
        switch service.facts["client_authentication"]?.string {
        case "basic": return open + ["basic"]
        case "post": return open + ["post"]
        case "private_key_jwt": return open + ["private-key-jwt"]
        case "client_secret_jwt": return open + ["client-secret-jwt"]
        // The server's metadata says it, which this command does not ask for.
        case nil where service.facts["discovers"]?.bool == true:
            return ["none", "basic", "post", "private-key-jwt", "client-secret-jwt"]
        default: return open + ["basic", "post"]
        }
    }

    private static func plain(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let elements): elements.map { plain($0) }.joined(separator: " ")
        default: JSONText(value).text
        }
    }
}
#endif
