import Foundation
import Handshake
import MessageFixtures
import OAuth
import Sequencing
import Synchronization
import TestFixtures
import Testing

@Suite("Unfinished imports")
struct UnfinishedImportsTests {
    let service = ScriptedService(["POST /23andMe/Download": [.json(ImportAnswers.started)]])
    let vault = MemoryVault()

    /// Lists files by number from now on: an import's without a name of its own, or with this one.
    func list(_ files: (Int, String)...) {
        let records = files.map { id, name in
            #"{"Id":"\#(id)","Name":"\#(name)","FileCategory":"Uploaded","FileType":"23andMe"}"#
        }
        service.script("GET /DataSourceList", [.json("[\(records.joined(separator: ","))]")])
    }

    func unfinished(_ transport: (any Transport)? = nil) async throws -> UnfinishedImports {
        UnfinishedImports(of: try await service.genome(through: transport), in: vault)
    }

    func start(
        _ unfinished: UnfinishedImports, login: String? = nil, at time: Date = Date()
    ) async throws -> UnfinishedImport {
        let imports = ThirdPartyImport(try await service.genome())
        let noted = try await unfinished.noting(.twentyThreeAndMe, login: login, at: time) {
            try await imports.from23andMe(.init(login: "x", password: Secret("x")))
        }
        return try #require(noted.started)
    }

    /// Notes what a call to the import answers; nil when it throws.
    func outcome(_ unfinished: UnfinishedImports, login: String? = nil) async throws -> ThirdPartyImport.Login? {
        let imports = ThirdPartyImport(try await service.genome())
        do {
            return try await unfinished.noting(.twentyThreeAndMe, login: login) {
                try await imports.from23andMe(.init(login: "x", password: Secret("x")))
            }.answer
        } catch is SequencingError {
            return nil
        }
    }

    func ids(_ arrival: ImportArrival) -> [String] {
        switch arrival {
        case .file(let file): ["file", file.id.string]
        case .oneOf(let files): ["one of"] + files.map(\.id.string)
        case .late(let files): ["late"] + files.map(\.id.string)
        }
    }

    @Test("C07, W40: files that were there, of other sources and of uploads are not an import's")
    func otherFiles() async throws {
        let unfinished = try await unfinished()
        list((1, "before.txt"))
        let own = try await start(unfinished)
        let others = ##"""
            [{"Id":"1","Name":"before.txt","FileCategory":"Uploaded","FileType":"23andMe"},
            {"Id":"2","Name":"ancestry_ada.txt","FileCategory":"Uploaded","FileType":"Ancestry"},
            {"Id":"3","Name":"ada.vcf","FileCategory":"Uploaded","FileType":"VCF"}%]
            """##
        service.script("GET /DataSourceList", [.json(others.replacing("%", with: ""))])
        #expect(ids(try await unfinished.arrival(of: own)) == ["late"])
        let named = #",{"Id":"4","Name":"genome_23ANDME.txt","FileCategory":"Uploaded"}"#
        service.script("GET /DataSourceList", [.json(others.replacing("%", with: named))])
        #expect(ids(try await unfinished.arrival(of: own)) == ["file", "4"])
        #expect(try await unfinished.all.isEmpty)
    }

    @Test("C07: where nothing tells two imports apart, each says so, and neither takes the other's file")
    func ambiguous() async throws {
        let unfinished = try await unfinished()
        list()
        let one = try await start(unfinished)
        let two = try await start(unfinished)
        list((1, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: one)) == ["late", "1"])
        #expect(ids(try await unfinished.arrival(of: two)) == ["late", "1"])
        list((1, "genome.txt"), (2, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: two)) == ["one of", "1", "2"])
        #expect(ids(try await unfinished.arrival(of: one)) == ["one of", "1", "2"])
        #expect(try await unfinished.all.isEmpty)
    }

    @Test("C07: two logins of one name do not tell two imports apart")
    func sameLogin() async throws {
        let unfinished = try await unfinished()
        list()
        let one = try await start(unfinished, login: "ada@example.test")
        _ = try await start(unfinished, login: "ada@example.org")
        list((1, "23andme_ada.txt"))
        #expect(ids(try await unfinished.arrival(of: one)) == ["late", "1"])
    }

    @Test("C07: a login is looked for as a whole word of the name")
    func wholeWord() async throws {
        let unfinished = try await unfinished()
        list()
        let ada = try await start(unfinished, login: "Ada@example.test")
        let adam = try await start(unfinished, login: "adam@example.test")
        list((1, "23andme_ADAM.txt"))
        #expect(ids(try await unfinished.arrival(of: ada)) == ["late"])
        #expect(ids(try await unfinished.arrival(of: adam)) == ["file", "1"])
    }

    @Test("C07: a file that was there when another import began is the earlier import's, and the next one the later's")
    func elimination() async throws {
        let unfinished = try await unfinished()
        list()
        let one = try await start(unfinished)
        list((1, "genome.txt"))
        let two = try await start(unfinished)
        #expect(ids(try await unfinished.arrival(of: two)) == ["late"])
        list((1, "genome.txt"), (2, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: two)) == ["file", "2"])
        #expect(ids(try await unfinished.arrival(of: one)) == ["file", "1"])
    }

    @Test("C07: two new files of one import, of which one was started elsewhere, are not told apart")
    func elsewhere() async throws {
        let unfinished = try await unfinished()
        list()
        let own = try await start(unfinished)
        list((1, "genome.txt"), (2, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: own)) == ["one of", "1", "2"])
    }

    @Test("C07: a file that one import has found is known to every other, also to one that is just being noted")
    func found() async throws {
        list()
        let unfinished = try await unfinished()
        let one = try await start(unfinished, login: "ada@example.test")
        let beside = try await start(unfinished)
        let found = Mutex<[String]>([])
        // The list of files is read before the first import finds its file, and the import is noted after it.
        let slow = AfterAnswer(service) { [self] in
            guard found.withLock({ $0.isEmpty }) else { return }
            list((1, "23andme_ada.txt"))
            let arrival = try await unfinished.arrival(of: one)
            found.withLock { $0 = ids(arrival) }
        }
        let two = try await start(try await self.unfinished(slow))
        #expect(found.withLock { $0 } == ["file", "1"])
        list((1, "23andme_ada.txt"), (2, "genome.txt"), (3, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: two)) == ["one of", "2", "3"])
        #expect(ids(try await unfinished.arrival(of: beside)) == ["one of", "2", "3"])
    }

    @Test("an import that does not start is not in the list; one whose answer is lost is")
    func outcomes() async throws {
        let unfinished = try await unfinished()
        list()
        for (replies, hasAnswer, count) in [
            ([ScriptedService.Reply.json(#"{"StatusCode":1,"SecurityQuestion":null,"SessionId":null}"#)], true, 0),
            ([.json(#"{"StatusCode":2,"SecurityQuestion":"Pet?","SessionId":"s"}"#)], true, 0),
            ([.json(#"{"Message":"no"}"#, status: 400)], false, 0), ([], false, 0), ([.lost], false, 1),
            ([.json("no JSON")], false, 2), ([.json(#"{"Message":"no"}"#, status: 500)], false, 3),
        ] {
            service.script("POST /23andMe/Download", replies)
            #expect(try await (outcome(unfinished) != nil) == hasAnswer, "\(replies)")
            #expect(try await unfinished.all.count == count, "\(replies)")
        }
        service.script("GET /DataSourceList", [.json("{}")])
        let sent = service.lines.count { $0.hasPrefix("POST") }
        #expect(try await outcome(unfinished) == nil)
        #expect(service.lines.count { $0.hasPrefix("POST") } == sent, "nothing was sent")
        #expect(try await unfinished.all.count == 3)
    }

    /// Attempts as this login whose answers are lost, while no file is listed.
    private func lose(_ unfinished: UnfinishedImports, as login: String, times: Int = 1) async throws {
        list()
        service.script("POST /23andMe/Download", [.lost])
        for _ in 0..<times { #expect(try await outcome(unfinished, login: login) == nil) }
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started)])
    }

    @Test("C07: a retry after lost answers is the same import", arguments: [false, true])
    func retry(isListedBefore: Bool) async throws {
        let unfinished = try await unfinished()
        try await lose(unfinished, as: "ada@example.test", times: 2)
        #expect(try await unfinished.all.count == 1)
        // The lost attempt has started an import when its file is there before the retry.
        if isListedBefore { list((1, "genome.txt")) }
        let retried = try await start(unfinished, login: "ada@example.test")
        #expect(try await unfinished.all == [retried])
        list((1, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: retried)) == ["file", "1"])
        #expect(try await unfinished.all.isEmpty)
    }

    @Test("an import that is forgotten during its call stays forgotten", arguments: [true, false])
    func forgottenMeanwhile(isLost: Bool) async throws {
        let id = try await service.genome().account.id
        let unfinished = try await unfinished()
        list()
        var forgotten = 0
        let noted = try? await unfinished.noting(.twentyThreeAndMe, login: "ada@example.test") {
            () async throws -> ThirdPartyImport.Outcome in
            for listed in try await unfinished.all {
                try await unfinished.forget(listed)
                forgotten += 1
            }
            if isLost { throw SequencingError.account(.refreshUncertain(id, nil)) }
            return .started
        }
        #expect(forgotten == 1 && (noted?.started == nil) == isLost)
        #expect(try await unfinished.all.isEmpty)
    }

    @Test("C07: a lost attempt stays an import of its own beside another login, another source and a refused retry")
    func noRetry() async throws {
        let unfinished = try await unfinished()
        try await lose(unfinished, as: "ada@example.test")
        let other = try await start(unfinished, login: "ada@example.org")
        list((1, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: other)) == ["late", "1"])
        _ = try await unfinished.noting(.ancestry, login: "ada@example.test") { .started }
        let refusal = #"{"StatusCode":1,"SecurityQuestion":null,"SessionId":null}"#
        service.script("POST /23andMe/Download", [.json(refusal)])
        #expect(try await outcome(unfinished, login: "ada@example.test") == .ended(.badCredentials))
        #expect(try await unfinished.all.map(\.id) == [1, 2, 3])
    }

    @Test("imports are forgotten after a day, beyond 20, and when their user signs out")
    func bounds() async throws {
        let unfinished = try await unfinished()
        list()
        let now = Date()
        _ = try await start(unfinished, at: now.addingTimeInterval(-UnfinishedImports.lifetime - 1))
        #expect(try await unfinished.all.isEmpty)
        for _ in 0...UnfinishedImports.limit { _ = try await start(unfinished, at: now) }
        let ids = try await unfinished.all.map(\.id)
        #expect(ids.count == UnfinishedImports.limit && Set(ids).count == ids.count)
        let account = try await service.account().id
        try await UnfinishedImports.forget(account, in: vault)
        #expect(try await unfinished.all.isEmpty)
        #expect(try await vault.keys(of: .imports).keys.isEmpty)
    }

    @Test("a description of an import does not have the user's login")
    func login() async throws {
        list()
        let started = try await start(try await unfinished(), login: "canary@example.test")
        var dumped = ""
        dump(started, to: &dumped)
        #expect(!dumped.contains("canary") && !"\(started)".contains("canary"))
    }
}

/// Runs something after each list of files has been read, before its reader gets it.
struct AfterAnswer: Transport {
    let service: ScriptedService
    let body: @Sendable () async throws -> Void

    init(_ service: ScriptedService, _ body: @escaping @Sendable () async throws -> Void) {
        (self.service, self.body) = (service, body)
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let answer = try await service.send(request, limits: limits)
        if request.line.hasPrefix("GET /DataSourceList") { try await body() }
        return answer
    }
}
