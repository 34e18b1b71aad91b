import Beacons
import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import Nearby
import OAuth
import Positions
import Radio
import RecurseCenter
import Sandbox
import Sequencing
import TestFixtures
import Testing

/// The code of the README and of the pages in `Documentation`, compiled; `CodeTests` compares. That for Apple's platforms is
/// in `Tests/AppleDeclarations`.
private enum ReadmeExamples {
    static func anyServer() throws -> Client {
        let issuer = try Issuer("https://login.example.com")
        let api = try EndpointURL("https://api.example.com/v1")
        let service = try Service(
            name: "example", authorizationServer: .discovered(issuer, security: .httpsOnly), apiRoot: api)
        let client = Client(service: service, id: "your-client-id", scopes: ["openid", "offline_access"])
        return client
    }

    static func places(_ api: ConnectAPI, _ vault: any Vault, _ connection: ConnectionID) async throws {
        let places = PlacesSynchronizer(of: "ada", api: api, vault: vault)
        try await places.follow(GPSD().fixes(), activating: [connection])
    }

    static func server(
        _ router: Router<BasicRequestContext>, secret: Secret, vault: any Vault,
        signedInUser: @escaping @Sendable (Request) async throws -> String?
    ) throws {
        let address = try PublicAddress("https://shop.example/connect")
        let redirect = try RedirectURI("\(address)/recurse-center/callback")
        let client = Client.confidential(
            service: .recurseCenter, id: "your-client-id", secret: secret, redirect: .uri(redirect))
        let handshake = try Handshake(client, vault: vault)

        let routes = try SignInRoutes<BasicRequestContext>(handshake, at: address) { request, _ in
            try await signedInUser(request)
        }
        routes.add(to: router.group("connect"))
    }

    static func recurseCenter(_ account: Account) async throws {
        let center = RecurseCenter(account)
        let me = try await center.profile(.me)
        for try await person in center.search(ProfileSearch("ada", scope: .current)) {
            print(person.name, person.batchLabel)
        }
        try await center.checkIn(me.id, notes: "at the window")  // idempotent: one visit per day (New York time)
    }

    static func sequencing(_ account: Account) async throws {
        let genome = Sequencing(account)
        for file in try await genome.files(.sample) {
            let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: file.id)
            print(file.displayName, risk, vitaminD)
        }
    }

    static func connect(_ handshake: Handshake, _ browser: LoopbackBrowser) throws -> ConnectController {
        let connection = try ConnectionID("aB3dE5fG")
        let configuration = ConnectActivation.Configuration(connection, callback: browser.callbackURL)
        let environment = ConnectEnvironment(browser: browser, tokens: .redirect)
        let controller = ConnectController(
            ConnectActivation(configuration), tokens: UserTokens(in: handshake), environment: environment)
        return controller
    }

    static func nearby(
        _ radio: some Radio, _ vault: any Vault, own: UserNumber, alerts: any Alerts,
        introduce: @escaping PeopleNearby.Lookup
    ) async throws {
        let packets = radio.scan().advertisements()
        let start = ContinuousClock.now
        let sightings = SightingLists(of: RangingUpdates(of: packets), recognition: Recognition()) { _ in
            ContinuousClock.now - start
        }
        let log = EncounterLog(in: vault, community: "recurse-center")
        let people = PeopleNearby(log: log, ignoring: own, alerts: alerts) { await introduce($0, $1) }
        try await people.run(on: sightings) { print($0) }
    }

    static func sandbox(authorizationURL: String) async throws -> String {
        let sandbox = try await Sandbox.start()
        sandbox.inject(try FaultRule(parsing: "recurse-center POST /oauth/token => status 503 x1"))
        let redirect = try await sandbox.approve(authorizationURL)
        return redirect
    }
}

@Suite("The README and its pages")
struct ReadmeTests {
    @Test("are short: the README has at most 200 lines")
    func length() throws {
        let page = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        #expect(page.split(separator: "\n", omittingEmptySubsequences: false).count <= 201)
    }

    @Test("and the package index show every module that has a page")
    func index() throws {
        let index = try String(contentsOf: Repository.root.appending(path: ".spi.yml"), encoding: .utf8)
        let listed = index.matches(of: /(?m)^        - (\w+)$/).map { String($0.1) }
        let catalogues = try Repository.files(below: ["Sources"], ending: ["md"])
            .compactMap { $0.firstMatch(of: /(\w+)\.docc\//).map { String($0.1) } }
        // Their traits are off by default, with which the index builds.
        let databases: Set = ["SQLiteVault", "PostgresVault"]
        #expect(Set(listed) == Set(catalogues).subtracting(databases) && listed.count == Set(listed).count)
    }

    @Test("and the table of security rows name only tests that exist")
    func rows() throws {
        let sources = SearchedText(
            try Repository.files(below: ["Tests"], ending: ["swift", "py"])
                .map { try String(contentsOf: Repository.root.appending(path: $0), encoding: .utf8) }.joined())
        let table = try String(contentsOf: Repository.root.appending(path: "Tests/ROWS.md"), encoding: .utf8)
        let names = table.matches(of: /“([^”]+(?:“[^”]*”[^”]*)?)”|`(test_\w+)`/).map { String($0.1 ?? $0.2 ?? "") }
        #expect(names.count > 100)
        let absent = names.filter { !sources.contains($0) }
        #expect(absent == [])
    }
}
