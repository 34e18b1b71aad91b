import Beacons
import Circles
import Handshake

/// What removes a person, all members, or everything of the circle.
extension CircleRecords {
    /// Forgets a person: the row and the photo go, and the number is not taken again.
    ///
    /// A table that cannot be read may have the person, so it goes too, with everyone's pin; photos of the others stay. Without
    /// the state nothing changes: it could not be stored that the number is not taken again.
    ///
    /// - Returns: what there was; nil for nothing.
    /// - Throws: `VaultError.damaged` where the state cannot be read.
    func forget(_ person: UserNumber) async throws -> Forgotten? {
        guard let number = UInt32(exactly: person.value) else { return nil }
        guard try await state() != nil else { return try await removeMembers() ? .unreadableMembers : nil }
        try await changeState { $0.removeWaves(at: number) }
        guard var table = try await readableTable() else {
            try await changeState { $0.blocked.insert(number) }
            _ = try await pack(PhotoPack.index(of: number), without: { one, _ in one == number })
            return try await removeUnreadableTable() ? .unreadableMembers : nil
        }
        guard table.forget(number) else { return nil }
        // One that was stored in between goes too.
        try await changeState { state in
            state.blocked.insert(number)
            state.removeWaves(at: number)
        }
        try await replaceTable(table)
        _ = try await pack(PhotoPack.index(of: number), without: { one, _ in one == number })
        return .person
    }

    /// What is removed when a person is forgotten.
    enum Forgotten {
        /// The row or the pin.
        case person
        /// The rows and pins of all members, which could not be read.
        case unreadableMembers
    }

    /// Removes everything of the circle.
    func removeAll() async throws {
        // The state last, so that a failure leaves something to begin again with.
        try await removeMembers()
        try await vault.remove(key("unread"))
        try await vault.remove(key("state"))
        try await noteChange()
    }

    /// Removes members and photos that were not fetched for so long. The user stays a member.
    ///
    /// What cannot be read stays as long: a file may be put back, and an error may end when programs are restarted. A state that
    /// cannot be read does not say when members were fetched; they are kept from when this is found first.
    ///
    /// - Returns: whether there were any.
    func expire(at now: Double, after retention: Double) async throws -> Bool {
        let found: State?
        do {
            found = try await state()
        } catch VaultError.damaged {
            // The state itself stays: commands say what is wrong, and a later version may read it.
            guard try await isUnreadable(for: retention, at: now) else { return false }
            return try await removeMembers()
        }
        try await noteReadable()
        guard let state = found else { return try await removeMembers() }
        if state.hasWaves { try await changeState { $0.expireWaves(at: now) } }
        guard now - state.synced > retention else {
            guard let known = try await readableTable() else { return false }
            var table = known
            table.expireDepartures(at: UInt64(max(0, now)))
            table.expireKeys(today: UInt32(clamping: Int64(max(0, now) / JoinedCircle.secondsOfDay)))
            try await replaceTable(table, known: known)
            return false
        }
        // First: a table that is not there afterwards is not lost.
        if state.hasTable == true { try await changeState { $0.hasTable = nil } }
        guard try await removeMembers() else { return false }
        try await changeState { state in
            (state.membersTag, state.keysTag, state.waves, state.waved) = (nil, nil, [], [:])
            (state.answered, state.formerKeys) = (nil, nil)
        }
        try await noteChange()
        return true
    }

    /// Whether the state was not readable for longer than a time, which begins when this is asked first.
    private func isUnreadable(for retention: Double, at now: Double) async throws -> Bool {
        let stored = try? await vault.record(key("unread"))
        let known = stored.flatMap { Double(String(decoding: $0, as: UTF8.self)) }
        // A time in the future means that the clock was set back: it counts as now.
        let since = min(known ?? now, now)
        if since != known { try await vault.replace(key("unread"), with: Array("\(since)".utf8)) }
        return now - since > retention
    }

    /// Notes that the state can be read. Members may have been removed while it could not: all are fetched again.
    private func noteReadable() async throws {
        guard (try? await vault.record(key("unread"))) != nil else { return }
        try await changeState { ($0.membersTag, $0.keysTag) = (nil, nil) }
        try await vault.remove(key("unread"))
    }

    @discardableResult
    private func removeMembers() async throws -> Bool {
        var existed = try await removeTable()
        let listing = try await vault.keys(of: .circle)
        for key in listing.keys where key.components.starts(with: [community, scope]) {
            guard key.components.count > 2, !["state", "farewell", "unread"].contains(key.components[2]) else {
                continue
            }
            existed = try await vault.remove(key) || existed
        }
        guard !listing.damaged.isEmpty else { return existed }
        for index in UInt8.min...UInt8.max {
            existed = try await vault.remove(key("photos", "\(index)")) || existed
        }
        return existed
    }
}
