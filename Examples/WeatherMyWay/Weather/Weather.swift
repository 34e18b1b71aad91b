/// A weather condition or a severe-weather alert, as weather services name them (Sequencing dossier, section 13).
struct Weather: Sendable, Hashable {
    /// The name: `Light Rain`, or the code of an alert, such as `HUR`.
    let name: String
    let kind: Kind
    /// How much sun there is; nil for an alert that is not about the sun.
    let sun: Sun?
    /// What it is, in words.
    let saying: String
    /// What to do about it, whatever the user's genes; may be empty.
    let care: String

    enum Kind: String, Sendable { case condition, alert }

    /// How much sun there is.
    enum Sun: String, Sendable, CaseIterable {
        case strong, medium, weak
        case absent = "none"
    }
}

/// Every weather condition and alert that there is advice for: `Weather.csv`.
///
/// Names are compared without regard to case and spaces: weather services write both `Snow Grains` and `SnowGrains`. A
/// condition and an alert may have the same name: `Fog` and `FOG`.
struct WeatherTable: Sendable {
    /// In the order of the table.
    let all: [Weather]
    private let byName: [Key: Weather]

    private struct Key: Hashable {
        let kind: Weather.Kind
        let name: String

        init(_ kind: Weather.Kind, _ name: String) {
            self.kind = kind
            self.name = name.lowercased().filter { $0 != " " }
        }
    }

    /// Reads a table.
    init(csv text: String) throws(CSVTable.FormatError) {
        let table = try CSVTable(text, columns: ["Name", "Kind", "Sun", "Saying", "Care"])
        var all: [Weather] = []
        var byName: [Key: Weather] = [:]
        for (index, cells) in table.rows.enumerated() {
            guard let kind = Weather.Kind(rawValue: cells[1]) else {
                throw CSVTable.FormatError(line: index + 2, problem: "the kind is condition or alert")
            }
            let sun = Weather.Sun(rawValue: cells[2])
            guard sun != nil || cells[2].isEmpty && kind == .alert else {
                throw CSVTable.FormatError(line: index + 2, problem: "the sun is strong, medium, weak or none")
            }
            let weather = Weather(name: cells[0], kind: kind, sun: sun, saying: cells[3], care: cells[4])
            guard byName.updateValue(weather, forKey: Key(kind, weather.name)) == nil else {
                throw CSVTable.FormatError(line: index + 2, problem: "\(weather.name) comes twice")
            }
            all.append(weather)
        }
        self.all = all
        self.byName = byName
    }

    /// The condition with this name.
    func condition(_ name: String) -> Weather? { byName[Key(.condition, name)] }

    /// The alert with this code.
    func alert(_ code: String) -> Weather? { byName[Key(.alert, code)] }
}
