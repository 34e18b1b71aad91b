import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import OAuth
import PostgresVault

/// A server whose users connect their accounts at the Recurse Center, before and after these move from files to PostgreSQL.
///
/// `Tests/check-database-command` runs it against the sandbox, and moves the accounts as the README says. It prints a line when it listens.
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

        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { _ in FileHandle.standardOutput.write(Data("listening\n".utf8)) })
        try await application.runService()
        await handshake.finishRefreshes()
    }
}
