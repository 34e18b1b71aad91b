#if Sandbox
import Sequencing

/// Advice for each weather condition, by melanoma risk and vitamin D (dossier 5.8).
///
/// The first column of the table names a weather condition, or the code of a severe-weather alert. A column like `Moderate-True` names a
/// melanoma risk and whether there is an issue with vitamin D. The column `NoData` is for users whose risk or vitamin D is unknown: an alert
/// warns them too; a condition leaves it empty. Conditions and alerts are compared without regard to case.
struct AdviceTable {
    private let columns: [String]
    private let rows: [String: [String]]

    /// The result of a look-up.
    enum Advice: Equatable {
        case sentence(String)
        /// The file lacks the data that the advice needs, or a chain gave an unknown answer: choose another file.
        case fileLacksData
        /// The table has no line for this weather.
        case unknownWeather
    }

    private static let withoutData = "NoData"

    /// The weather conditions of the table, as it writes them and in its order.
    let conditions: [String]
    /// The codes of its severe-weather alerts.
    let alerts: [String]

    /// A malformed table: the line, counted from 1, and the problem.
    struct FormatError: Error, Equatable {
        let line: Int
        let problem: String
    }

    /// Reads a table.
    init(csv text: String) throws(FormatError) {
        let lines = text.split(whereSeparator: \.isNewline).map(Self.cells)
        guard let header = lines.first, header.first == "Condition" else {
            throw FormatError(line: 1, problem: "the first line must name the columns, the first of them Condition")
        }
        columns = Array(header.dropFirst())
        var rows: [String: [String]] = [:]
        for (index, cells) in lines.enumerated().dropFirst() {
            guard cells.count == header.count else {
                throw FormatError(line: index + 1, problem: "\(cells.count) cells instead of \(header.count)")
            }
            guard rows.updateValue(Array(cells.dropFirst()), forKey: cells[0].lowercased()) == nil else {
                throw FormatError(line: index + 1, problem: "\(cells[0]) comes twice")
            }
        }
        self.rows = rows
        let names = lines.dropFirst().compactMap(\.first)
        let withoutData = columns.firstIndex(of: Self.withoutData)
        let isAlert = { (name: String) in withoutData.map { rows[name.lowercased()]?[$0].isEmpty == false } ?? false }
        conditions = names.filter { !isAlert($0) }
        alerts = names.filter(isAlert)
    }

    /// The table of this example.
    static func builtIn() throws -> AdviceTable {
        try AdviceTable(csv: String(decoding: PackageResources.Advice_csv, as: UTF8.self))
    }

    /// The advice for the chains' answers and the weather. An alert in the table replaces the condition, whatever the chains answered.
    ///
    /// - Parameters:
    ///   - risk: nil when the chain gave no answer, as is `vitaminD`.
    ///   - alert: the code of a severe-weather alert.
    func advice(risk: MelanomaRisk?, vitaminD: VitaminD?, condition: String, alert: String? = nil) -> Advice {
        guard let row = alert.flatMap({ rows[$0.lowercased()] }) ?? rows[condition.lowercased()] else {
            return .unknownWeather
        }
        let column = columns.firstIndex(of: Self.column(risk, vitaminD)) ?? columns.firstIndex(of: Self.withoutData)
        guard let column, !row[column].isEmpty else { return .fileLacksData }
        return .sentence(row[column])
    }

    private static func column(_ risk: MelanomaRisk?, _ vitaminD: VitaminD?) -> String {
        switch (risk, vitaminD) {
        case (let risk?, .issue?): "\(risk.word)-True"
        case (let risk?, .noIssue?): "\(risk.word)-False"
        default: withoutData
        }
    }

    /// The cells of a line (RFC 4180, without line breaks inside cells).
    private static func cells(_ line: Substring) -> [String] {
        var cells = [""]
        var isQuoted = false
        var last: Character?
        for character in line where character != "\r" {
            switch character {
            case "\"":
                // A doubled quotation mark inside quotation marks is one.
                if !isQuoted && last == "\"" { cells[cells.count - 1].append("\"") }
                isQuoted.toggle()
            case "," where !isQuoted: cells.append("")
            default: cells[cells.count - 1].append(character)
            }
            last = character
        }
        return cells
    }
}
#endif
