#if Server
import OAuth

extension MemberCircle {
    /// What is stored of the circle as a whole.
    struct State: Sendable {
        /// Distinguishes this table from one that begins again at revision 0.
        var instance = ""
        var epoch: UInt32 = 1
        var revision: UInt64 = 0
        /// Tombstones up to this revision have expired.
        var forgottenRevision: UInt64 = 0
        /// When the epoch changed last: seconds since 1970.
        var epochRaised = 0.0
        /// Whether a member was removed too soon after that: the epoch changes when the pause is over.
        var isEpochDue = false
        /// When the last cleaning ran: seconds since 1970.
        var cleaned = 0.0
        /// The time between cleanings, added up, in seconds. Each interval counts as a day at most.
        ///
        /// A clock that is set ahead adds a day, however far it is ahead.
        var observedTime = 0.0

        /// The largest number of seconds that is read: a larger one, which no clock has, could not be stored again.
        fileprivate static let maximumSeconds: Int64 = 1 << 53
    }
}

extension MemberCircle.State {
    var stored: [UInt8] {
        let members: JSONObject = [
            "version": .number("1"), "instance": .string(instance), "epoch": .number("\(epoch)"),
            "revision": .number("\(revision)"), "forgotten_revision": .number("\(forgottenRevision)"),
            "epoch_raised": .number("\(Int64(epochRaised))"), "epoch_due": .bool(isEpochDue),
            "cleaned": .number("\(Int64(cleaned))"), "observed": .number("\(Int64(observedTime))"),
        ]
        return Array(JSONValue.object(members).json.utf8)
    }

    init?(stored bytes: [UInt8]) {
        guard let members = (try? JSONValue(parsing: bytes))?.object, members["version"]?.integer == 1,
            let instance = members["instance"]?.string,
            let epoch = members["epoch"]?.integer.flatMap({ UInt32(exactly: $0) }),
            let revision = members["revision"]?.integer.flatMap({ UInt64(exactly: $0) })
        else { return nil }
        self.instance = instance
        self.epoch = epoch
        self.revision = revision
        forgottenRevision = members["forgotten_revision"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
        func seconds(_ name: String) -> Double? {
            members[name]?.integer.map { Double(min(max($0, 0), Self.maximumSeconds)) }
        }
        // Earlier versions stored the day.
        let day = members["epoch_day"]?.integer.flatMap { UInt32(exactly: $0) } ?? 0
        epochRaised = seconds("epoch_raised") ?? Double(day) * 86_400
        isEpochDue = members["epoch_due"]?.bool ?? false
        cleaned = seconds("cleaned") ?? 0
        observedTime = seconds("observed") ?? 0
    }
}
#endif
