import Handshake
import OAuth

/// A stay at the Recurse Center (dossier 4.3).
public struct Stint: Sendable, Hashable {
    /// The kind of stay. The service may add more.
    public struct Kind: Sendable, Hashable, RawRepresentable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let retreat = Kind(rawValue: "retreat")
        public static let residency = Kind(rawValue: "residency")
        public static let employment = Kind(rawValue: "employment")
        public static let facilitatorship = Kind(rawValue: "facilitatorship")
    }

    /// The identifier of the stay; nil in the representation of 2014.
    public let id: Int64?
    public let kind: Kind
    public let title: String?
    public let isHalfBatch: Bool
    public let isInProgress: Bool
    public let startDate: CalendarDate?
    /// The last day; nil for a stay without end.
    public let endDate: CalendarDate?
    /// The batch; nil for staff and residents.
    public let batch: Batch?
}

extension Stint {
    /// Reads a stint. All members are optional.
    init(_ members: Members) {
        id = members.integer("id")
        kind = Kind(rawValue: members.text("type") ?? "")
        title = members.text("title")
        isHalfBatch = members["for_half_batch"]?.bool ?? false
        isInProgress = members["in_progress"]?.bool ?? false
        startDate = members.date("start_date")
        endDate = members.date("end_date")
        batch = members.object("batch").flatMap { try? Batch($0) }
    }

    /// Reads a stint of 2014, which refers to its batch by number (dossier 4.2).
    init(legacy members: Members, batches: [Batch]) {
        let number = members.integer("batch_id")
        self.init(
            staying: batches.first { $0.id.number == number }, from: members.date("start_date"),
            to: members.date("end_date"))
    }

    /// Makes a stay for a batch.
    init(staying batch: Batch?, from startDate: CalendarDate?, to endDate: CalendarDate?) {
        id = nil
        kind = .retreat
        title = nil
        isHalfBatch = false
        isInProgress = false
        self.startDate = startDate
        self.endDate = endDate
        self.batch = batch
    }
}
