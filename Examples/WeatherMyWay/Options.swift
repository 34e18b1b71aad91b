#if Sandbox
/// What the command line of WeatherMyWay says.
struct Options: Equatable {
    var condition = "Sunny"
    var alert: String?
    var showsHelp = false

    /// Why a command line cannot be used.
    struct Problem: Error, Equatable {
        let description: String
    }

    /// - Throws: ``Problem`` for an unknown option, and for weather that the table does not have.
    init(_ arguments: [String], table: AdviceTable) throws(Problem) {
        guard !arguments.contains(where: { $0 == "-h" || $0 == "--help" }) else {
            showsHelp = true
            return
        }
        if let option = arguments.first(where: { $0.hasPrefix("-") }) {
            throw Problem(description: "unknown option \"\(option)\"")
        }
        guard arguments.count <= 2 else { throw Problem(description: "one condition and one alert at most") }
        if let condition = arguments.first {
            self.condition = try Self.find(condition, among: table.conditions, "condition")
        }
        if let alert = arguments.dropFirst().first {
            self.alert = try Self.find(alert, among: table.alerts, "alert")
        }
    }

    private static func find(_ name: String, among known: [String], _ kind: String) throws(Problem) -> String {
        guard let found = known.first(where: { $0.lowercased() == name.lowercased() }) else {
            throw Problem(description: "unknown \(kind) \"\(name)\"")
        }
        return found
    }

    static func help(_ table: AdviceTable) -> String {
        """
        Prints weather advice for each sample file of a sandbox of Sequencing.com on this machine.

        Usage: WeatherMyWay [CONDITION] [ALERT]

          CONDITION    the weather, Sunny unless stated; in quotation marks when it has two words:
        \(list(table.conditions))
          ALERT        the code of a severe-weather alert, which replaces the condition:
        \(list(table.alerts))
          -h, --help   prints this

        """
    }

    /// Names in indented lines of six.
    private static func list(_ names: [String]) -> String {
        stride(from: 0, to: names.count, by: 6)
            .map { String(repeating: " ", count: 15) + names[$0..<min($0 + 6, names.count)].joined(separator: ", ") }
            .joined(separator: ",\n")
    }
}
#endif
