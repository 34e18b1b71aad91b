#if Sandbox
import SandboxCore

/// What the fixtures' queries find.
enum GardenData {
    /// One row: its ingredients, and one that is a query itself (IFTTT Connect dossier, section 2.10).
    struct Row: Sendable {
        let ingredients: [JSON.Member]
        var nested: Nested?

        struct Nested: Sendable {
            let name: String
            let fields: JSON
            let rows: [JSON]
        }

        /// - Parameter includes: the nested ingredients to give in full.
        func json(including includes: [String]) -> JSON {
            guard let nested else { return .object(ingredients) }
            let value: JSON =
                includes.contains(nested.name)
                ? ["type": "list", "data": .array(nested.rows)] : ["type": "query", "fields": nested.fields]
            return .object(ingredients + [JSON.Member(name: nested.name, value: value)])
        }
    }

    static let plants = ["Basil", "Chives", "Dill", "Fennel", "Lovage", "Mint", "Parsley"]

    /// The rows of a query by its name; empty for one without data.
    static func rows(of query: String, fields: [JSON.Member]) -> [Row] {
        switch query {
        case "list_plants":
            return plants.enumerated().map { index, name in
                Row(
                    ingredients: [
                        JSON.Member(name: "PlantName", value: .string(name)),
                        JSON.Member(name: "Moisture", value: .number(20 + 9 * index)),
                    ],
                    nested: Row.Nested(
                        name: "Readings", fields: ["plant": .string("plant-\(index + 1)")],
                        rows: readings(plant: index + 1)))
            }
        case "list_readings":
            let plant = fields.first { $0.name == "plant" }?.value.scalarText ?? ""
            return (Int(plant.dropFirst(6)).map { readings(plant: $0) } ?? []).map { reading in
                guard case .object(let members) = reading else { return Row(ingredients: []) }
                return Row(ingredients: members)
            }
        default: return []
        }
    }

    private static func readings(plant: Int) -> [JSON] {
        (1...3).map { ["Hour": .number($0 * 8), "Moisture": .number(10 * plant + $0)] }
    }
}
#endif
