import Sequencing

/// What to wear and eat under which sky, by what the genes say (dossier 5.8): a table that an editor of words can change.
///
/// The first column names a weather condition, or the code of a severe-weather alert; the others are named by a melanoma risk and by whether
/// there is an issue with vitamin D, as in `Moderate-True`. Lines are compared without regard to case.
struct AdviceTable {
    private let columns: [String]
    private let rows: [String: [String]]

    /// What the table says.
    enum Advice: Equatable {
        case sentence(String)
        /// The file lacks what the advice needs, or a chain said something that nobody foresaw: choose another file.
        case fileLacksData
        /// The table has no line for this weather.
        case unknownWeather
    }

    /// A table that is wrong: the line, from 1, and what is wrong there.
    struct FormatError: Error, Equatable {
        let line: Int
        let problem: String
    }

    /// Reads a table.
    init(csv text: String) throws(FormatError) {
        let lines = text.split(whereSeparator: \.isNewline).map(Self.cells)
        guard let header = lines.first, header.first == "Condition" else {
            throw FormatError(line: 1, problem: "the first line names the columns, the first of them Condition")
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
    }

    /// The table that comes with this example.
    static func builtIn() throws -> AdviceTable {
        try AdviceTable(csv: String(decoding: PackageResources.Advice_csv, as: UTF8.self))
    }

    /// The advice for what the chains answered and the weather; an alert the table knows goes before the condition.
    func advice(risk: MelanomaRisk, vitaminD: VitaminD, condition: String, alert: String? = nil) -> Advice {
        guard let column = Self.column(risk, vitaminD).flatMap(columns.firstIndex) else { return .fileLacksData }
        guard let row = alert.flatMap({ rows[$0.lowercased()] }) ?? rows[condition.lowercased()] else {
            return .unknownWeather
        }
        return .sentence(row[column])
    }

    /// The name of a column; nil for an answer that decides nothing.
    private static func column(_ risk: MelanomaRisk, _ vitaminD: VitaminD) -> String? {
        switch (risk, vitaminD) {
        case (.noData, _), (.other, _): nil
        case (_, .issue): "\(risk.word)-True"
        case (_, .noIssue): "\(risk.word)-False"
        case (_, .insufficientData), (_, .error), (_, .other): nil
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
