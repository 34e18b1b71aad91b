import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Sequencing.com stand-in: report files", .heavy)
struct SequencingReportTests {
    @Test(
        "a report file comes by id and by idJob, under each version",
        arguments: ["/GetReportFile", "/v1/GetReportFile", "/v2/GetReportFile", "/v1/v2/GetReportFile"],
        ["id", "idJob"])
    func spellings(_ path: String, _ name: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let id = try #require(try await steps.result("Chain91", on: "227001")["Report"])
            let answer = try await steps.get("\(path)?\(name)=\(id)")
            #expect(answer.status == 200)
            #expect(answer["Content-Type"] == "application/pdf")
            #expect(answer.isComplete)
            #expect(answer.text.hasPrefix("%PDF-1.4\n") && answer.text.hasSuffix("%%EOF\n"))
            #expect(answer.text.contains("227001"))
        }
    }

    @Test(
        "a generated file has exactly its size, and each line says where it begins",
        arguments: [0, 1, 63, 64, 65, 3000])
    func generated(_ size: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let answer = try await steps.get("/v2/GetReportFile?id=\(1_000_000_000 + size)")
            #expect(answer.isComplete)
            #expect(answer.body.count == size << 10)
            guard size > 0 else { return }
            #expect(answer.body.starts(with: "%PDF-1.4\n".utf8))
            #expect(answer.body.suffix(7) == ArraySlice("\n%%EOF\n".utf8))
            for line in stride(from: 4096, to: answer.body.count, by: 4096) {
                let digits = String(decoding: answer.body[(line + 2)..<(line + 14)], as: UTF8.self)
                #expect(Int(digits) == line)
            }
        }
    }

    @Test("200 MiB are announced, and a client that leaves early costs nothing")
    func large() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let id = try #require(try await steps.result("Chain930", on: "910001")["Report"])
            let headers = ["Authorization": "Bearer \(steps.token)"]
            let answer = try await steps.oauth.wire.send(
                "GET", "/v2/GetReportFile?id=\(id)", headers: headers, limit: 1 << 20)
            #expect(answer["Content-Length"] == "\(200 << 20)")
            #expect(answer.byteCount >= 1 << 20)
        }
    }

    @Test("a cut download announces its whole length and ends early", arguments: [0, 10, 65_536, 100_000])
    func cut(_ count: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            sandbox.inject(try FaultRule(parsing: "/v2/GetReportFile => cut \(count)"))
            let answer = try await steps.get("/v2/GetReportFile?id=1000001024")
            #expect(answer["Content-Length"] == "1048576")
            #expect(answer.body.count == count)
        }
    }

    @Test("a data file is a table about its file")
    func data() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let id = try #require(try await steps.result("Chain90", on: "910001")["Data"])
            let answer = try await steps.get("/v2/GetReportFile?id=\(id)")
            #expect(answer.text == "file,risk\r\n910001,Moderate\r\n")
        }
    }

    @Test(
        "an id that is none, unknown or another user's is refused",
        arguments: [
            ("", "400 invalid_request"), ("?id=x", "400 invalid_request"), ("?id=55012", "404 report_not_found"),
            ("?id=550228001", "404 report_not_found"), ("?id=1001048577", "404 report_not_found"),
        ])
    func refusals(_ query: String, _ refusal: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            #expect(try await steps.get("/v2/GetReportFile" + query).refusal == refusal)
            #expect(try await steps.oauth.get("/v2/GetReportFile" + query, bearer: nil).status == 401)
        }
    }
}
