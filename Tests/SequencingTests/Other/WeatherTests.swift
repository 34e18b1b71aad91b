import Sandbox
import Sequencing
import TestFixtures
import Testing

@testable import WeatherMyWay

@Suite("Weather My Way", .heavy)
struct WeatherTests {
    private let table: AdviceTable

    init() throws {
        table = try AdviceTable.builtIn()
    }

    @Test("E16: every pair of answers has a sentence for every weather of the table")
    func whole() {
        let weather = table.conditions + table.alerts
        #expect(weather.count == 29)
        for condition in weather {
            for risk in MelanomaRisk.known where risk != .noData {
                for vitaminD in [VitaminD.issue, .noIssue] {
                    let advice = table.advice(risk: risk, vitaminD: vitaminD, condition: condition)
                    guard case .sentence(let text) = advice, !text.isEmpty else {
                        Issue.record("\(advice) for \(risk), \(vitaminD) and \(condition)")
                        continue
                    }
                    #expect(text.contains("Vitamin D") == (vitaminD == .issue) || text.hasSuffix("authorities."))
                }
            }
        }
    }

    @Test("the command line takes a condition and an alert of the table, in any case")
    func commandLine() throws {
        let options = try Options(["mostly cloudy", "hur"], table: table)
        #expect(options.condition == "Mostly Cloudy" && options.alert == "HUR" && !options.showsHelp)
        #expect(try Options([], table: table).condition == "Sunny")
    }

    @Test(
        "the command line refuses an unknown option, condition and alert",
        arguments: [
            (["--hlep"], "unknown option \"--hlep\""), (["Sunny", "-x"], "unknown option \"-x\""),
            (["Frogs"], "unknown condition \"Frogs\""), (["HUR"], "unknown condition \"HUR\""),
            (["Sunny", "Rain"], "unknown alert \"Rain\""),
            (["Sunny", "HUR", "TOR"], "one condition and one alert at most"),
        ])
    func refusedCommandLine(_ arguments: [String], _ problem: String) {
        #expect(throws: Options.Problem(description: problem)) { try Options(arguments, table: table) }
    }

    @Test("help lists every condition and alert", arguments: ["-h", "--help"])
    func help(_ option: String) throws {
        #expect(try Options(["Sunny", option], table: table).showsHelp)
        let help = Options.help(table)
        #expect(table.alerts == ["HUR", "TOR", "HEA", "FLO", "FIR", "WIN"])
        for name in table.conditions + table.alerts { #expect(help.contains(name)) }
    }

    @Test("E16: an alert goes before the condition, and neither minds case")
    func alert() {
        let storm = table.advice(risk: .low, vitaminD: .noIssue, condition: "SUNNY", alert: "hur")
        #expect(storm == .sentence("A hurricane warning is in force: stay inside and follow the authorities."))
        #expect(
            table.advice(risk: .low, vitaminD: .noIssue, condition: "Sunny", alert: "--")
                == table.advice(risk: .low, vitaminD: .noIssue, condition: "sunny"))
    }

    @Test("E16: an alert is told whatever the chains answer", arguments: ["HUR", "tor", "HEA", "FLO", "FIR", "WIN"])
    func alertWithoutData(_ alert: String) {
        for (risk, vitaminD) in [(MelanomaRisk?.some(.noData), VitaminD?.some(.error)), (nil, nil), (.high, nil)] {
            let advice = table.advice(risk: risk, vitaminD: vitaminD, condition: "Sunny", alert: alert)
            guard case .sentence(let text) = advice else {
                Issue.record("\(advice) for \(String(describing: risk)) and \(String(describing: vitaminD))")
                continue
            }
            #expect(text.contains("warning is in force"))
        }
    }

    @Test("E16: an alert is told for a file that lacks data, and when a chain fails")
    func alertAtTheSandbox() async throws {
        let town = try await Town()
        let id = try #require(FileID("910008"))
        let emmy = try #require(try await town.genome.file(id))
        let warning = "A hurricane warning is in force: stay inside and follow the authorities."
        let advice = { try await WeatherMyWay.advice(for: emmy, from: town.genome, condition: "Sunny", alert: "HUR") }
        #expect(try await advice() == warning)
        try town.inject("sequencing /v2/StartAppBatch => status 500")
        #expect(try await advice() == warning)
        await town.sandbox.stop()
    }

    @Test(
        "E16: without data, or with an unknown answer of a chain, the user is asked for another file",
        arguments: [
            (MelanomaRisk.noData, VitaminD.issue), (.other("Severe"), .issue), (.low, .insufficientData),
            (.low, .error),
            (.low, .other("Unknown")),
        ])
    func lackingData(_ risk: MelanomaRisk, _ vitaminD: VitaminD) {
        #expect(table.advice(risk: risk, vitaminD: vitaminD, condition: "Sunny") == .fileLacksData)
    }

    @Test("a weather that the table lacks has no advice")
    func unknownWeather() {
        #expect(table.advice(risk: .low, vitaminD: .issue, condition: "Frogs") == .unknownWeather)
    }

    @Test(
        "a table that is wrong says in which line",
        arguments: [
            ("", 1), ("Weather,a\n", 1), ("Condition,a\nRain\n", 2), ("Condition,a\nRain,x\nrain,y\n", 3),
        ])
    func wrongTable(_ text: String, _ line: Int) {
        do throws(AdviceTable.FormatError) {
            _ = try AdviceTable(csv: text)
            Issue.record("accepted")
        } catch {
            #expect(error.line == line)
        }
    }

    @Test("cells may hold commas and quotation marks")
    func quotation() throws {
        let table = try AdviceTable(csv: "Condition,Low-True\r\nRain,\"a, \"\"b\"\"\"\r\n")
        #expect(table.advice(risk: .low, vitaminD: .issue, condition: "rain") == .sentence("a, \"b\""))
    }

    @Test(
        "E16, F03: for a sample file of the sandbox there is a sentence, for a sparse one the request for another file")
    func wholeRun() async throws {
        let town = try await Town()
        let files = try await town.genome.files(.sample)
        let ada = try #require(files.first { $0.id.string == "910001" })
        let emmy = try #require(files.first { $0.id.string == "910008" })
        #expect(
            try await WeatherMyWay.advice(for: ada, from: town.genome, condition: "Sunny")
                == "It is sunny: use sunscreen of factor 30 and a hat. Vitamin D: a short walk outside is enough.")
        #expect(
            try await WeatherMyWay.advice(for: emmy, from: town.genome, condition: "Sunny")
                == "This file lacks the data that the advice needs. Choose another file.")
        await town.sandbox.stop()
    }
}
