#if Sandbox
import SandboxCore

/// A place of the Recurse Center stand-in (Recurse Center dossier, section 4.3).
struct Location: Sendable, Equatable {
    let id: Int
    let name: String
    let shortName: String
    let asciiName: String

    init(_ id: Int, _ name: String, short: String, ascii: String? = nil) {
        self.id = id
        self.name = name
        shortName = short
        asciiName = ascii ?? name
    }

    /// As a profile embeds it.
    var embedded: JSON {
        ["id": .number(id), "name": .string(name), "short_name": .string(shortName)]
    }

    /// As the location search writes it.
    var json: JSON {
        embedded.adding("ascii_name", .string(asciiName)).adding("type", "city")
    }

    static let newYork = Location(5_128_581, "New York City, NY", short: "New York City")
    static let gothenburg = Location(2_711_537, "Göteborg, Sweden", short: "Göteborg", ascii: "Goteborg, Sweden")

    /// More than the route gives unasked, and more than it gives at all.
    static let all =
        [newYork, gothenburg]
        + (1...60).map { Location(900_000 + $0, "Newtown \($0), NY", short: "Newtown \($0)") }
}
#endif
