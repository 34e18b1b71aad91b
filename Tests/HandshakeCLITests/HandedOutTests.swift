import Foundation
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
            #expect(identity.ending == .status(3))
            #expect(identity.stdout.isEmpty)
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

        @Test("a check of a service without known metadata says so")
        func check() async throws {
            let done = try await Command().run("services", "check", "github", "--json")
            #expect(done.ending == .status(0))
            #expect(try Self.object(done.stdout)["publishes"] as? Bool == false)
        }
    }
}
