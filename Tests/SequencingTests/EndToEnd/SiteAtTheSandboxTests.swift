import Foundation
import Handshake
import OAuth
import Sandbox
import Sequencing
import Synchronization
import TestFixtures
import Testing

@Suite("Accounts, imports, Connect-To, beacons and report files at the sandbox", .heavy)
struct SiteAtTheSandboxTests {
    @Test("B03, B04, B05, W12: registering and resetting, by the client's identifier")
    func registration() async throws {
        let town = try await Town()
        let client = try #require(town.sandbox.sequencing.clients.first { $0.kind == .public })
        let registration = Registration(.identifier(client.id), at: town.hosts)
        let new = try Sequencing.EmailAddress("new.person@example.test")
        #expect(try await registration.register(new) == .mailSent)
        #expect(
            try await registration.register(new)
                == .refused(code: 101, messages: ["That address is already registered."]))
        #expect(try await registration.resetPassword(new) == .mailSent)
        let unknown = try await registration.resetPassword(try Sequencing.EmailAddress("stranger@example.test"))
        #expect(unknown == .refused(code: 103, messages: ["There is no account with that address."]))
        let stranger = Registration(.identifier("unknown app"), at: town.hosts)
        guard case .refused(104, _) = try await stranger.register(new) else {
            Issue.record("an unknown client was accepted")
            return
        }
        await town.sandbox.stop()
    }

    @Test("B03: an old server takes the secret in the identifier's place")
    func legacySecret() async throws {
        let town = try await Town()
        let secret = try #require(town.sandbox.sequencing.clients.compactMap(\.secret).first)
        let registration = Registration(.legacySecret(Secret(secret)), at: town.hosts)
        #expect(try await registration.register(try Sequencing.EmailAddress("old.way@example.test")) == .mailSent)
        await town.sandbox.stop()
    }

    @Test("A13: a registration and an import say nothing of any client's secret")
    func noSecret() async throws {
        let town = try await Town(logsWholeRequests: true)
        _ = try await Registration(.identifier(town.client.id), at: town.hosts)
            .register(try Sequencing.EmailAddress("new.person@example.test"))
        _ = try await ThirdPartyImport(town.genome).from23andMe(try credentials("started@example.test"))
        let requests = town.sandbox.requests(.sequencing)
        #expect(requests.map(\.path) == ["/indexApi.php", "/23andMe/Download"])
        let secrets = town.sandbox.sequencing.clients.compactMap(\.secret)
        #expect(!secrets.isEmpty)
        for request in requests {
            #expect(!(request.queryParameterNames + request.formParameterNames).contains("client_secret"))
            let whole = try #require(request.whole)
            let text = "\(whole.target) \(whole.headers) \(String(decoding: whole.body, as: UTF8.self))"
            for secret in secrets { #expect(!text.contains(secret), "\(request.path)") }
        }
        await town.sandbox.stop()
    }

    @Test("W34: the length of a request is counted in bytes, whatever the characters", arguments: ["Zoë", "日本語", "🧬"])
    func length(_ login: String) async throws {
        let town = try await Town(logsWholeRequests: true)
        #expect(
            try await ThirdPartyImport(town.genome).from23andMe(try credentials(login)) == .ended(.badCredentials))
        let whole = try #require(town.sandbox.requests(.sequencing).last?.whole)
        let content = #"{"Login":"\#(login)","Password":"x"}"#
        #expect(String(decoding: whole.body, as: UTF8.self) == content)
        #expect(content.utf8.count != content.utf16.count)
        #expect(whole.headers["content-length"] == ["\(content.utf8.count)"])
        await town.sandbox.stop()
    }

    private func credentials(_ login: String) throws -> ThirdPartyImport.Credentials {
        try ThirdPartyImport.Credentials(login: login, password: Secret("x"))
    }

    @Test("C01, C02, C07, W40: 23andMe with a security question, until its own file is in the list")
    func twentyThreeAndMe() async throws {
        let (town, vault) = (try await Town(), MemoryVault())
        let imports = ThirdPartyImport(town.genome)
        let unfinished = UnfinishedImports(of: town.genome, in: vault)
        let answer = try await unfinished.noting(.twentyThreeAndMe, login: "ada@example.test") {
            try await imports.from23andMe(try credentials("ada@example.test"))
        }
        guard case (.question(let question), nil) = answer else {
            Issue.record("no question")
            return
        }
        #expect(question.text == "First pet?")
        guard case .linkMailed(let session) = try await imports.authorizeAncestry(try credentials("started")) else {
            Issue.record("no session")
            return
        }
        let ancestry = try await unfinished.noting(.ancestry, login: "started") {
            try await imports.download("https://dna.example.test/1", in: session)
        }
        #expect(ancestry.outcome == .started)
        town.sandbox.advanceClock(by: 20)
        let own = try await unfinished.noting(.twentyThreeAndMe, login: "ada@example.test") {
            try await imports.answer("Turing", to: question)
        }
        #expect(own.outcome == .started)
        let (own23, ownAncestry) = (try #require(own.started), try #require(ancestry.started))
        town.sandbox.advanceClock(by: 15)
        // The file of the other third party does not end the wait.
        #expect(try await unfinished.arrival(of: own23) == .late(candidates: []))
        town.sandbox.advanceClock(by: 20)
        #expect(name(try await unfinished.arrival(of: own23)) == "23andme_ada.txt")
        #expect(name(try await unfinished.arrival(of: ownAncestry)) == "ancestry_started.txt")
        #expect(try await unfinished.all.isEmpty)
        await town.sandbox.stop()
    }

    @Test("C07, W40: two imports of one source that end in the other order find their own files, in other processes")
    func otherOrder() async throws {
        let (town, vault) = (try await Town(), MemoryVault())
        let imports = ThirdPartyImport(town.genome)
        for login in ["slow@example.test", "started@example.test"] {
            let (answer, started) = try await UnfinishedImports(of: town.genome, in: vault)
                .noting(.twentyThreeAndMe, login: login) { try await imports.from23andMe(try credentials(login)) }
            #expect(answer == .ended(.started) && started != nil)
        }
        // Each process reads the list that the others wrote.
        func arrival(_ place: Int) async throws -> ImportArrival {
            let unfinished = UnfinishedImports(of: Sequencing(town.account, clock: HurriedClock()), in: vault)
            return try await unfinished.arrival(of: try #require(noted.count > place ? noted[place] : nil))
        }
        let noted = try await UnfinishedImports(of: town.genome, in: vault).all
        #expect(noted.count == 2)
        town.sandbox.advanceClock(by: 31)
        #expect(try await arrival(0) == .late(candidates: []), "its file has not come")
        #expect(name(try await arrival(1)) == "23andme_started.txt")
        town.sandbox.advanceClock(by: 60)
        #expect(name(try await arrival(0)) == "23andme_slow.txt")
        #expect(try await vault.keys(of: .imports).keys.isEmpty)
        await town.sandbox.stop()
    }

    private func name(_ arrival: ImportArrival) -> String? {
        if case .file(let file) = arrival { file.name } else { nil }
    }

    @Test(
        "C04: every other outcome of 23andMe",
        arguments: [
            ("wrong", "badCredentials"), ("broken", "serverError(code: 3)"), ("text", "malformed_answer"),
            ("missing", "malformed_answer"), ("nosession", "malformed_answer"),
        ])
    func outcomes(_ login: String, _ expected: String) async throws {
        let town = try await Town()
        let imports = ThirdPartyImport(town.genome)
        var found = ""
        do {
            if case .ended(let outcome) = try await imports.from23andMe(try credentials(login)) { found = "\(outcome)" }
        } catch let error as SequencingError {
            found = error.code
        }
        #expect(found == expected)
        await town.sandbox.stop()
    }

    @Test("C03: Ancestry by the link from its mail")
    func ancestry() async throws {
        let town = try await Town()
        let imports = ThirdPartyImport(town.genome)
        guard case .linkMailed(let session) = try await imports.authorizeAncestry(try credentials("started")) else {
            Issue.record("no session")
            return
        }
        #expect(try await imports.download("https://dna.example.test/1", in: session) == .started)
        #expect(try await imports.authorizeAncestry(try credentials("wrong")) == .ended(.badCredentials))
        await town.sandbox.stop()
    }

    @Test("C06, C07: a Connect-To link brings the file into the account, and one of a stranger is refused")
    func connect() async throws {
        let town = try await Town()
        let known = Set(try await town.genome.files().map(\.id))
        let request = try ConnectRequest(
            email: Sequencing.EmailAddress("ada@example.test"),
            files: [.init(name: "ada & co.vcf.gz", url: "https://files.example.test/ada.vcf.gz")])
        let secret = try #require(town.sandbox.sequencing.clients.compactMap(\.secret).first)
        let link = try LegacyConnectCodec(secret: Secret(secret)).link(request, at: town.hosts)
        #expect(try await ConnectDelivery().deliver(link) == .accepted)
        town.sandbox.advanceClock(by: 60)
        #expect(try await town.genome.newFiles(besides: known).map(\.name) == ["ada & co.vcf.gz"])
        let strange = try LegacyConnectCodec(secret: Secret("another app's")).link(request, at: town.hosts)
        #expect(try await ConnectDelivery().deliver(strange) == .refused(status: 400))
        await town.sandbox.stop()
    }

    @Test("E09: beacons without an account", arguments: GeneticBeacons.Network.allCases)
    func beacons(_ network: GeneticBeacons.Network) async throws {
        let sandbox = try await Sandbox.start()
        let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
        let answer = try await GeneticBeacons(at: Sequencing.Hosts(allAt: origin))
            .ask(network, for: .init(chromosome: 1, position: 2, allele: "A"))
        #expect(answer.exists != nil)
        await sandbox.stop()
    }

    @Test("E06: a report file of 8 MiB comes in pieces, and a transfer that breaks off leaves nothing")
    func pieces() async throws {
        let town = try await Town()
        let file = try #require(FileID("910001"))
        let large = try #require(try await town.genome.report(AppCode(930), on: file).files.first?.id)
        // The sandbox names a generated file by its length in KiB above a base.
        let id = ReportFileID(large.number - (192 << 10))
        let longest = Mutex(0)
        let count = Mutex(0)
        try await town.genome.stream(id) { piece, _ in
            longest.withLock { $0 = max($0, piece.count) }
            count.withLock { $0 += piece.count }
        }
        #expect(count.withLock { $0 } == 8 << 20)
        #expect(longest.withLock { $0 } < 2 << 20)
        try town.inject("sequencing /v2/GetReportFile => cut 100000")
        let folder = try TemporaryFolder()
        let path = folder.path + "/broken.pdf"
        #expect(await sequencingError { try await town.genome.save(id, to: path) }?.code == "connection_cut")
        #expect(!FileManager.default.fileExists(atPath: path))
        await town.sandbox.stop()
    }

    @Test("A14: an account without the scope external is told what it lacks, or sees samples alone")
    func narrowScope() async throws {
        let town = try await Town(scopes: ["demo"])
        let samples = try await town.genome.files(.sample)
        #expect(samples.count == 10)
        let file = try #require(samples.first)
        #expect(try await town.genome.answer(.melanoma, on: file.id) == .moderate)
        #expect(
            await sequencingError { try await town.genome.files(.uploaded) }
                == .account(.demanded(.scopes(["external"]), status: 403)))
        await town.sandbox.stop()
    }
}
