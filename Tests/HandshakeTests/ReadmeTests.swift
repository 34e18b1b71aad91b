import Beacons
import Foundation
import HTTPTypes
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import Nearby
import OAuth
import Radio
import RecurseCenter
import Sandbox
import Testing

/// The README's code, compiled: a block that is not here, line for line, is an error.
private enum ReadmeExamples {
    static func app(folder: String) async throws {
        let client = Client(service: .recurseCenter, id: "your-client-id")
        let vault = try FileVault(directory: folder + "/vault", keyFile: folder + "/vault.key")
        let handshake = try Handshake(client, vault: vault)

        let account = try await handshake.signIn(through: .systemBrowser)  // later: handshake.account()
        let response = try await account.send(.get, "profiles/me")
        _ = response
    }

    static func recurseCenter(_ account: Account) async throws {
        let center = RecurseCenter(account)
        let me = try await center.profile(.me)
        for try await person in center.search(ProfileSearch("ada", scope: .current)) {
            print(person.name, person.batchLabel)
        }
        try await center.checkIn(me.id, notes: "at the window")  // today in New York, once however often it is said
    }

    static func anyServer() throws -> Client {
        let issuer = try Issuer("https://login.example.com")
        let service = try Service(name: "example", authorizationServer: .discovered(issuer, security: .httpsOnly))
        let client = Client(service: service, id: "your-client-id", scopes: ["openid", "offline_access"])
        return client
    }

    static func connect(_ handshake: Handshake, _ browser: LoopbackBrowser) throws -> ConnectController {
        let connection = try ConnectionID("aB3dE5fG")
        let configuration = ConnectActivation.Configuration(connection, returningTo: browser.returnAddress)
        let surroundings = ConnectSurroundings(browser: browser)
        let controller = ConnectController(
            ConnectActivation(configuration), tokens: UserTokens(in: handshake), surroundings: surroundings)
        return controller
    }

    static func nearby(
        _ radio: some Radio, _ vault: any Vault, own: UserNumber, alerts: any Alerts,
        introduce: @escaping PeopleNearby.WhoIs
    ) async throws {
        let packets = radio.scan().advertisements()
        let start = ContinuousClock.now
        let sightings = SightingLists(of: RangingUpdates(of: packets), recognition: Recognition()) { _ in
            ContinuousClock.now - start
        }
        let log = EncounterLog(in: vault, community: "recurse-center")
        let people = PeopleNearby(log: log, ignoring: own, alerts: alerts) { await introduce($0) }
        try await people.run(on: sightings) { print($0) }
    }

    static func server(_ handshake: Handshake, userID: String, requestURL: String) async throws -> Account {
        let begun = try await handshake.beginSignIn(as: userID)
        // Send the user's browser to begun.page.url; then, in the route of your redirect URI, in any process:
        let account = try await handshake.finishSignIn(redirectURL: requestURL, as: userID)
        _ = begun
        return account
    }

    static func buttons(
        _ handshake: Handshake, _ vault: any Vault, _ router: Router<BasicRequestContext>, at address: PublicAddress,
        _ connection: ConnectionID, signedInUser: @escaping @Sendable (Request) async throws -> ConnectButtonUser?
    ) throws {
        let settings = try ConnectButtonSettings(at: address, offering: [ConnectButtonOffer(connection)])
        let buttons = try ConnectButtonRoutes<BasicRequestContext>(settings, accounts: handshake) {
            request, _ in
            try await signedInUser(request)
        }
        buttons.add(to: router.group("connect"))
    }

    static func sandbox(authorizationURL: String) async throws -> String {
        let sandbox = try await Sandbox.start()
        sandbox.inject(try FaultRule(parsing: "recurse-center POST /oauth/token => status 503 x1"))
        let redirect = try await sandbox.approve(authorizationURL)
        return redirect
    }
}

@Suite("The README")
struct ReadmeTests {
    @Test("shows only code that compiles")
    func examples() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let compiled = Set(try lines(of: here).map { $0.trimmingCharacters(in: .whitespaces) })
        let blocks = try lines(of: root.appending(path: "README.md")).split { $0.hasPrefix("```") && $0 != "```swift" }
            .compactMap { part in part.firstIndex(of: "```swift").map { part[part.index(after: $0)...] } }
        #expect(blocks.count == 8)
        for line in blocks.joined() where !line.isEmpty {
            #expect(compiled.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
        }
    }

    @Test("and the table of security rows name only tests that exist")
    func rows() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = FileManager.default.enumerator(atPath: tests.path)?.compactMap { $0 as? String } ?? []
        let sources = try files.filter { $0.hasSuffix(".swift") || $0.hasSuffix(".py") }
            .map { try String(contentsOf: tests.appending(path: $0), encoding: .utf8) }.joined()
        let table = try String(contentsOf: tests.appending(path: "ROWS.md"), encoding: .utf8)
        let names = table.matches(of: /“([^”]+(?:“[^”]*”[^”]*)?)”|`(test_\w+)`/).map { String($0.1 ?? $0.2 ?? "") }
        #expect(names.count > 100)
        for name in names { #expect(sources.contains(name), "\(name)") }
    }

    private func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
    }
}
