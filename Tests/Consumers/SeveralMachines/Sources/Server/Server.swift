import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import OAuth
import PostgresVault
import ServiceLifecycle

/// A server whose users connect their accounts at the Recurse Center, before and after these move from files to PostgreSQL.
///
/// `Tests/check-database-command` runs it against the sandbox, and moves the accounts as `Documentation/SeveralMachines.md` says. It prints a line when it listens.
@main
struct Server {
    private struct Profile: Decodable {
        let name: String
    }

    private static func setting(_ name: String) -> String { ProcessInfo.processInfo.environment[name] ?? "" }

    /// Files for one machine, or the database that several share.
    private static func vault() async throws -> any Vault {
        setting("DATABASE").isEmpty
            ? try FileVault(directory: setting("VAULT"), keyFile: setting("KEY_FILE"))
            : try await PostgresVault.open(setting("DATABASE"), keyFolder: setting("KEY_FOLDER"))
    }

    static func main() async throws {
        let port = Int(setting("PORT")) ?? 8_090
        let address = try PublicAddress("http://127.0.0.1:\(port)/connect")
        let redirect = try RedirectURI("\(address)/recurse-center/callback")
        let sandbox = try EndpointURL(setting("SANDBOX"), security: .allowingInsecureLoopback)
        let client = Client.confidential(
            service: .recurseCenter.at(sandbox), id: "recurse-app", secret: Secret("recurse-app-secret"),
            redirect: .uri(redirect))
        let handshake = try Handshake(client, vault: await vault())

        let router = Router()
        let routes = try SignInRoutes<BasicRequestContext>(handshake, at: address) { request, _ in
            request.cookies["session"]?.value
        }
        routes.add(to: router.group("connect"))
        router.get("name") { request, _ -> String in
            guard let user = request.cookies["session"]?.value, let account = try await handshake.account(user) else {
                throw HTTPError(.notFound)
            }
            let profile: Profile = try await account.send(.get, "profiles/me")
            return profile.name
        }

        // For your own network, not for the public.
        let health = try HealthRoutes<BasicRequestContext>(handshake)
        health.add(to: router)

        var app = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { _ in FileHandle.standardOutput.write(Data("listening\n".utf8)) })
        app.addServices(HandshakeService(handshake))  // a graceful shutdown finishes refreshes
        let keeper = KeeperService(Keeper(handshake))
        let group = ServiceGroup(
            services: [app, keeper, health], gracefulShutdownSignals: [.sigterm, .sigint], logger: app.logger)
        try await group.run()
    }
}
