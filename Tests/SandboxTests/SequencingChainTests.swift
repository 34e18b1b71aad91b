import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Sequencing.com stand-in: app chains", .heavy)
struct SequencingChainTests {
    @Test(
        "a job goes through its chain's script, one step a poll, and stays at the last",
        arguments: [
            ("Chain88", "Completed true", ["Completed true"]),
            ("Chain9", "Pending", ["Completed true", "Completed true"]),
            ("Chain85", "Pending", ["Running", "Completed true"]),
            ("Chain902", "Pending", ["Executing", "Running", "Completed true"]),
            ("Chain903", "Pending", ["Running", "Cancelled false", "Cancelled false"]),
            ("Chain904", "Pending", ["Failed false"]), ("Chain905", "Pending", ["Completed false"]),
            ("Chain906", "Pending", Array(repeating: "Running", count: 12)),
            ("Chain910", "Pending", ["Paused", "COMPLETED true"]),
            ("Chain2000", "Pending", ["Completed true"]),
            ("Chain2003", "Pending", ["Running", "Running", "Running", "Completed true"]),
        ])
    func scripts(_ chain: String, _ start: String, _ polls: [String]) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            var job = try await steps.start(chain, on: "910001")
            #expect(job.outcome == start)
            for expected in polls {
                #expect(job.succeeded == true || job.properties.isEmpty)
                job = try await steps.poll(job)
                #expect(job.outcome == expected)
            }
            #expect(job.properties.isEmpty == (job.succeeded != true))
        }
    }

    @Test(
        "answers are functions of the file",
        arguments: [
            ("Chain9", "910001", "RiskDescription", "Moderate"), ("Chain88", "910001", "result", "Yes"),
            ("Chain9", "910002", "RiskDescription", "Low"), ("Chain88", "910002", "result", "No"),
            ("Chain9", "910005", "RiskDescription", "VeryHigh"), ("Chain9", "910008", "RiskDescription", "NoData"),
            ("Chain88", "910008", "result", "Insufficient Data"), ("Chain9", "227010", "RiskDescription", "NoData"),
            ("Chain9", "FILE:227003", "RiskDescription", "VeryHigh"), ("Chain85", "910001", "Level", "Elevated"),
            ("Chain87", "910001", "result", "No"), ("Chain87", "910002", "result", "Insufficient Data"),
            ("Chain87", "910003", "result", "Error"), ("Chain87", "910004", "result", "Yes"),
            ("Chain8", "910001", "result", "No"), ("Chain91", "910001", "Report", "550910001"),
            ("Chain930", "910001", "Report", "1000204800"), ("Chain3001", "910001", "result", "Yes"),
        ])
    func answers(_ chain: String, _ file: String, _ name: String, _ value: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            #expect(try await steps.result(chain, on: file)[name] == value)
        }
    }

    @Test("a file that no chain supports completes without success and without answers")
    func unsupported() async throws {
        try await withSandbox { sandbox in
            let job = try await SequencingSteps(sandbox).start("Chain88", on: "227006")
            #expect(job.outcome == "Completed false")
            #expect(job.properties.isEmpty)
        }
    }

    @Test("one chain answers with every type once, another with unknown types")
    func types() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let pending = try await steps.start("Chain90", on: "910001")
            let types = try await steps.poll(pending).properties.compactMap { $0["Type"] as? String }
            #expect(
                types == [
                    "PlainText", "HtmlText", "ImageUrl", "VideoUrl", "HTML5", "Pdf", "ViewTable", "Chart", "DataFile",
                    "SVG",
                ])
            let odd = try await steps.start("Chain911", on: "910001").properties
            #expect(odd.contains { $0["Type"] as? String == "Hologram" })
            #expect(odd.contains { $0["Value"] is NSNull })
            let members: Set = ["Name", "Title", "SubTitle", "Description", "Type", "SubType", "Value"]
            #expect(odd.allSatisfy { Set($0.keys) == members })
        }
    }

    @Test("a poll that fails once is over with the next one, and 401 ends the access token")
    func failingPolls() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let failing = try await steps.start("Chain907", on: "910001")
            let target = "/v2/GetAppResults?idJob=\(failing.id)"
            #expect(try await steps.get(target).refusal == "500 server_error")
            #expect(try await steps.poll(failing).outcome == "Completed true")
            let ending = try await steps.start("Chain908", on: "910001")
            #expect(try await steps.poll(ending).outcome == "Running")
            for _ in 0..<2 {
                #expect(try await steps.get("/v2/GetAppResults?idJob=\(ending.id)").status == 401)
            }
            #expect(try await SequencingSteps(sandbox).poll(ending).outcome == "Completed true")
        }
    }

    @Test("a first start that fails starts nothing, and the second works, for each user")
    func failingStart() async throws {
        try await withSandbox { sandbox in
            for user in ["ada@example.test", "charles@example.test"] {
                let steps = try await SequencingSteps(sandbox, as: user)
                let body = SequencingSteps.call("Chain909", "910001")
                #expect(try await steps.post("/v2/StartApp", body).refusal == "500 server_error")
                #expect(try await steps.start("Chain909", on: "910001").outcome == "Completed true")
            }
        }
    }

    @Test(
        "every spelling of the poll moves the same job on",
        arguments: ["/GetAppResults", "/v1/GetAppResults", "/v2/GetAppResults", "/v1/v2/GetAppResults"])
    func pollPaths(_ path: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let job = try await steps.start("Chain9", on: "910001")
            #expect(try await steps.poll(job, path: path).values == ["RiskDescription": "Moderate"])
        }
    }

    @Test("version 1 answers with a job id, and its status is a bare JSON string")
    func firstVersion() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let started = try await steps.post("/v1/StartApp", SequencingSteps.call("Chain902", "FILE:227001"))
            let id = try #require(started.number("jobId"))
            #expect(id == 800_123)
            for (path, word) in [
                ("/v1/CheckAppStatus", "Executing"), ("/CheckAppStatus", "Running"),
                ("/v2/CheckAppStatus", "Completed"),
            ] {
                #expect(try await steps.get("\(path)?idJob=\(id)").text == "\"\(word)\"")
            }
            let polled = try Job(try await steps.get("/v1/GetAppResults?idJob=\(id)").value())
            #expect(polled.outcome == "Completed true")
        }
    }

    @Test("a batch answers in the order of the request, and the batch poll takes numbers and strings")
    func batch() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let calls = [("Chain88", "910001"), ("Chain9", "910001"), ("Chain9", "910002")]
            let body = calls.map { SequencingSteps.call($0.0, $0.1) }.joined(separator: ",")
            let elements = try await steps.post("/v2/StartAppBatch", "{\"Pars\":[\(body)]}").objects()
            #expect(elements.compactMap { $0["Key"] as? String } == calls.map(\.0))
            let jobs = try elements.map { try Job(try #require($0["Value"])) }
            #expect(jobs.map(\.outcome) == ["Completed true", "Pending", "Pending"])
            let ids = #"{"JobIds":[\#(jobs[1].id),"\#(jobs[2].id)"]}"#
            let polled = try await steps.post("/v2/GetAppResultsBatch", ids).objects().map { try Job($0) }
            #expect(polled.map(\.id) == [jobs[1].id, jobs[2].id])
            #expect(polled.map { $0.values["RiskDescription"] } == ["Moderate", "Low"])
        }
    }

    @Test("two hundred chains fit one batch and are done after three more polls of the batch")
    func largeBatch() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let body = (0..<200).map { SequencingSteps.call("Chain\(3000 + $0)", "910001") }.joined(separator: ",")
            let started = try await steps.post("/v2/StartAppBatch", "{\"Pars\":[\(body)]}").objects()
            let ids = try started.map { try Job(try #require($0["Value"])).id }
            var open: [Int] = []
            for _ in 0..<4 {
                let text = ids.map(String.init).joined(separator: ",")
                let jobs = try await steps.post("/v2/GetAppResultsBatch", "{\"JobIds\":[\(text)]}").objects()
                open.append(try jobs.map { try Job($0) }.filter { $0.succeeded == nil }.count)
            }
            #expect(open == [150, 100, 50, 0])
        }
    }

    @Test(
        "what cannot be started is refused, and in a batch nothing is started then",
        arguments: [
            (SequencingSteps.call("Chain7", "910001"), "404 chain_not_found"),
            (SequencingSteps.call("chain9", "910001"), "404 chain_not_found"),
            (SequencingSteps.call("Chain009", "910001"), "404 chain_not_found"),
            (SequencingSteps.call("Chain9", "228001"), "404 file_not_found"),
            (SequencingSteps.call("Chain9", "x"), "404 file_not_found"),
            (#"{"AppCode":"Chain9","Pars":[]}"#, "400 invalid_request"),
            (#"{"AppCode":"Chain9"}"#, "400 invalid_request"), ("{}", "400 invalid_request"),
        ])
    func refusedStarts(_ call: String, _ refusal: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            for path in ["/v1/StartApp", "/v2/StartApp", "/v1/v2/StartApp"] {
                #expect(try await steps.post(path, call).refusal == refusal)
            }
            let batch = "{\"Pars\":[\(SequencingSteps.call("Chain9", "910001")),\(call)]}"
            #expect(try await steps.post("/v2/StartAppBatch", batch).refusal == refusal)
            #expect(try await steps.start("Chain9", on: "910001").id == 800_123)
        }
    }

    @Test(
        "bodies that are no JSON object, and ids that are no numbers, are 400",
        arguments: [
            ("/v2/StartApp", "{"), ("/v2/StartApp", "[]"), ("/v2/StartApp", ""), ("/v2/StartAppBatch", "{}"),
            ("/v2/StartAppBatch", #"{"Pars":[]}"#), ("/v2/StartAppBatch", #"{"Pars":{}}"#),
            ("/v2/GetAppResultsBatch", "{}"), ("/v2/GetAppResultsBatch", #"{"JobIds":["x"]}"#),
        ])
    func badBodies(_ path: String, _ body: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            #expect(try await steps.post(path, body).refusal == "400 invalid_request")
        }
    }

    @Test("a job belongs to its user, and ids that are unknown or no number are refused")
    func foreignJobs() async throws {
        try await withSandbox { sandbox in
            let ada = try await SequencingSteps(sandbox)
            let charles = try await SequencingSteps(sandbox, as: "charles@example.test")
            let job = try await ada.start("Chain9", on: "910001")
            for id in ["\(job.id)", "1"] {
                #expect(try await charles.get("/v2/GetAppResults?idJob=\(id)").refusal == "404 job_not_found")
                let batch = try await charles.post("/v2/GetAppResultsBatch", "{\"JobIds\":[\(id)]}")
                #expect(batch.refusal == "404 job_not_found")
            }
            #expect(try await ada.get("/v2/GetAppResults?idJob=x").refusal == "400 invalid_request")
            #expect(try await ada.get("/v2/GetAppResults").refusal == "400 invalid_request")
            #expect(try await ada.poll(job).outcome == "Completed true")
        }
    }

    @Test(
        "faults turn numbers into strings and back, and leave members out or change them, at any depth",
        arguments: [
            (["numbers-as-strings"], #""IdJob":"800123","#), (["without IdJob"], #""Status":{"Status":"Completed""#),
            (["null ResultProps"], #"{"ResultProps":null,"#), (["null Value"], #""SubType":null,"Value":null}"#),
            (["without Title", "without SubTitle", "null Type"], #"{"Name":"result","Description":null,"Type":null"#),
            (["numbers-as-strings", "strings-as-numbers"], #""IdJob":800123,"#),
            ([#"member Type ["a"]"#, "member Title x"], #""Type":["a"],"#), (["member Extra 7"], #","Extra":7}"#),
        ])
    func changedAnswers(_ actions: [String], _ expected: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            for action in actions { sandbox.inject(try FaultRule(parsing: "/v2/StartApp => \(action)")) }
            let answer = try await steps.post("/v2/StartApp", SequencingSteps.call("Chain88", "910001"))
            #expect(answer.text.contains(expected), "\(answer.text)")
            #expect(answer.isComplete)
        }
    }

    @Test("chains on own files need external, on sample files demo; ValueLong stands in for Value")
    func scopes() async throws {
        try await withSandbox { sandbox in
            let demo = try await SequencingSteps(sandbox, scope: "demo")
            let own = SequencingSteps.call("Chain88", "227001")
            #expect(try await demo.post("/v2/StartApp", own).refusal == "403 insufficient_scope")
            let long = #"{"AppCode":"Chain88","Pars":[{"Name":"dataSourceId","Value":null,"ValueLong":910001}]}"#
            #expect(try await demo.post("/v2/StartApp", long).status == 200)
            let external = try await SequencingSteps(sandbox, scope: "external")
            #expect(try await external.post("/v2/StartApp", long).refusal == "403 insufficient_scope")
            #expect(try await external.post("/v2/StartApp", own).status == 200)
        }
    }
}
