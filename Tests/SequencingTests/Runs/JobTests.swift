import OAuth
import Sequencing
import Testing

@Suite("Jobs")
struct JobTests {
    private func parsed(_ text: String) throws -> Job {
        try Job(try JSONValue(parsing: Array(text.utf8)))
    }

    @Test(
        "E11: the words for a job's state are read in any case, and an unknown one is not the end",
        arguments: [
            ("Pending", JobStatus.pending), ("running", .running), ("Executing", .running), ("COMPLETED", .completed),
            ("Failed", .failed), ("Cancelled", .cancelled), ("Canceled", .cancelled), ("Paused", .other("Paused")),
        ])
    func words(_ word: String, _ status: JobStatus) throws {
        #expect(try parsed(job(1, word)).status == status)
    }

    @Test(
        "9.5: the identifier may be a number, a float or a text, and success a text",
        arguments: ["800123", "800123.0", #""800123""#, #""800123.0""#])
    func identifiers(_ spelling: String) throws {
        let text = #"{"Status":{"IdJob":\#(spelling),"Status":"Completed","CompletedSuccesfully":"True"},"More":1}"#
        let job = try parsed(text)
        #expect(job.id == JobID(800_123) && job.completedSuccessfully == true && job.properties.isEmpty)
    }

    @Test(
        "what is no job says where",
        arguments: [
            ("[]", "content"), ("{}", "Status"), (#"{"Status":"Completed"}"#, "Status"),
            (#"{"Status":{"Status":"Completed"}}"#, "Status.IdJob"),
            (#"{"Status":{"IdJob":1.5,"Status":"x"}}"#, "Status.IdJob"),
            (#"{"Status":{"IdJob":"12a","Status":"x"}}"#, "Status.IdJob"),
            (#"{"Status":{"IdJob":1}}"#, "Status.Status"),
            (
                #"{"Status":{"IdJob":1,"Status":"Completed","CompletedSuccesfully":"maybe"}}"#,
                "Status.CompletedSuccesfully"
            ),
            (#"{"ResultProps":{},"Status":{"IdJob":1,"Status":"Completed"}}"#, "ResultProps"),
            (#"{"ResultProps":[1],"Status":{"IdJob":1,"Status":"Completed"}}"#, "ResultProps[0]"),
            (#"{"ResultProps":[{}],"Status":{"IdJob":1,"Status":"Completed"}}"#, "ResultProps[0].Name"),
        ])
    func malformed(_ text: String, _ place: String) throws {
        do {
            _ = try parsed(text)
            Issue.record("accepted")
        } catch SequencingError.malformed(_, let member, _, _) {
            #expect(member == place)
        }
    }

    @Test("E01: a start sends the chain and the file as the protocol writes them, and is never repeated")
    func start() async throws {
        let service = ScriptedService(["POST /v2/StartApp": [.lost]])
        let genome = try await service.genome()
        let call = ChainCall(
            AppCode(9), on: try #require(FileID("FILE:227001")), parameters: [.init("depth", .number(3))])
        #expect(await sequencingError { try await genome.start(call) }?.code == "connection_cut")
        #expect(
            service.requests.map(\.content) == [
                #"{"AppCode":"Chain9","Pars":[{"Name":"dataSourceId","Value":"227001"},{"Name":"depth","ValueLong":3}]}"#
            ])
    }

    @Test("E17: unknown chains and files are told apart by the service's code, not by its text")
    func unknown() async throws {
        let file = try #require(FileID("227001"))
        let genome = try await ScriptedService([
            "POST /v2/StartApp": [
                .json(#"{"Message":"Invalid AppCode","Error":"chain_not_found"}"#, status: 404),
                .json(#"{"Message":"Invalid dataSourceId","Error":"file_not_found"}"#, status: 404),
                .json(#"{"Message":"chain_not_found"}"#, status: 404),
            ]
        ]).genome()
        let call = ChainCall(AppCode(9), on: file)
        #expect(await sequencingError { try await genome.start(call) } == .unknownChain(AppCode(9)))
        #expect(await sequencingError { try await genome.start(call) } == .unknownFile(file))
        #expect(
            await sequencingError { try await genome.start(call) }
                == .service(status: 404, code: nil, message: "chain_not_found"))
    }

    @Test("E17: a refused token ends in the need to sign in")
    func refusedToken() async throws {
        let service = ScriptedService([
            "GET /DataSourceList": [.json(#"{"Message":"Authorization error: invalid token"}"#, status: 401)]
        ])
        let genome = try await service.genome()
        #expect(await sequencingError { try await genome.files() }?.code == "sign_in_required")
        #expect(service.lines.count == 2)
    }

    @Test("E10: version 1 gives a number first, and a bare word for the state")
    func versionOne() async throws {
        let file = try #require(FileID("227001"))
        let genome = try await ScriptedService([
            "POST /v1/StartApp": [
                .json(#"{"jobId":"800200","status":true}"#), .json(#"{"jobId":0}"#), .json("{}"),
                .json(#"{"jobId":800200}"#),
            ],
            "GET /v1/CheckAppStatus": [.json(#""Executing""#), .json("{}")],
            "GET /v1/GetAppResults": [
                .json(job(800_200, "Running")), .json(job(800_200, "Completed", property("result", "Yes"))),
            ],
        ]).genome()
        let call = ChainCall(AppCode(88), on: file)
        let id = try await genome.startVersionOne(call)
        #expect(id == JobID(800_200))
        #expect(await sequencingError { try await genome.startVersionOne(call) }?.code == "malformed_answer")
        #expect(await sequencingError { try await genome.startVersionOne(call) }?.code == "malformed_answer")
        #expect(try await genome.status(ofVersionOne: id) == .running)
        #expect(await sequencingError { try await genome.status(ofVersionOne: id) }?.code == "malformed_answer")
        let last = try await genome.run([call], version: .one).complete()
        #expect(try last[.vitaminD]?.get() == .issue)
    }

    @Test("E08: a body of the app's own is sent as it is, and its report is waited for; E07: the raw object is there")
    func freeForm() async throws {
        let service = ScriptedService([
            "POST /v2/StartApp": [.json(job(7, "Pending"))],
            "GET /v2/GetAppResults": [.json(job(7, "Completed", property("x", "y")))],
        ])
        let body = JSONValue.object(["AppCode": .string("Odd"), "Pars": .array([])])
        let report = try await service.genome().report(body: body)
        #expect(report.text("x") == "y")
        #expect(report.raw.object?["Status"]?.object?["IdJob"] == .number("7"))
        #expect(service.requests.first?.content == #"{"AppCode":"Odd","Pars":[]}"#)
    }

    @Test("an answer about another job is refused")
    func otherJob() async throws {
        let genome = try await ScriptedService(["GET /v2/GetAppResults": [.json(job(8, "Completed"))]]).genome()
        #expect(await sequencingError { try await genome.job(JobID(7)) }?.code == "malformed_answer")
    }
}
