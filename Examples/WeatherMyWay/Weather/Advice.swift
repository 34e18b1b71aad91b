import Sequencing

/// What a user should do in some weather.
enum Advice: Sendable, Equatable {
    /// A severe-weather alert is in force. It comes before everything else.
    case warning(String)
    case sentence(String)
    /// The file lacks the data that the advice needs, or a chain gave an unknown answer: choose another file.
    case fileLacksData
    /// A chain failed.
    case noAnswer(Genes.Failure)
    /// There is no advice for this weather.
    case unknownWeather
}

/// Advice for each weather, by melanoma risk and vitamin D: `Advice.csv` (Sequencing dossier, section 5.8).
///
/// A column like `Moderate-True` names a melanoma risk and whether there is an issue with vitamin D; a row says how much sun
/// there is.
struct AdviceTable: Sendable {
    private let weather: WeatherTable
    private let cells: [Weather.Sun: [String: String]]

    /// The six risks by two answers about vitamin D.
    static let columns = MelanomaRisk.known.filter { $0 != .noData }
        .flatMap { risk in [true, false].map { column(risk, hasIssue: $0) } }

    /// Reads the tables.
    init(advice text: String, weather: String) throws(CSVTable.FormatError) {
        self.weather = try WeatherTable(csv: weather)
        let table = try CSVTable(text, columns: ["Sun"] + Self.columns)
        var cells: [Weather.Sun: [String: String]] = [:]
        for (index, row) in table.rows.enumerated() {
            guard let sun = Weather.Sun(rawValue: row[0]), cells[sun] == nil else {
                throw CSVTable.FormatError(line: index + 2, problem: "each of strong, medium, weak and none comes once")
            }
            cells[sun] = Dictionary(uniqueKeysWithValues: zip(Self.columns, row.dropFirst()))
        }
        self.cells = cells
    }

    /// The tables of this example.
    static func builtIn() throws -> AdviceTable {
        try AdviceTable(
            advice: String(decoding: PackageResources.Advice_csv, as: UTF8.self),
            weather: String(decoding: PackageResources.Weather_csv, as: UTF8.self))
    }

    /// The names of all weather conditions, and the codes of all alerts.
    var names: (conditions: [String], alerts: [String]) {
        (
            weather.all.filter { $0.kind == .condition && !$0.name.isEmpty }.map(\.name),
            weather.all.filter { $0.kind == .alert }.map(\.name)
        )
    }

    /// How much sun there is in some weather; nil when the table lacks it.
    func sun(of condition: String) -> Weather.Sun? { weather.condition(condition)?.sun }

    /// The advice for the chains' answers and the weather. An alert replaces the condition, whatever the chains answered.
    ///
    /// - Parameters:
    ///   - genes: what the chains found.
    ///   - condition: the weather, as a weather service names it.
    ///   - alert: the code of a severe-weather alert; `--` and an unknown code are none.
    func advice(for genes: Genes, condition: String, alert: String? = nil) -> Advice {
        if let warning = warning(alert, for: genes) { return .warning(warning) }
        guard let weather = weather.condition(condition) else { return .unknownWeather }
        if let care = care(of: weather, for: genes) { return .sentence(sentence(weather, care)) }
        return genes.error.map(Advice.noAnswer) ?? .fileLacksData
    }

    /// The alert in force at a place, which stands above everything else; nil without one.
    ///
    /// - Parameter genes: what the chains found in the user's file; nil while it is not known. The alert waits for nothing.
    func warning(at place: Place, for genes: Genes? = nil) -> String? {
        warning(place.days.first?.alert, for: genes)
    }

    private func warning(_ code: String?, for genes: Genes?) -> String? {
        guard let alert = code.flatMap(weather.alert) else { return nil }
        return sentence(alert, genes.flatMap { care(of: alert, for: $0) } ?? "")
    }

    /// What it is and what to do, in one text.
    private func sentence(_ weather: Weather, _ care: String) -> String {
        let saying = weather.saying.hasSuffix(".") ? weather.saying : weather.saying + "."
        return [saying, weather.care, care].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// What to do about the sun; nil when the genes are not known, and empty where the sun does not matter.
    private func care(of weather: Weather, for genes: Genes) -> String? {
        guard let (risk, hasIssue) = genes.answers else { return nil }
        guard let sun = weather.sun else { return "" }
        return cells[sun]?[Self.column(risk, hasIssue: hasIssue)]
    }

    private static func column(_ risk: MelanomaRisk, hasIssue: Bool) -> String {
        "\(risk.word)-\(hasIssue ? "True" : "False")"
    }
}
