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
        for risk in MelanomaRisk.known where risk != .noData {
            for vitaminD in [VitaminD.issue, .noIssue] {
                guard case .sentence(let text) = table.advice(risk: risk, vitaminD: vitaminD, condition: "sunny") else {
                    Issue.record("nothing for \(risk) and \(vitaminD)")
                    continue
                }
                #expect(!text.isEmpty)
            }
        }
    }

    @Test("E16: an alert goes before the condition, and neither minds case")
    func alert() {
        let storm = table.advice(risk: .low, vitaminD: .noIssue, condition: "SUNNY", alert: "hur")
        #expect(storm == .sentence("A hurricane warning is in force: stay inside and follow the authorities."))
        #expect(
            table.advice(risk: .low, vitaminD: .noIssue, condition: "Sunny", alert: "--")
                == table.advice(risk: .low, vitaminD: .noIssue, condition: "sunny"))
    }

    @Test(
        "E16: without data, or with a word that nobody foresaw, the user is asked for another file",
        arguments: [
            (MelanomaRisk.noData, VitaminD.issue), (.other("Severe"), .issue), (.low, .insufficientData),
            (.low, .error),
            (.low, .other("Unknown")),
        ])
    func lackingData(_ risk: MelanomaRisk, _ vitaminD: VitaminD) {
        #expect(table.advice(risk: risk, vitaminD: vitaminD, condition: "Sunny") == .fileLacksData)
    }

    @Test("weather that the table does not have is said so")
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
