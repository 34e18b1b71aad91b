import Foundation

/// A place, with the weather of seven days.
struct Place: Sendable, Hashable {
    let name: String
    let country: String
    /// From today on.
    let days: [Day]

    /// The weather of one day.
    struct Day: Sendable, Hashable {
        let condition: String
        /// Degrees Celsius.
        let high: Int
        let low: Int
        /// The code of a severe-weather alert, for the first day only (Sequencing dossier, section 5.8).
        let alert: String?
    }
}

/// The places that the example has a forecast for: `Forecast.csv`. It is made up, and begins today whatever the date.
struct ForecastTable: Sendable {
    /// In the order of the table.
    let places: [Place]

    static let dayCount = 7

    /// Reads a table: a line for each place and day, the days of a place from 0 to 6 one below the other.
    init(csv text: String) throws(CSVTable.FormatError) {
        let table = try CSVTable(text, columns: ["Place", "Country", "Day", "Condition", "High", "Low", "Alert"])
        var places: [Place] = []
        for (index, cells) in table.rows.enumerated() {
            let wanted = index % Self.dayCount
            guard Int(cells[2]) == wanted, let high = Int(cells[4]), let low = Int(cells[5]) else {
                throw CSVTable.FormatError(
                    line: index + 2, problem: "expected day \(wanted) with two temperatures in whole degrees")
            }
            let day = Place.Day(condition: cells[3], high: high, low: low, alert: cells[6].isEmpty ? nil : cells[6])
            if wanted == 0 {
                places.append(Place(name: cells[0], country: cells[1], days: [day]))
            } else if let place = places.popLast() {
                guard place.name == cells[0] else {
                    throw CSVTable.FormatError(line: index + 2, problem: "\(place.name) has not seven days")
                }
                places.append(Place(name: place.name, country: place.country, days: place.days + [day]))
            }
        }
        if let last = places.last, last.days.count != Self.dayCount {
            throw CSVTable.FormatError(line: table.rows.count + 1, problem: "\(last.name) has not seven days")
        }
        self.places = places
    }

    /// The table of this example.
    static func builtIn() throws -> ForecastTable {
        try ForecastTable(csv: String(decoding: PackageResources.Forecast_csv, as: UTF8.self))
    }

    /// The place with this name, without regard to case and accents.
    func place(_ name: String) -> Place? {
        func folded(_ text: String) -> String {
            text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
        }
        return places.first { folded($0.name) == folded(name) }
    }
}

/// The advice for a place: seven days, each with its own.
struct WeatherReport: Sendable {
    let place: Place
    let days: [Entry]

    /// One day.
    struct Entry: Sendable {
        /// Days from today.
        let offset: Int
        let day: Place.Day
        let advice: Advice

        /// The advice as a sentence; nil where a chain failed, which a screen tells once and not on every day.
        var sentence: String? { if case .noAnswer = advice { nil } else { advice.text } }

        /// The day's date. Days are counted in a calendar: with a change of the clocks, one has 23 or 25 hours.
        func date(from today: Date, in calendar: Calendar = .current) -> Date {
            calendar.date(byAdding: .day, value: offset, to: today) ?? today
        }
    }

    init(_ place: Place, for genes: Genes, by table: AdviceTable) {
        self.place = place
        days = place.days.enumerated().map { offset, day in
            Entry(
                offset: offset, day: day,
                advice: table.advice(for: genes, condition: day.condition, alert: offset == 0 ? day.alert : nil))
        }
    }

    /// What every screen that shows advice has to say.
    static let disclaimer =
        "This is an example and no medical advice. Ask a doctor before you act on what your genes say."
}

extension Advice {
    /// The advice as a sentence.
    var text: String {
        switch self {
        case .warning(let text), .sentence(let text): text
        case .fileLacksData: WeatherWords.lacksData.rawValue
        case .noAnswer(let error): "There is no advice: \(error)"
        case .unknownWeather: "There is no advice for this weather."
        }
    }
}
