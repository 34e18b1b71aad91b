import OAuth
import Sequencing
import Testing

@Suite("Chains and their answers")
struct AnswerTests {
    /// The report of a completed job.
    private func report(_ properties: String, succeeded: String = "true") async throws -> Report {
        let service = ScriptedService([
            "POST /v2/StartApp": [.json(job(1, "Completed", properties, succeeded: succeeded))]
        ])
        return try await service.genome().report(AppCode(1), on: try #require(FileID("910001")))
    }

    @Test(
        "E13: melanoma has seven answers, in any case, and every other word stays itself",
        arguments: [
            ("Low", MelanomaRisk.low), ("Normal", .normal), ("slightlyincreased", .slightlyIncreased),
            ("MODERATE", .moderate),
            ("High", .high), ("VeryHigh", .veryHigh), ("NoData", .noData), ("Very High", .other("Very High")),
            ("", .other("")),
        ])
    func melanoma(_ word: String, _ risk: MelanomaRisk) async throws {
        #expect(try AppChain.melanoma.answer(in: try await report(property("RiskDescription", word))) == risk)
        #expect(AppChain.melanoma.code.string == "Chain9")
        #expect(MelanomaRisk.known.count == 7)
    }

    @Test(
        "E14, W33: only the word No means no issue",
        arguments: [
            ("Yes", VitaminD.issue), ("no", .noIssue), ("Unknown", .other("Unknown")),
            ("Not enough data", .other("Not enough data")),
            ("Insufficient Data", .insufficientData), ("NoData", .insufficientData), ("Error", .error),
            ("No ", .other("No ")),
            ("none", .other("none")),
        ])
    func vitaminD(_ word: String, _ answer: VitaminD) async throws {
        #expect(try AppChain.vitaminD.answer(in: try await report(property("result", word))) == answer)
        #expect(AppChain.vitaminD.code.string == "Chain88")
    }

    @Test(
        "E15: any chain answers Yes, No, Insufficient Data or Error, and what else it says stays text",
        arguments: [
            ("Yes", YesOrNo.yes), ("No", .no), ("Insufficient Data", .insufficientData), ("error", .error),
            ("Maybe", .other("Maybe")),
        ])
    func yesOrNo(_ word: String, _ answer: YesOrNo) async throws {
        #expect(try AppChain.yesOrNo(11).answer(in: try await report(property("result", word))) == answer)
    }

    @Test("F02: an app declares a chain of its own in a few lines")
    func ownChain() async throws {
        let caffeine = AppChain(901, property: "Speed") { word in word == "fast" }
        #expect(try caffeine.answer(in: try await report(property("Speed", "fast"))))
    }

    @Test("a report without the property is no answer, and neither is one of another type")
    func answerMissing() async throws {
        let code = AppCode(88)
        for properties in ["", property("Result", "No"), property("result", "No", type: "HtmlText")] {
            let report = try await report(properties)
            #expect(throws: SequencingError.answerMissing(chain: code, property: "result")) {
                try AppChain.vitaminD.answer(in: report)
            }
        }
    }

    @Test(
        "W25: a job without success gives no answer, whatever its properties say",
        arguments: ["false", "null", #""false""#])
    func unsuccessful(_ succeeded: String) async throws {
        let report = try await report(property("result", "No"), succeeded: succeeded)
        #expect(!report.succeeded)
        #expect(throws: SequencingError.unsuccessful(report)) { try AppChain.vitaminD.answer(in: report) }
    }

    @Test("E12: all ten types are read, in any case, and an eleventh is kept")
    func types() async throws {
        let words = ["plaintext", "HtmlText", "IMAGEURL", "VideoUrl", "HTML5", "ViewTable", "Chart", "SVG"]
        let report = try await report(
            (words.map { property($0, "v", type: $0) } + [
                property("p", "55012", type: "Pdf"), property("d", "55013", type: "DataFile"),
                property("o", "v", type: "DataFile"), property("h", "v", type: "Hologram"),
            ])
            .joined(separator: ","))
        #expect(
            report.properties.map(\.value).prefix(8) == [
                .plainText("v"), .htmlText("v"), .imageURL("v"), .videoURL("v"), .html5("v"), .viewTable("v"),
                .chart("v"), .svg("v"),
            ])
        #expect(report.files.map(\.id) == [ReportFileID(55012), ReportFileID(55013)])
        #expect(report.files.map(\.fileExtension) == ["pdf", "dat"])
        #expect(report["d"]?.value == report.files.last.map { .dataFile($0) })
        #expect(report["o"]?.value == .unknown(type: "DataFile", value: .string("v")))
        #expect(report["h"]?.value == .unknown(type: "Hologram", value: .string("v")))
        #expect(report["h"]?.value.text == "v")
    }

    @Test(
        "W25, E05: values keep their case, titles are there, and a value that does not fit its type is kept as it came")
    func faithful() async throws {
        let report = try await report(
            #"{"Name":"a","Title":"T","SubTitle":"S","Description":"D","Type":"PlainText","SubType":"x","Value":"No"},"#
                + #"{"Name":"b","Type":"Pdf","Value":"not a number"},{"Name":"c","Type":"PlainText","Value":null},"#
                + #"{"Name":"d","Type":null,"Value":3},{"Name":"a","Type":"PlainText","Value":7}"#)
        let first = try #require(report["a"])
        #expect([first.title, first.subtitle, first.description, first.subtype] == ["T", "S", "D", "x"])
        #expect(report.text("a") == "No")
        #expect(report["b"]?.value == .unknown(type: "Pdf", value: .string("not a number")))
        #expect(report["c"]?.value == .unknown(type: "PlainText", value: nil))
        #expect(report["d"]?.value == .unknown(type: "", value: .number("3")))
        #expect(report.properties.last?.value == .plainText("7"))
        #expect(report.raw.object?["ResultProps"]?.array?.count == 5)
    }

    @Test(
        "a chain's code is read as people write it",
        arguments: [
            ("Chain9", "Chain9"), ("9", "Chain9"), ("chain88", "Chain88"), ("MelanomaDsAppv", "MelanomaDsAppv"),
            ("Chain09", "Chain9"), ("Chain9x", "Chain9x"), ("0", "0"),
        ])
    func code(_ text: String, _ expected: String) {
        #expect(AppCode(text)?.string == expected)
    }

    @Test("what cannot be a code is none", arguments: ["", "Chain 9", "a/b", "ä", String(repeating: "a", count: 101)])
    func noCode(_ text: String) {
        #expect(AppCode(text) == nil)
    }
}
