import Foundation
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import HandshakeCLI

extension CommandTests {
    @Suite("Services and tokens for other programs")
    struct HandedOutTests {
        private static func object(_ text: String) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }

        @Test("headers go to the service's own origin, and to no other")
        func headers() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            #expect(try await command.signIn(at: sandbox).ending == .status(0))
            let own = try sandbox.origin("recurse-center") + "/api/v1/profiles/me"
            let line = "Authorization: Bearer \(SandboxProcess.personalToken)"
            let plain = try await command.run("headers", "recurse-center", "--for", own)
            #expect(plain.stdout.trimmingCharacters(in: .newlines) == line)
            let json = try await command.run("headers", "recurse-center", "--format", "json")
            #expect(try Self.object(json.stdout)["Authorization"] as? String == String(line.dropFirst(15)))
            let foreign = try await command.run("headers", "recurse-center", "--for", "https://evil.example/")
            #expect(foreign.ending == .status(5))
            #expect(foreign.stdout.isEmpty)
            #expect(!foreign.stderr.contains(SandboxProcess.personalToken))
            let identity = try await command.run("token", "recurse-center", "--kind", "id")
            #expect(identity.ending == .status(64))
            #expect(identity.stdout.isEmpty)
            #expect(identity.stderr.contains("Recurse Center gives none that can be checked."), "\(identity)")
        }

        @Test("RC-14: the number that `search --location` takes is listed by the beginning of a place's name")
        func locations() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            #expect(try await command.signIn(at: sandbox).ending == .status(0))
            let found = try await command.run("recurse-center", "locations", "göte", "--json")
            let places = try #require(try Self.object(found.stdout)["locations"] as? [[String: Any]])
            #expect(places.compactMap { $0["name"] as? String } == ["Göteborg, Sweden"])
            #expect(places.compactMap { $0["id"] as? Int } == [2_711_537])
            let listed = try await command.run("recurse-center", "locations", "New", "--limit", "50")
            #expect(listed.stdout.contains("900001") && listed.stdout.hasPrefix("NUMBER"))
            let none = try await command.run("recurse-center", "locations", "Atlantis")
            #expect(none.ending == .status(0) && none.stdout.isEmpty)
        }

        @Test("without an account there is one line and status 3")
        func absent() async throws {
            let done = try await Command().run("headers", "absent")
            #expect(done.ending == .status(3))
            #expect(done.stdout.isEmpty)
            #expect(done.stderr.split(separator: "\n").count == 1)
        }

        /// An account of this name, as commands know it.
        private static func known(
            _ name: String, identity: IDTokenClaims? = nil, deviations: Service.Deviations = Service.Deviations(),
            parameters: [String: String] = [:], demandsContext: Bool = false
        ) async throws -> KnownAccount {
            let server = AuthorizationServerMetadata(
                issuer: try Issuer("https://op.example"), tokenEndpoint: try EndpointURL("https://op.example/token"))
            let service = try Service(name: "bank", authorizationServer: .described(server), deviations: deviations)
            var client = Client(service: service, id: "app", parameters: parameters)
            client.options.requiresAuthenticationContext = demandsContext
            let handshake = try Handshake(client, vault: MemoryVault())
            let grant = Grant(
                accessToken: Secret("token"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: [],
                identity: identity)
            let account = try await handshake.adopt(grant, as: name)
            return KnownAccount(account: account, client: client, handshake: handshake)
        }

        @Test("M213: the command for what an API demands refuses a sign-in in another context than those of the demand")
        func demandedContext() async throws {
            let claims: JSONObject = [
                "iss": .string("https://op.example"), "sub": .string("alice"), "aud": .string("app"),
                "iat": .number("1"), "exp": .number("600"),
            ]
            let known = try await Self.known("bank", identity: try IDTokenClaims(claims: claims))
            let gold = try Self.advice(known, for: ["gold"])
            #expect(gold.hasSuffix(" login bank --param acr_values=gold --param max_age=60 --require-acr"), "\(gold)")
            let aged = try Self.advice(known, for: [])
            #expect(aged.hasSuffix(" login bank --param max_age=60"), "\(aged)")
        }

        /// What is said of an API that demands one of these contexts, and a sign-in that is at most this many seconds old.
        private static func advice(_ known: KnownAccount, for contexts: [String], age: Int? = 60) throws -> String {
            let demand = ResourceDemand.stepUp(acrValues: contexts, maximumAge: age)
            let error = known.advised(HandshakeError.demanded(demand, status: 401))
            return try #require(error as? CommandError).message
        }

        @Test("M213: without an ID token the command for what an API demands asks for it, and leaves the API to judge")
        func judgedDemand() async throws {
            let known = try await Self.known("bank", parameters: ["max_age": "600", "ui_locales": "de"])
            let gold = try Self.advice(known, for: ["gold"])
            #expect(
                gold.hasSuffix(" login bank --param ui_locales=de --param acr_values=gold --param prompt=login"),
                "\(gold)")
            let aged = try Self.advice(known, for: [])
            #expect(aged.hasSuffix(" login bank --param ui_locales=de --param prompt=login"), "\(aged)")
            // A limit that is kept would be refused too, and so would a context that the account demands.
            let kept = try Self.advice(known, for: ["gold"], age: nil)
            #expect(kept.hasSuffix(" login bank --param ui_locales=de --param acr_values=gold"), "\(kept)")
            let demanding = try Self.advice(try await Self.known("bank", demandsContext: true), for: ["gold"], age: nil)
            #expect(demanding.hasSuffix(" login bank --param acr_values=gold --no-require-acr"), "\(demanding)")
            // A parameter that the service sets itself is refused where it is stated.
            var deviations = Service.Deviations()
            deviations.authorizationParameters = ["prompt": "consent"]
            let fixed = try Self.advice(try await Self.known("bank", deviations: deviations), for: ["gold"])
            #expect(fixed.hasSuffix(" login bank --param acr_values=gold"), "\(fixed)")
        }

        @Test("M213: the command that asks for a new authentication without an ID token keeps the consent page")
        func judgedConsent() async throws {
            var deviations = Service.Deviations()
            deviations.offlineParameters = ["prompt": "consent"]
            for known in [
                try await Self.known("bank", deviations: deviations),
                try await Self.known("bank", parameters: ["prompt": "select_account consent"]),
            ] {
                let aged = try Self.advice(known, for: [])
                #expect(aged.hasSuffix(" login bank --param 'prompt=login consent'"), "\(aged)")
            }
        }

        @Test("whatever a sign-in is required for is said in one line, with a name that a shell takes as it is")
        func reasons() async throws {
            let known = try await Self.known("ada;x")
            let reasons: [HandshakeError.SignInReason] = [
                .absent, .refreshRejected, .answerLost, .notRefreshable, .keyLost, .certificateChanged, .notBound,
                .stillUnauthorized, .signingOut, .loggedOut,
            ]
            for reason in reasons {
                let error = known.advised(HandshakeError.signInRequired(known.account.status.id, reason))
                let advice = try #require(error as? CommandError, "\(reason)")
                #expect(advice.status == .signInNeeded, "\(reason)")
                #expect(!advice.message.contains { $0.isNewline }, "\(reason): \(advice.message)")
                // Nothing follows a command that is copied.
                let command = reason == .signingOut ? "logout 'ada;x'" : "login bank --account 'ada;x'"
                #expect(advice.message.hasSuffix(" with: handshake \(command)"), "\(reason): \(advice.message)")
            }
        }

        @Test("the services are listed and shown, as text and as JSON")
        func services() async throws {
            let command = try Command()
            let list = try await command.run("services", "--json")
            let services = try #require(try Self.object(list.stdout)["services"] as? [[String: Any]])
            #expect(services.count >= 230)
            #expect(services.contains { $0["name"] as? String == "recurse-center" })
            let gitLab = try #require(services.first { $0["name"] as? String == "gitlab-self-managed" })
            #expect(gitLab["placeholders"] as? [String] == ["host"])
            let shown = try await command.run("services", "show", "github", "--json")
            #expect(
                try Self.object(shown.stdout)["token_url"] as? String == "https://github.com/login/oauth/access_token")
            #expect(try await command.run("services", "show", "github").stdout.contains("token_url"))
            #expect(try await command.run("services", "show", "no-such").ending == .status(64))
        }

        @Test("a check of a service that needs values names all of them, and a command that has them")
        func checkWithoutValues() async throws {
            let done = try await Command().run("services", "check", "keycloak", "--set", "realm=staff")
            #expect(done.ending == .status(64))
            #expect(done.stderr.contains("Keycloak needs a value for “host”: "), "\(done)")
            #expect(done.stderr.contains("handshake services check keycloak --set realm=staff --set host="), "\(done)")
        }

        @Test("the command that is printed for a check names the origin that was stated")
        func checkElsewhere() async throws {
            let done = try await Command().run(
                "services", "check", "keycloak", "--set", "realm=staff", "--base-url", "http://127.0.0.1:8080")
            #expect(done.ending == .status(64))
            #expect(done.stderr.contains(" --base-url http://127.0.0.1:8080"), "\(done)")
        }

        @Test("M907: a check names what protected the sign-in of an account and is announced no longer")
        func checkSinceSignIn() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let key = try command.file("key.json", sandbox.clientKey)
            #expect(try await command.signIn(by: "client-credentials", at: sandbox, "--key", key).ending == .status(0))
            let issuer = try sandbox.origin("standard")
            try Data("[services.robot]\nissuer = \"\(issuer)\"\n".utf8).write(
                to: URL(fileURLWithPath: command.home + "/config.toml"))
            let same = try await command.run("services", "check", "robot", "--json")
            #expect(same.ending == .status(0), "\(same)")
            try await sandbox.fault("standard", "/.well-known/* => without dpop_signing_alg_values_supported")
            let done = try await command.run("services", "check", "robot", "--json")
            #expect(done.ending == .status(4) && done.error["code"] as? String == "service_changed", "\(done)")
            let told = try #require(done.json["differences"] as? [[String: Any]])
            #expect(told.map { $0["account"] as? String } == ["robot"])
            #expect(told.map { $0["member"] as? String } == ["DPoP"])
            let shown = try await command.run("services", "check", "robot")
            #expect(
                shown.stdout.contains(
                    "The server no longer announces “DPoP”, as it did when “robot” signed in."), "\(shown)")
        }

        @Test("a check of a service without known metadata says so")
        func check() async throws {
            let done = try await Command().run("services", "check", "github", "--json")
            #expect(done.ending == .status(0))
            #expect(try Self.object(done.stdout)["publishes"] as? Bool == false)
        }
    }
}
