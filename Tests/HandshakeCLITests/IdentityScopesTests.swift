import Foundation
import OAuth
import TestFixtures
import Testing

@testable import HandshakeCLI

extension CommandTests {
    @Suite("What a sign-in asks of a server of the user's own, where nothing says it")
    struct IdentityScopesTests {
        private static func server(_ scopes: [String]?) throws -> AuthorizationServerMetadata {
            var server = AuthorizationServerMetadata(
                issuer: try Issuer("https://id.example"), tokenEndpoint: try EndpointURL("https://id.example/token"))
            server.scopes = scopes
            return server
        }

        @Test("A9: openid is asked for where the server lists it, with what it lists of profile and offline_access")
        func offered() throws {
            func offered(_ listed: [String]?, _ registered: [String]? = nil) throws -> [String] {
                IdentityScopes.offered(by: try Self.server(listed), registered: registered)
            }
            #expect(
                try offered(["email", "offline_access", "profile", "openid"]) == [
                    "openid", "profile", "offline_access",
                ])
            #expect(try offered(["api", "openid"]) == ["openid"])
            for listed in [nil, [], ["profile", "offline_access"]] as [[String]?] {
                #expect(try offered(listed) == [], "without openid there is nothing to ask")
            }
            let all = ["openid", "profile", "offline_access"]
            #expect(try offered(all, ["openid", "api"]) == ["openid"], "more is not registered")
            #expect(try offered(all, ["profile"]) == ["openid", "profile"], "openid needs no registration")
        }

        /// The parameters of the address that a sign-in prints.
        private func query(_ command: Command, _ options: [String]) async throws -> [String: String] {
            let running = try command.start(
                ["login", "mine", "--par", "never", "--browser", "print"] + options)
            let line = try #require(await running.line())
            return URLComponents(string: line)?.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
        }

        @Test(
            "A9: a sign-in at an issuer is one of OpenID Connect, with a client of the user's and with a registered one"
        )
        func issuer() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let issuer = ["--issuer", try sandbox.origin("standard")]
            for client in [["--client-id", "sandbox-public"], []] {
                let options = issuer + client
                let asked = try await query(command, options)
                #expect(asked["scope"] == "openid profile offline_access", "\(client): \(asked)")
                #expect(asked["nonce"] != nil, "\(client): \(asked)")
                // Offline access is given with consent only (OpenID Connect Core, section 11).
                #expect(asked["prompt"] == "consent", "\(client): \(asked)")
                let own = try await query(command, options + ["--param", "prompt=login"])
                #expect(own["prompt"] == "login", "\(client): \(own)")
                for (scope, sent) in [("api", "api"), ("", nil)] as [(String, String?)] {
                    let stated = try await query(command, options + ["--scope", scope])
                    #expect(stated["scope"] == sent && stated["nonce"] == nil, "\(client): \(stated)")
                    #expect(stated["prompt"] == nil, "\(client): \(stated)")
                }
            }
        }

        @Test("a setting says what is asked for, also nothing, and a client without a user is not asked who it is")
        func otherwise() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let issuer = ["--issuer", try sandbox.origin("standard")]
            for (setting, sent) in [("[\"api\"]", "api"), ("[]", nil)] as [(String, String?)] {
                _ = try command.file("home/config.toml", "[services.mine]\nscope = \(setting)\n")
                let asked = try await query(command, issuer + ["--client-id", "sandbox-public"])
                #expect(asked["scope"] == sent && asked["nonce"] == nil, "\(asked)")
            }
            let secret = try command.file("secret", "sandbox-dpop-secret-secret")
            let robot = try await command.start(
                [
                    "login", "robot", "--grant", "client-credentials", "--client-id", "sandbox-dpop-secret",
                    "--client-secret-file", secret, "--dpop", "--json",
                ] + issuer
            ).finish()
            #expect(robot.ending == .status(0), "\(robot)")
        }
    }
}
