#if Server
import Circles
import HTTPTypes
import Handshake
import OAuth

extension MemberCircle {
    /// Makes an applicant a member, or renews what is known of a member.
    ///
    /// - Parameter isReplacing: whether the member's identity ends, and with it all bearers.
    /// - Returns: a new bearer and when it expires.
    func admit(
        _ applicant: CircleApplicant, replacingIdentity isReplacing: Bool = false
    ) async throws -> (bearer: String, expires: Double) {
        try await inTurn { circle in
            var member = circle.members[applicant.number] ?? CircleMember(number: applicant.number)
            guard !member.isRemoved else {
                throw RequestRefusal(.forbidden, "removed", "You are no longer a member of this circle")
            }
            guard member.joined != 0 || circle.count < Self.maximumMembers else {
                throw RequestRefusal(.serviceUnavailable, "full", "The circle has no more places", retryAfter: 86_400)
            }
            let now = circle.time.now()
            if member.gone != nil { member = CircleMember(number: applicant.number) }
            if isReplacing { member.bearers = [:] }
            // No device is signed in that could rotate the identity: the one that joins now publishes its own.
            if member.identity != nil, member.bearers.values.allSatisfy({ $0 <= now }) {
                try await circle.endIdentity(of: &member)
            }
            let name = MemberText.clean(applicant.name, limit: MemberText.maximumNameLength)
            let batch = MemberText.clean(applicant.batch, limit: MemberText.maximumBatchLength)
            member.hasLargePhoto = applicant.hasLargePhoto
            if (member.name, member.batch) != (name, batch) || member.photo != applicant.photo || member.joined == 0 {
                member.name = name.isEmpty ? "Member \(applicant.number)" : name
                member.batch = batch
                member.photo = applicant.photo
                member.rowRevision = circle.nextRevision()
            }
            if member.joined == 0 { member.joined = UInt32(clamping: Int64(max(now, 0) / 86_400)) }
            try await circle.store(member)
            return try await circle.newBearer(for: member.number)
        }
    }

    /// Removes what a member has published, and the waves that only the old identity can read.
    private func endIdentity(of member: inout CircleMember) async throws {
        for wave in waves.values where wave.sender == member.number { try await remove(wave) }
        member.identity = nil
        member.keys = nil
        member.rowRevision = nextRevision()
        member.keysRevision = member.rowRevision
    }

    /// Publishes a member's identity.
    ///
    /// - Parameter bearer: what the request was made with; nil for one of this process.
    /// - Returns: the revision of the table.
    /// - Throws: 409 `identity_exists` for another identity that the old one has not signed; 422.
    func publish(_ bytes: [UInt8], ofIdentity number: UInt32, by bearer: String?) async throws -> UInt64 {
        let record = try Self.refusing { () throws(CircleError) in try MemberRecord(bytes) }
        return try await inTurn { circle in
            // It may have ended while the body arrived.
            if let bearer { _ = try circle.owner(ofBearer: bearer) }
            guard var member = circle.members[number], member.gone == nil else { throw MemberCircle.unknownBearer }
            if let known = member.identity {
                guard known.bytes != record.bytes else { return circle.state.revision }
                guard record.identity == known.identity || record.replaces(known) else {
                    throw RequestRefusal(
                        .conflict, "identity_exists",
                        "Another device has published an identity: leave the circle there, or replace the identity when you join"
                    )
                }
                guard record.identity != known.identity else {
                    throw RequestRefusal(.unprocessableContent, "malformed", "The identity is published already")
                }
            }
            let now = UInt64(max(0, circle.time.now()))
            try Self.refusing { () throws(CircleError) in
                try record.check(in: circle.scope, of: number, at: now)
            }
            member.identity = record
            member.keys = nil
            member.rowRevision = circle.nextRevision()
            member.keysRevision = member.rowRevision
            try await circle.store(member)
            return member.rowRevision
        }
    }

    /// Publishes a member's day keys, or withdraws them.
    ///
    /// - Returns: the revision of the table.
    /// - Throws: 409 `stale_sequence` or `stale_epoch`; 422, also for keys that another member has published.
    func publish(_ bytes: [UInt8], ofKeys number: UInt32, by bearer: String?) async throws -> UInt64 {
        let record = try Self.refusing { () throws(CircleError) in try KeyRecord(bytes) }
        return try await inTurn { circle in
            if let bearer { _ = try circle.owner(ofBearer: bearer) }
            guard var member = circle.members[number], member.gone == nil else { throw MemberCircle.unknownBearer }
            guard let identity = member.identity else {
                throw RequestRefusal(.unprocessableContent, "malformed", "Publish an identity first")
            }
            let now = UInt64(max(0, circle.time.now()))
            let isNew = try Self.refusing { () throws(CircleError) in
                try record.check(
                    in: circle.scope, by: identity, at: now, after: member.keys, epoch: circle.state.epoch)
            }
            guard isNew, !record.terms.isPair else {
                if record.terms.isPair {
                    throw RequestRefusal(.unprocessableContent, "malformed", "These are keys of a pair")
                }
                return circle.state.revision
            }
            guard !circle.hasKeys(of: record, besides: number) else {
                throw RequestRefusal(
                    .unprocessableContent, "malformed", "Another member has published one of these keys")
            }
            member.keys = record
            member.keysRevision = circle.nextRevision()
            try await circle.store(member)
            return member.keysRevision
        }
    }

    /// Changes what others see of a member. What is as it was is no news for others.
    ///
    /// - Returns: the member afterwards.
    /// - Throws: 422 `photo_too_large` for who wants to show a photo that was left out.
    func change(_ number: UInt32, showsPhoto: Bool?, showsBatch: Bool?) async throws -> CircleMember {
        try await inTurn { circle in
            guard var member = circle.members[number], member.gone == nil else { throw MemberCircle.unknownBearer }
            guard showsPhoto != true || !member.hasLargePhoto else {
                throw RequestRefusal(
                    .unprocessableContent, "photo_too_large",
                    "Your photo has more than \(CircleApplicant.maximumPhotoSize) bytes: it cannot be shown. Choose a smaller one at the service, and join again"
                )
            }
            let before = (member.showsPhoto, member.showsBatch)
            member.showsPhoto = showsPhoto ?? member.showsPhoto
            member.showsBatch = showsBatch ?? member.showsBatch
            guard (member.showsPhoto, member.showsBatch) != before else { return member }
            member.rowRevision = circle.nextRevision()
            try await circle.store(member)
            return member
        }
    }

    /// Hides two members from each other, or ends that. The other one does not learn who hides; unknown numbers are taken too.
    func hide(_ other: UInt32, from number: UInt32, _ isHidden: Bool) async throws {
        try await inTurn { circle in
            guard var member = circle.members[number], member.gone == nil else { throw MemberCircle.unknownBearer }
            guard member.hidden.contains(other) != isHidden, other != number else { return }
            guard !isHidden || member.hidden.count < Self.maximumMembers else {
                throw RequestRefusal(.unprocessableContent, "too_many", "You cannot hide from more people")
            }
            if isHidden { member.hidden.insert(other) } else { member.hidden.remove(other) }
            let revision = circle.nextRevision()
            circle.pairs[Pair(number, other)] = revision
            if !isHidden {
                // Otherwise a restart would forget that the row is to be sent again.
                member.rowRevision = revision
                member.keysRevision = revision
                if var known = circle.members[other], known.gone == nil {
                    known.rowRevision = revision
                    known.keysRevision = revision
                    try await circle.store(known)
                }
            }
            try await circle.store(member)
        }
    }

    /// Ends a bearer: one device is signed out.
    func signOut(_ bearer: String, of number: UInt32) async throws {
        try await inTurn { circle in
            guard var member = circle.members[number] else { return }
            member.bearers[Self.digest(bearer)] = nil
            try await circle.store(member)
        }
    }

    /// A member leaves: row, hides, waves and bearers are deleted.
    func leave(_ number: UInt32) async throws {
        try await inTurn { circle in
            guard let member = circle.members[number], member.gone == nil else { return }
            try await circle.leave(number, at: circle.time.now(), isRemoved: false)
        }
    }

    /// A record's error as an answer.
    private static func refusing<Value>(_ body: () throws(CircleError) -> Value) throws(RequestRefusal) -> Value {
        do throws(CircleError) {
            return try body()
        } catch {
            switch error {
            case .oldSequence: throw RequestRefusal(.conflict, "stale_sequence", error.description)
            case .oldEpoch: throw RequestRefusal(.conflict, "stale_epoch", error.description)
            default: throw RequestRefusal(.unprocessableContent, "malformed", error.description)
            }
        }
    }
}
#endif
