#if Server && Sandbox
/// What the command line of WeatherMyWay says.
struct Options: Equatable {
    /// What to do.
    enum Task: Equatable {
        /// Advice for each sample file in some weather.
        case advice(condition: String, alert: String?)
        /// The forecast of seven days for one file.
        case forecast(place: String, file: String)
        /// The web app.
        case serve(port: Int, printsJSON: Bool)
        case help
    }

    var task = Task.advice(condition: "Sunny", alert: nil)

    /// Why a command line cannot be used.
    struct Problem: Error, Equatable {
        let description: String
    }

    /// - Throws: ``Problem`` for an unknown option, and for weather and places that the tables do not have.
    init(_ arguments: [String], table: AdviceTable, places: ForecastTable) throws(Problem) {
        guard !arguments.contains(where: { $0 == "-h" || $0 == "--help" }) else {
            task = .help
            return
        }
        var words: [String] = []
        var values: [String: String] = [:]
        var flags: Set<String> = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--serve", "--print-json": flags.insert(argument)
            case "--port", "--place", "--file":
                guard let value = rest.popFirst() else { throw Problem(description: "\(argument) needs a value") }
                values[argument] = value
            case _ where argument.hasPrefix("-"): throw Problem(description: "unknown option \"\(argument)\"")
            default: words.append(argument)
            }
        }
        if flags.contains("--serve") {
            task = try Self.serving(flags, values, words)
        } else if let file = values["--file"] {
            task = try Self.forecast(file, values["--place"], words, places)
        } else {
            guard values.isEmpty, flags.isEmpty else {
                throw Problem(description: "--place goes with --file, --port and --print-json with --serve")
            }
            task = try Self.advice(words, table)
        }
    }

    private static func serving(
        _ flags: Set<String>, _ values: [String: String], _ words: [String]
    ) throws(Problem) -> Task {
        guard words.isEmpty, values["--file"] == nil, values["--place"] == nil else {
            throw Problem(description: "--serve takes --port and --print-json only")
        }
        guard let port = UInt16(values["--port"] ?? "0") else {
            throw Problem(description: "--port needs a number from 0 to 65535")
        }
        return .serve(port: Int(port), printsJSON: flags.contains("--print-json"))
    }

    private static func forecast(
        _ file: String, _ place: String?, _ words: [String], _ places: ForecastTable
    ) throws(Problem) -> Task {
        guard words.isEmpty else { throw Problem(description: "--file takes no condition: the forecast has its own") }
        let name = place ?? places.places.first?.name ?? ""
        guard let found = places.place(name) else { throw Problem(description: "unknown place \"\(name)\"") }
        return .forecast(place: found.name, file: file)
    }

    private static func advice(_ words: [String], _ table: AdviceTable) throws(Problem) -> Task {
        guard words.count <= 2 else { throw Problem(description: "one condition and one alert at most") }
        let condition = try words.first.map { word throws(Problem) in
            try find(word, among: table.names.conditions, "condition")
        }
        let alert = try words.dropFirst().first.map { word throws(Problem) in
            try find(word, among: table.names.alerts, "alert")
        }
        return .advice(condition: condition ?? "Sunny", alert: alert)
    }

    private static func find(_ name: String, among known: [String], _ kind: String) throws(Problem) -> String {
        func key(_ text: String) -> String { text.lowercased().filter { $0 != " " } }
        guard let found = known.first(where: { key($0) == key(name) }) else {
            throw Problem(description: "unknown \(kind) \"\(name)\"")
        }
        return found
    }

    static func help(_ table: AdviceTable, _ places: ForecastTable) -> String {
        """
        Weather advice by your genes, against a sandbox of Sequencing.com on this machine.

        Usage: WeatherMyWay --serve [--port N] [--print-json]
               WeatherMyWay --file ID [--place NAME]
               WeatherMyWay [CONDITION] [ALERT]

          --serve        starts the web app and prints its address
          --port N       the app's port, from 0 to 65535; any free one unless stated
          --print-json   prints one line with the addresses, for programs
          --file ID      prints the forecast of seven days with advice for this file
          --place NAME   the place of the forecast:
        \(list(places.places.map(\.name)))
          CONDITION      the weather, Sunny unless stated; in quotation marks when it has two words:
        \(list(table.names.conditions))
          ALERT          the code of a severe-weather alert, which replaces the condition:
        \(list(table.names.alerts))
          -h, --help     prints this

        \(WeatherReport.disclaimer)

        """
    }

    /// Names in indented lines of four.
    private static func list(_ names: [String]) -> String {
        stride(from: 0, to: names.count, by: 4)
            .map { String(repeating: " ", count: 17) + names[$0..<min($0 + 4, names.count)].joined(separator: ", ") }
            .joined(separator: ",\n")
    }
}
#endif
