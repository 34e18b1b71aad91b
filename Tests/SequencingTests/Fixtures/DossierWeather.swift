import Foundation
import Testing

@testable import WeatherMyWay

/// One row of the dossier's section 13.
struct DossierWeather: Sendable, CustomTestStringConvertible {
    let number: Int
    let name: String

    var testDescription: String { "\(number) \(name)" }
    var isAlert: Bool { Self.alerts.contains(name) }
    /// How much sun the name means; nil where that is a matter of taste.
    var sun: Weather.Sun? {
        let strong = ["Sunny", "Clear", "Mostly Sunny", "Very Hot"]
        let absent = [
            "Rain", "Heavy Rain", "Hail", "Heavy Hail", "Sleet", "Blizzard", "Thunderstorm", "Thunderstorms",
            "Heavy Thunderstorm", "Funnel Cloud", "Sandstorm", "Heavy Sandstorm", "VolcanicAsh", "Heavy Volcanic Ash",
            "FreezingRain", "Heavy Fog", "Heavy Snow", "Small Hail",
        ]
        return strong.contains(name) ? .strong : absent.contains(name) ? .absent : nil
    }

    /// All names of the section, in its order.
    static let names: [String] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Documentation/Protocols/sequencing.md").standardized
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        guard let start = text.range(of: "## 13. Weather names")?.upperBound else { return [] }
        let lines = text[start...].split(separator: "\n").drop { !$0.hasPrefix("`") }
        return lines.flatMap { $0.components(separatedBy: " · ") }
            .map { String($0.dropFirst().dropLast()) }.map { $0 == "\"\"" ? "" : $0 }
    }()

    static let alerts = "HUR TOR TOW WRN SEW WIN FLO WAT WND SVR HEA FOG SPE FIR VOL HWW REC REP PUB".split(
        separator: " "
    ).map(String.init)

    static let rows = names.enumerated().map { DossierWeather(number: $0 + 1, name: $1) }
}
