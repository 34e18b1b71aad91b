import Foundation
import Handshake
import Sandbox
import Sequencing
import TestFixtures
import Testing

@testable import WeatherMyWay

@Suite("Weather My Way", .heavy)
struct WeatherTests {
    private let table: AdviceTable
    private let places: ForecastTable

    init() throws {
        table = try AdviceTable.builtIn()
        places = try ForecastTable.builtIn()
    }

    private static let risks = MelanomaRisk.known.filter { $0 != .noData }

    private func genes(_ risk: MelanomaRisk, _ vitaminD: VitaminD) -> Genes {
        Genes(melanoma: .success(risk), vitaminD: .success(vitaminD))
    }

    private func sentence(_ advice: Advice) -> String? {
        switch advice {
        case .sentence(let text), .warning(let text): text
        default: nil
        }
    }

    @Test("E16: the dossier lists 209 rows")
    func rows() {
        #expect(DossierWeather.rows.count == 209)
        #expect(Set(DossierWeather.names.map { $0.lowercased() }).count == 181)
        #expect(DossierWeather.rows.count(where: \.isAlert) == 19)
    }

    @Test(
        "E16: every row of the dossier has advice for each of the twelve pairs of answers",
        arguments: DossierWeather.rows
    )
    func row(_ row: DossierWeather) throws {
        var sentences: [String] = []
        for risk in Self.risks {
            for vitaminD in [VitaminD.issue, .noIssue] {
                let genes = genes(risk, vitaminD)
                let advice =
                    row.isAlert
                    ? table.advice(for: genes, condition: "Sunny", alert: row.name)
                    : table.advice(for: genes, condition: row.name)
                let text = try #require(sentence(advice), "\(risk) \(vitaminD)")
                #expect(text.first?.isUppercase == true && text.hasSuffix(".") && !text.contains(".."))
                if row.isAlert {
                    guard case .warning = advice else {
                        Issue.record("an alert is a warning")
                        return
                    }
                    #expect(!text.hasPrefix("Sun."))
                } else {
                    #expect(text.contains("Vitamin D") == (vitaminD == .issue))
                }
                sentences.append(text)
            }
        }
        if !row.isAlert {
            // Case and spaces do not matter; what the genes say does.
            let spelled = row.name.uppercased().replacing(" ", with: "")
            #expect(table.advice(for: genes(.low, .issue), condition: spelled) == .sentence(sentences[0]))
            #expect(Set(sentences).count >= 4)
        }
        if let sun = row.sun { #expect(table.sun(of: row.name) == sun) }
    }

    @Test(
        "E16: the stronger the sun and the higher the risk, the more protection",
        arguments: [
            ("Sunny", MelanomaRisk.low, "SPF 15"), ("Sunny", .moderate, "SPF 30 sunscreen and a hat"),
            ("Sunny", .veryHigh, "shade from 10 am to 4 pm"),
            ("Partly Cloudy", .veryHigh, "SPF 50 sunscreen and a hat"),
            ("Overcast", .low, "no concern"), ("Overcast", .high, "SPF 30"), ("Heavy Rain", .moderate, "no concern"),
            ("Heavy Rain", .veryHigh, "carry SPF 50 sunscreen"),
        ])
    func protection(_ condition: String, _ risk: MelanomaRisk, _ words: String) throws {
        let advice = try #require(sentence(table.advice(for: genes(risk, .noIssue), condition: condition)))
        #expect(advice.contains(words))
    }

    @Test(
        "E16: an alert is told whatever the chains answer, and before the condition", arguments: DossierWeather.alerts)
    func alerts(_ alert: String) throws {
        let failed = Genes(melanoma: .failure(.failed(JobID(1))), vitaminD: .failure(.failed(JobID(1))))
        let unknown: [Genes] = [
            genes(.noData, .error), genes(.other("Severe"), .issue), genes(.low, .insufficientData), failed,
        ]
        for genes in unknown + [genes(.low, .issue)] {
            for code in [alert, alert.lowercased()] {
                for condition in ["Sunny", "Frogs"] {
                    guard case .warning(let text) = table.advice(for: genes, condition: condition, alert: code) else {
                        Issue.record("\(code) and \(condition) for \(genes)")
                        continue
                    }
                    #expect(!text.hasPrefix("Sun"))
                }
            }
        }
    }

    @Test("E16: FOG is an alert and Fog a condition, and what is no code is no alert", arguments: ["--", "", "XYZ"])
    func fog(_ none: String) {
        let genes = genes(.low, .noIssue)
        #expect(
            table.advice(for: genes, condition: "Sunny", alert: "FOG") != table.advice(for: genes, condition: "Fog"))
        let sunny = table.advice(for: genes, condition: "Sunny")
        #expect(table.advice(for: genes, condition: "Sunny", alert: none) == sunny)
        #expect(table.advice(for: genes, condition: "HUR") == .unknownWeather)
    }

    @Test("E16: an alert is told for a file that lacks data, and when a chain fails")
    func alertAtTheSandbox() async throws {
        let town = try await Town()
        let id = try #require(FileID("910008"))
        let emmy = try #require(try await town.genome.file(id))
        let warning = "A hurricane warning is in force. Stay inside and follow the authorities."
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
            (.low, .other("Unknown")),
        ])
    func lackingData(_ risk: MelanomaRisk, _ vitaminD: VitaminD) {
        #expect(table.advice(for: genes(risk, vitaminD), condition: "Sunny") == .fileLacksData)
    }

    @Test("E16: a file lacks data only when both chains have answered")
    func lacksData() {
        let failed = Genes(melanoma: .failure(.failed(JobID(1))), vitaminD: .success(.issue))
        #expect(!failed.lacksData && !genes(.low, .issue).lacksData)
        #expect(genes(.noData, .issue).lacksData && genes(.low, .insufficientData).lacksData)
    }

    @Test(
        "E16: a chain whose answer is that it failed is a failure, and no lack of data",
        arguments: [(MelanomaRisk.low, VitaminD.error, 88), (.other("Error"), .issue, 9)])
    func failedChain(_ risk: MelanomaRisk, _ vitaminD: VitaminD, _ number: Int) {
        let genes = genes(risk, vitaminD)
        #expect(!genes.lacksData && genes.error == .chain(AppCode(number)))
        #expect(table.advice(for: genes, condition: "Sunny") == .noAnswer(.chain(AppCode(number))))
    }

    @Test("a weather that the table lacks has no advice")
    func unknownWeather() {
        #expect(table.advice(for: genes(.low, .issue), condition: "Frogs") == .unknownWeather)
    }

    @Test("F03: each place has seven days, the weather of each is known, and only the first has an alert")
    func forecast() throws {
        #expect(places.places.count == 12)
        for place in places.places {
            let report = WeatherReport(place, for: genes(.moderate, .issue), by: table)
            #expect(report.days.map(\.offset) == Array(0...6) && report.days.allSatisfy { sentence($0.advice) != nil })
            #expect(place.days.dropFirst().allSatisfy { $0.alert == nil } && place.days.allSatisfy { $0.high > $0.low })
        }
        #expect(places.place("reykjavik")?.name == "Reykjavík" && places.place("Atlantis") == nil)
    }

    @Test("F03: the command prints seven days with advice, what the chains found, and that it is no medical advice")
    func forecastLines() async throws {
        let town = try await Town()
        let lines = try await WeatherMyWay.forecast("Miami", "910001", from: town.genome)
        #expect(lines.count == 11 && lines[0].hasPrefix("Miami, for Ada - "))
        #expect(lines[1...2] == ["Melanoma risk: Moderate", "Vitamin D: Issue found"])
        #expect(lines[3].hasPrefix("Today, Squalls, 30/25 °C: A hurricane warning is in force."))
        #expect(lines[4].contains("In 1 day, ") && lines[9].contains("In 6 days, "))
        #expect(lines.last?.contains("no medical advice") == true)
        await #expect {
            try await WeatherMyWay.forecast("Miami", "4711", from: town.genome)
        } throws: { error in
            let lines = (error as? Options.Problem)?.description.split(separator: "\n")
            return lines?.first == "there is no file \"4711\". Choose one of:" && lines?.count == 22
        }
        await town.sandbox.stop()
    }

    @Test("E16, F03: the command tells once that the chains failed, and the weather of each day")
    func failedForecast() async throws {
        let town = try await Town()
        try town.inject("sequencing /v2/StartAppBatch => status 500")
        let lines = try await WeatherMyWay.forecast("Oslo", "910001", from: town.genome)
        #expect(lines.count == 12 && lines[1...2] == ["Melanoma risk: No answer", "Vitamin D: No answer"])
        #expect(lines[3].hasPrefix("There is no advice: Sequencing.com is not working right now (status 500)"))
        #expect(lines[4...10].allSatisfy { $0.hasSuffix(" °C") })
        await town.sandbox.stop()
    }

    @Test(
        "the command line is read",
        arguments: [
            ([], Options.Task.advice(condition: "Sunny", alert: nil)),
            (["mostly cloudy", "hur"], .advice(condition: "Mostly Cloudy", alert: "HUR")),
            (["SnowGrains"], .advice(condition: "Snow Grains", alert: nil)),
            (["--serve", "--port", "8080", "--print-json"], .serve(port: 8080, printsJSON: true)),
            (["--file", "910001"], .forecast(place: "Reykjavík", file: "910001")),
            (["--place", "oslo", "--file", "1"], .forecast(place: "Oslo", file: "1")), (["Sunny", "--help"], .help),
        ] as [([String], Options.Task)])
    func commandLine(_ arguments: [String], _ task: Options.Task) throws {
        #expect(try Options(arguments, table: table, places: places).task == task)
    }

    @Test(
        "the command line refuses what it does not know",
        arguments: [
            (["--hlep"], "unknown option \"--hlep\""), (["Sunny", "-x"], "unknown option \"-x\""),
            (["Frogs"], "unknown condition \"Frogs\""), (["HUR"], "unknown condition \"HUR\""),
            (["Sunny", "Rain"], "unknown alert \"Rain\""),
            (["Sunny", "HUR", "TOR"], "one condition and one alert at most"),
            (["--serve", "--port", "x"], "--port needs a number from 0 to 65535"), (["--port"], "--port needs a value"),
            (["--file", "1", "--place", "Atlantis"], "unknown place \"Atlantis\""),
            (["--place", "Oslo"], "--place goes with --file, --port and --print-json with --serve"),
            (["--serve", "Sunny"], "--serve takes --port and --print-json only"),
        ])
    func refusedCommandLine(_ arguments: [String], _ problem: String) {
        #expect(throws: Options.Problem(description: problem)) {
            try Options(arguments, table: table, places: places)
        }
    }

    @Test("help lists every condition, alert and place, and says that it is no medical advice")
    func help() {
        let help = Options.help(table, places)
        #expect(table.names.alerts == DossierWeather.alerts)
        for name in table.names.conditions + table.names.alerts + places.places.map(\.name) {
            #expect(help.contains(name))
        }
        #expect(help.contains(WeatherReport.disclaimer))
    }

    @Test(
        "a table that is wrong says in which line",
        arguments: [
            ("", 1), ("Weather,a\n", 1), ("Name,Kind,Sun,Saying,Care\nRain\n", 2),
            ("Name,Kind,Sun,Saying,Care\nRain,condition,none,x,\nrain,condition,none,y,\n", 3),
            ("Name,Kind,Sun,Saying,Care\nRain,weather,none,x,\n", 2),
            ("Name,Kind,Sun,Saying,Care\nRain,condition,,x,\n", 2),
        ])
    func wrongTable(_ text: String, _ line: Int) {
        do throws(CSVTable.FormatError) {
            _ = try WeatherTable(csv: text)
            Issue.record("accepted")
        } catch {
            #expect(error.line == line)
        }
    }

    @Test(
        "a forecast that is wrong says in which line",
        arguments: [("Oslo,Norway,1,Rain,1,0,", 2), ("Oslo,Norway,0,Rain,x,0,", 2), ("Oslo,Norway,0,Rain,1,0,", 2)])
    func wrongForecast(_ text: String, _ line: Int) {
        do throws(CSVTable.FormatError) {
            _ = try ForecastTable(csv: "Place,Country,Day,Condition,High,Low,Alert\n\(text)\n")
            Issue.record("accepted")
        } catch {
            #expect(error.line == line)
        }
    }

    @Test("F03: the days of the forecast follow each other in the calendar, also when the clocks change")
    func dates() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "America/New_York"))
        let place = try #require(places.places.first)
        let report = WeatherReport(place, for: genes(.low, .noIssue), by: table)
        // Half past midnight; the day has 25 hours.
        let first = DateComponents(year: 2026, month: 11, day: 1, hour: 0, minute: 30)
        let today = try #require(calendar.date(from: first))
        let days = report.days.map { calendar.component(.day, from: $0.date(from: today, in: calendar)) }
        #expect(days == Array(1...7))
    }

    @Test("E16: an alert stands above the forecast, only where there is one, and also before the genes are known")
    func banner() throws {
        let genes = genes(.low, .noIssue)
        for place in places.places {
            let warning = table.warning(at: place, for: genes)
            #expect((warning != nil) == (place.days.first?.alert != nil), "\(place.name)")
            let advice = WeatherReport(place, for: genes, by: table).days.first?.advice
            if let warning { #expect(advice == .warning(warning)) }
            let early = table.warning(at: place)
            #expect((early != nil) == (warning != nil) && warning?.hasPrefix(early ?? "") != false, "\(place.name)")
        }
        #expect(places.places.contains { $0.days.first?.alert != nil })
    }

    @Test("cells may hold commas and quotation marks")
    func quotation() throws {
        let table = try CSVTable("a,b\r\nRain,\"x, \"\"y\"\"\"\r\n", columns: ["a", "b"])
        #expect(table.rows == [["Rain", "x, \"y\""]])
    }

    @Test("E16, F03: for a sample file there is a sentence, for a sparse one the request for another file")
    func wholeRun() async throws {
        let town = try await Town()
        let files = try await town.genome.files(.sample)
        let ada = try #require(files.first { $0.id.string == "910001" })
        let emmy = try #require(files.first { $0.id.string == "910008" })
        #expect(
            try await WeatherMyWay.advice(for: ada, from: town.genome, condition: "Sunny")
                == "Sun. Use SPF 30 sunscreen and a hat. Vitamin D: a short walk outside is enough.")
        #expect(
            try await WeatherMyWay.advice(for: emmy, from: town.genome, condition: "Sunny")
                == "This file lacks the data that the advice needs. Choose another file.")
        // Both chains are asked about in one request a file.
        #expect(town.paths.count { $0 == "/v2/StartAppBatch" } == 2 && !town.paths.contains("/v2/StartApp"))
        await town.sandbox.stop()
    }
}
