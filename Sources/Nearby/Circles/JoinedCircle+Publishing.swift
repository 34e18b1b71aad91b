import Beacons
import Circles
import Crypto
import Foundation
import Handshake
import OAuth

/// What the user publishes in a circle: a signed identity, and the day keys of today and the next three days.
extension JoinedCircle {
    /// For how many days keys are published in one request. With four, a member publishes every third day, so that
    /// 10,000 members cost 0.8 MB a day.
    private static let publishedDays = UInt32(KeyRecord.maximumDays)
    /// How far a clock may be from the server's, in seconds.
    private static let clockTolerance: UInt64 = 120

    /// How long it takes, in seconds, until an epoch is the reason for a new seed again.
    static let renewalPause = 3_600.0

    /// Whether keys have to be published: the published ones end, or are those of another seed than the circle's.
    func mustPublish(_ state: CircleRecords.State) throws -> Bool {
        guard !state.isPaused else { return false }
        guard now < state.nextPublish, state.publishedUntil >= (try Self.day(now)) else { return true }
        return state.ownSeed.map { !state.hasPublished(keysOf: $0) } ?? true
    }

    /// Gives the circle another seed: the keys of the old one recognise no member from now on. Waves that
    /// they have sent still open.
    func renewSeed() async throws {
        if try await state().hasSharedSeed { try await forgetSharedSeed() }
        let today = try Self.day(now)
        try await records.changeState { $0.renewSeed(on: today) }
        try await records.noteChange()
    }

    /// Ends the seed that an earlier version had for circles and friends alike, while the circle's members have its keys.
    func forgetSharedSeed() async throws {
        try await RollingKeys(in: environment.vault, community: environment.community).forgetSeed()
    }

    static func digest(_ key: DayKey) -> Data { Data(SHA256.hash(data: key.reveal())) }

    /// Publishes the identity.
    ///
    /// It is signed once: of one identity the server takes no other record.
    func publishIdentity() async throws {
        try await signIdentity()
        let state = try await state()
        let record = try MemberRecord(Array(state.identity))
        try await server(state).publish(record.bytes, as: "member")
        try await records.changeState { state in
            // Another process has replaced it since.
            guard state.identity == Data(record.bytes) else { return }
            state.generation = record.generation
            state.isIdentityPending = nil
        }
    }

    /// Signs an identity where there is none.
    ///
    /// It is stored before it is sent: an answer that is lost leaves an identity that may be published.
    private func signIdentity() async throws {
        let state = try await state()
        guard state.identity.isEmpty else { return }
        let record = try MemberRecord(
            signedBy: try Self.keys(state), in: try server(state).scope, number: state.number,
            at: UInt64(max(0, now)))
        try await records.changeState { state in
            // Another process has signed it since.
            guard state.identity.isEmpty else { return }
            state.identity = Data(record.bytes)
            state.generation = record.generation
        }
    }

    /// Publishes the day keys of today and the next three days, or withdraws all of them.
    ///
    /// Several processes may do so. What began before a pause has a lower sequence than the withdrawal, so that the server keeps
    /// the withdrawal, whatever arrives last.
    func publishKeys(withdrawing: Bool = false) async throws {
        try await requireClock()
        let today = try Self.day(now)
        for attempt in 0..<2 {
            guard let (state, seed) = try await draft(withdrawing: withdrawing, isRetry: attempt > 0) else { return }
            let days = withdrawing ? 0..<0 : today..<(today &+ Self.publishedDays)
            let dayKeys = days.map { seed.dayKey(for: RollingDay(number: $0)) }
            let record = try KeyRecord(
                signedBy: try Self.keys(state),
                KeyRecord.Terms(
                    scope: try server(state).scope, number: state.number, generation: state.generation,
                    sequence: state.sequence, epoch: state.epoch, firstDay: today, issued: UInt64(max(0, now)),
                    waves: !withdrawing && state.takesWaves != false),
                dayKeys: dayKeys.map { $0.reveal() })
            do {
                try await server(state).publish(record.bytes, as: "keys")
                let last = today &+ Self.publishedDays &- 1
                // In the first half of the last published day, at random: keys are never more than three days ahead.
                let next = Double(last) * Self.secondsOfDay + environment.random(0...Self.secondsOfDay / 2)
                let (sequence, takesWaves) = (state.sequence, state.takesWaves != false)
                let published = state.seed
                try await records.changeState { state in
                    // Another process has published, or withdrawn, since.
                    guard state.sequence == sequence else { return }
                    // Keys of a seed that was renewed while they were on their way do not count.
                    state.publishedUntil = withdrawing || state.seed != published ? 0 : last
                    state.publishedKey = dayKeys.last.map(Self.digest)
                    // The user may have decided otherwise about waves while the keys were on their way.
                    state.nextPublish = (state.takesWaves != false) == takesWaves ? next : 0
                    state.isWithdrawn = withdrawing
                }
                // A watch that runs sends again.
                if !withdrawing, state.publishedUntil < today { try await records.noteChange() }
                return
            } catch CircleProblem.refused(409, "stale_sequence", _) where attempt == 0 {
                // Another device, or a backup: numbers go on from the minutes since 1970.
                continue
            }
        }
    }

    /// What a publication is made of: the state with a sequence that no record has had, and the seed of the circle. They are
    /// stored before they are used.
    ///
    /// - Returns: nil when the user has paused, or resumed, meanwhile.
    private func draft(withdrawing: Bool, isRetry: Bool) async throws -> (CircleRecords.State, RollingSeed)? {
        // First: whom the user hides from must not get new keys.
        if !withdrawing { try await deliverHides() }
        let minutes = UInt32(clamping: Int64(max(0, now) / 60))
        let next = try await records.change { state -> (CircleRecords.State, RollingSeed, isNew: Bool)? in
            guard var changed = state, changed.isPaused == withdrawing else { return nil }
            // Another process is hiding the user from a member, who must not get keys of the new seed.
            guard withdrawing || changed.unsentHides?.isEmpty ?? true else { return nil }
            changed.isWithdrawn = false
            if !withdrawing { changed.isSeedUnsent = nil }
            changed.sequence = isRetry ? max(changed.sequence &+ 1, minutes) : changed.sequence &+ 1
            let known = changed.ownSeed
            let seed = known ?? .random()
            changed.seed = Data(seed.reveal())
            state = changed
            return (changed, seed, known == nil)
        }
        guard let (state, seed, isNew) = next else {
            guard try await self.state().isPaused == withdrawing else { return nil }
            return try await draft(withdrawing: withdrawing, isRetry: isRetry)
        }
        // A watch that runs sends identifiers of the new seed.
        if isNew { try await records.noteChange() }
        return (state, seed)
    }

    /// How far this device's clock is ahead of the server's, in seconds; nil when they agree.
    func clockError(_ info: CircleServer.Info) -> Int64? {
        let ahead = Int64(now) - info.time
        return ahead.magnitude <= Self.clockTolerance ? nil : ahead
    }

    /// A clock that is off would publish keys for another time.
    private func requireClock() async throws {
        let info = try await server(try await state()).info()
        if let ahead = clockError(info) { throw CircleProblem.clock(seconds: ahead) }
        try await takeEpoch(of: info)
    }

    /// Takes the circle's epoch. In another one a member was removed: what was published so far becomes useless.
    ///
    /// Only this function takes an epoch. If a publication's answer set it, the seed would not be renewed, and the removed
    /// member has keys of it.
    ///
    /// The seed is renewed once an hour at most: each time a watch restarts, and a server can send any epoch. An epoch that comes
    /// earlier is taken when the hour is over. Also a lower one counts: the server may have been restored from a backup.
    func takeEpoch(of info: CircleServer.Info) async throws {
        let known = try await state()
        guard info.epoch != known.epoch else { return }
        if known.hasSharedSeed { try await forgetSharedSeed() }
        let (today, moment) = (try Self.day(now), now)
        // One step: two processes renew it once, and what ends here leaves nothing half done.
        let isRenewed = try await records.change { state in
            guard var changed = state, info.epoch != changed.epoch else { return false }
            // Of a seed that was not published no member has keys.
            let mustRenew = changed.hasSharedSeed || (changed.ownSeed != nil && changed.isSeedUnsent != true)
            if mustRenew {
                if let last = changed.epochRenewed, abs(moment - last) < Self.renewalPause { return false }
                changed.renewSeed(on: today)
                changed.epochRenewed = moment
            }
            changed.epoch = info.epoch
            changed.publishedUntil = 0
            state = changed
            return mustRenew
        }
        if isRenewed { try await records.noteChange() }
    }
}
