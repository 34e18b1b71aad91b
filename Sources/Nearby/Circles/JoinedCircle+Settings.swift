public import Beacons
import Circles
import Foundation
import HTTPTypes
import Handshake

/// What the user decides in a circle.
extension JoinedCircle {
    /// Whether a circle's server knows what the user has decided. On this device it holds all the same.
    public enum Delivery: Sendable, Hashable {
        /// The server knows it.
        case delivered
        /// The server could not be reached, and is told later.
        case pending
        /// The server does not accept this device any more: the sign-in has ended.
        ///
        /// It is told when the user has joined again, but not of a leave.
        case signedOut
    }

    /// Stops sending in this circle, and withdraws the published keys.
    ///
    /// Nothing is sent for the circle from now on, also when the server cannot be reached: then it is told at the next
    /// synchronisation. Its members stop recognising the user within six hours; other circles and friends still do.
    ///
    /// - Returns: whether the server knows it.
    @discardableResult
    public func pause() async throws -> Delivery {
        try await CircleEnvironment.placing {
            try await records.changeState { $0.isPaused = true }
            try await records.noteChange()
            return try await delivery { try await withdrawKeys() }
        }
    }

    /// Tells the server what the user has decided, which is stored already.
    func delivery(_ tell: () async throws -> Void) async throws -> Delivery {
        let bearer = try await state().bearer
        do {
            if try await isTold(tell) { return .delivered }
        } catch CircleProblem.signedOut {
            // Joining again is refused to a device that is signed in. The user may have joined meanwhile, with another bearer.
            try await records.changeState { if $0.bearer == bearer { $0.isSignedOut = true } }
        }
        return try await state().mustJoinAgain(at: now) ? .signedOut : .pending
    }

    /// Whether the server could be told something now; false when it can be tried again later.
    func isTold(_ tell: () async throws -> Void) async throws -> Bool {
        do {
            try await tell()
            return true
        } catch CircleProblem.network {
        } catch CircleProblem.tooMany {
        } catch CircleProblem.clock {
        } catch CircleProblem.refused(500..., _, _) {
        }
        return false
    }

    /// Tells the server from whom the user hides, and from whom no more, if it does not know yet.
    ///
    /// What it refuses is not asked for again: it would keep the user from publishing for good.
    func deliverHides() async throws {
        while true {
            let state = try await state()
            // Hides come first: a server that never heard of a hide would send nothing again that was forgotten here.
            if let number = state.unsentHides?.min() {
                try await deliver(.put, number)
            } else if let number = state.unsentUnhides?.min() {
                try await deliver(.delete, number)
            } else {
                return
            }
        }
    }

    private func deliver(_ method: HTTPRequest.Method, _ number: UInt32) async throws {
        var (failure, isRefused): ((any Error)?, Bool) = (nil, false)
        do {
            _ = try await server(try await state()).send(method, "v1/me/hidden/\(number)", expecting: [204])
        } catch {
            failure = error
            if case CircleProblem.refused(..<500, _, _) = error { isRefused = true }
        }
        let (today, isOver, mayCount) = (try Self.day(now), failure == nil || isRefused, !isRefused)
        let isShown = try await records.change { state in
            guard var changed = state else { return false }
            if isOver, method == .put {
                changed.unsentHides?.remove(number)
            } else if isOver {
                changed.unsentUnhides?.remove(number)
                changed.nextSync = 0
            }
            // Another process may have decided otherwise meanwhile, and its request may have arrived before this one.
            let isHidden = changed.hidden.contains(number)
            let isUndone = mayCount && isHidden != (method == .put)
            if isUndone, isHidden {
                changed.unsentHides = (changed.unsentHides ?? []).union([number])
                // The person may have fetched the keys.
                changed.renewSeed(on: today)
            } else if isUndone {
                changed.unsentUnhides = (changed.unsentUnhides ?? []).union([number])
            }
            state = changed
            return isUndone && isHidden
        }
        if isShown { try await records.noteChange() }
        if let failure { throw failure }
    }

    /// Withdraws the published keys while the user has paused.
    func withdrawKeys() async throws {
        if try await state().mustWithdraw { try await publishKeys(withdrawing: true) }
    }

    /// Publishes keys of a new seed. The old ones no longer identify the user in this circle.
    public func resume() async throws {
        try await CircleEnvironment.placing {
            try await renewSeed()
            try await records.changeState { $0.isPaused = false }
            try await records.noteChange()
            try await publishKeys()
        }
    }

    /// What hiding from a person did beside it.
    public struct Hiding: Sendable, Hashable {
        /// Whether the person was a friend: the other friends need new keys then.
        public let wasFriend: Bool
        /// Whether the server knows it.
        public let delivery: Delivery
    }

    /// Hides the user and a person from each other.
    ///
    /// The user has a new seed in this circle from now on, so that the person's old keys are useless. A friend is no longer
    /// one. This holds also when the server cannot be reached.
    @discardableResult
    public func hide(_ person: UserNumber) async throws -> Hiding {
        try await CircleEnvironment.placing {
            let number = try Self.number(person)
            let state = try await state()
            try await records.changeState { state in
                state.hidden.insert(number)
                state.unsentHides = (state.unsentHides ?? []).union([number])
                state.unsentUnhides?.remove(number)
            }
            _ = try await records.forget(person)
            try await records.changeState { $0.blocked.remove(number) }
            let wasFriend = try await endContact(with: [person])
            let delivery = try await delivery {
                try await deliverHides()
                if !state.isPaused { try await publishKeys() }
            }
            return Hiding(wasFriend: wasFriend, delivery: delivery)
        }
    }

    /// Ends what this device has of people from whom the user hides, beside the circle's table, and what they have of the user.
    ///
    /// They are no friends any more, their alerts go, and the user has a new seed in this circle. It can be repeated.
    ///
    /// - Returns: whether one of them was a friend.
    @discardableResult
    func endContact(with people: Set<UserNumber>) async throws -> Bool {
        let hadFriend = try await environment.stored.unfriend(people)
        try await renewSeed()
        try await environment.stored.withdraw(people)
        return hadFriend
    }

    /// Ends hiding from a person, and ignoring a member who was forgotten.
    ///
    /// A server that cannot be reached is told at the next synchronisation; the two see each other afterwards.
    ///
    /// - Returns: whether the server knows it.
    @discardableResult
    public func unhide(_ person: UserNumber) async throws -> Delivery {
        try await CircleEnvironment.placing {
            let number = try Self.number(person)
            _ = try await state()
            try await records.changeState { state in
                state.hidden.remove(number)
                if state.blocked.remove(number) != nil { state.mustFetchWhole = true }
                state.unsentUnhides = (state.unsentUnhides ?? []).union([number])
                state.unhideCount = (state.unhideCount ?? 0) &+ 1
                state.nextSync = 0
            }
            return try await delivery { try await deliverHides() }
        }
    }

    /// Replaces the identity and the seed. A device that holds the old ones is locked out.
    public func rotate() async throws {
        try await CircleEnvironment.placing {
            let state = try await state()
            try await renewSeed()
            // Another identity would be signed by one that the server may never have had.
            if state.isIdentityPending != true {
                let keys = MemberKeys()
                let record = try MemberRecord(
                    signedBy: keys, in: try server(state).scope, number: state.number, at: UInt64(max(0, now)),
                    replacing: (try Self.keys(state), state.generation))
                // Stored before it is sent: an answer that is lost leaves an identity that may be published. The next
                // synchronisation sends it again.
                try await records.changeState { state in
                    state.keys = Data(keys.reveal())
                    state.generation = record.generation
                    state.identity = Data(record.bytes)
                    state.isIdentityPending = true
                    state.sequence = 0
                }
            }
            try await publishIdentity()
            if !state.isPaused { try await publishKeys() }
        }
    }

    /// Leaves the circle.
    ///
    /// Everything about it and its members goes from this device. A server that cannot be reached is told later, as long as the
    /// sign-in lasts. One that is not told removes the user at least 30 days after the last sign-in has ended. With the user it removes from
    /// whom the user hides and what members see: a user who joins again on another device decides both again.
    ///
    /// - Returns: whether the server knows it. After ``Delivery/signedOut`` the user is removed by joining again and leaving.
    public func leave() async throws -> Delivery {
        try await CircleEnvironment.placing {
            let state = try await state()
            let farewell = CircleFarewell(
                address: state.address, bearer: state.bearer, isLeaving: true, expires: state.expires)
            try await records.rememberFarewell(farewell)
            if state.hasSharedSeed { try await forgetSharedSeed() }
            // A table that cannot be read goes too: the farewell is stored, and the user must not stay half in the circle.
            let members = Set(((try? await records.table())?.entries ?? []).map(\.person))
            try await records.removeAll()
            try await environment.stored.withdraw(members)
            let delivery = await farewell.deliver(over: environment.transport, at: now)
            guard delivery != .pending else { return .pending }
            // Only this one: other circles' servers may still have to be told. One that stays is told again, which changes nothing.
            _ = try? await environment.vault.remove(records.key("farewell"))
            return delivery
        }
    }
}
