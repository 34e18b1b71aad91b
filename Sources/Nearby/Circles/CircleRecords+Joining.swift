import Foundation

/// What a membership takes over from the one before it, when the user joins again.
extension CircleRecords.State {
    /// Whether the user has to join again to go on: the bearer has expired or was rejected.
    func mustJoinAgain(at now: Double) -> Bool { isSignedOut == true || Double(expires) <= now }

    /// Whether the user may join again: the sign-in has ended, or ends within days.
    func mayJoinAgain(at now: Double) -> Bool {
        mustJoinAgain(at: now) || Double(expires) - now <= JoinedCircle.renewalTime
    }

    /// Takes over what the user is to others from a membership that this one continues.
    mutating func takeIdentity(of earlier: Self) {
        (keys, generation, identity) = (earlier.keys, earlier.generation, earlier.identity)
        (seed, sequence, epoch) = (earlier.seed, earlier.sequence, earlier.epoch)
        epochRenewed = earlier.epochRenewed
        (waves, waved, answered) = (earlier.waves, earlier.waved, earlier.answered)
        (formerKeys, isSeedUnsent) = (earlier.formerKeys, earlier.isSeedUnsent)
    }

    /// Takes over what the user has decided in a membership that this one continues.
    mutating func takeDecisions(of earlier: Self) {
        (isPaused, hidden, blocked) = (earlier.isPaused, earlier.hidden, earlier.blocked)
        // The server may have heard nothing of them.
        unsentHides = earlier.hidden
        unsentUnhides = earlier.unsentUnhides
        // What it said last is no decision: another device may have decided since. Only what was off is sent again.
        unsentPhoto = earlier.unsentPhoto ?? (earlier.showsPhoto == false ? false : nil)
        unsentBatch = earlier.unsentBatch ?? (earlier.showsBatch == false ? false : nil)
        (takesWaves, skipsPhotos) = (earlier.takesWaves, earlier.skipsPhotos)
        // The table stays too.
        (hasTable, pinsLost, isLossReported) = (earlier.hasTable, earlier.pinsLost, earlier.isLossReported)
        (mustFetchWhole, isClockOff) = (earlier.mustFetchWhole, earlier.isClockOff)
        // Otherwise the table would count as one that was not fetched for 30 days.
        synced = earlier.synced
    }
}

extension CircleRecords {
    /// Puts the bearer of an earlier membership back, which could not be renewed. What was decided meanwhile stays.
    ///
    /// - Parameters:
    ///   - earlier: the membership before.
    ///   - bearer: the new bearer. Where another one is stored, the user has joined again meanwhile.
    /// - Returns: whether the user has left the circle meanwhile.
    func signBackIn(as earlier: State, from bearer: String) async throws -> Bool {
        try await change { state in
            guard var changed = state else { return true }
            guard changed.bearer == bearer else { return false }
            (changed.bearer, changed.expires) = (earlier.bearer, earlier.expires)
            changed.isSignedOut = earlier.isSignedOut
            // One that was rotated meanwhile may be pending itself.
            if changed.identity == earlier.identity { changed.isIdentityPending = earlier.isIdentityPending }
            if changed.synced == earlier.synced, changed.trouble == nil { changed.trouble = earlier.trouble }
            state = changed
            return false
        }
    }

    /// Puts an earlier membership back, whose place another member's would have taken.
    ///
    /// - Parameters:
    ///   - earlier: the membership before.
    ///   - bearer: the new bearer. Where another one is stored, the user has joined again meanwhile.
    /// - Returns: whether the user has left the circle meanwhile.
    func restore(_ earlier: State, from bearer: String) async throws -> Bool {
        let hasLeft = try await change { state in
            guard let present = state else { return true }
            if present.bearer == bearer { state = earlier }
            return false
        }
        try await noteChange()
        return hasLeft
    }
}
