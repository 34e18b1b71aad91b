#if Sandbox
import SandboxCore

/// A stay of a person at the Recurse Center stand-in (Recurse Center dossier, section 4.3).
struct Stint: Sendable {
    /// What the stay was. The service's set is open; these are the known ones.
    enum Kind: String, Sendable {
        case retreat, residency, employment, facilitatorship

        /// The value of `role` that finds people with such a stint.
        var role: String {
            switch self {
            case .retreat: "recurser"
            case .residency: "resident"
            case .employment: "faculty"
            case .facilitatorship: "facilitator"
            }
        }
    }

    let kind: Kind
    var title: String?
    var batch: Batch?
    let startDate: String
    var endDate: String?
    var isHalfBatch = false
    var isInProgress = false

    /// A stay for a whole batch.
    static func batch(_ batch: Batch) -> Stint {
        Stint(kind: .retreat, batch: batch, startDate: batch.startDate, endDate: batch.endDate)
    }

    /// Whether the two stays share a day; dates of this form compare as text, and an open end is far away.
    func overlaps(_ other: Stint) -> Bool {
        startDate <= (other.endDate ?? "9999-12-31") && other.startDate <= (endDate ?? "9999-12-31")
    }

    func json(id: Int) -> JSON {
        [
            "id": .number(id), "type": .string(kind.rawValue), "title": JSON(title),
            "for_half_batch": .bool(isHalfBatch), "in_progress": .bool(isInProgress),
            "start_date": .string(startDate), "end_date": JSON(endDate), "batch": batch?.named ?? .null,
        ]
    }
}
#endif
