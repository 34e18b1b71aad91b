extension Connection {
    /// What happens to a signal for which the buffer has no room.
    public enum Overflow: Sendable, Hashable {
        /// The sequence ends with ``DBusError/signalOverflow(limit:)`` after what is buffered: nothing is lost unseen.
        case fail
        /// The oldest one that waits is dropped: for measurements, where only the newest count.
        case dropOldest
    }

    /// The signals that fit `rule`, from the return of this function on.
    ///
    /// With a well-known sender only its present owner is believed; the bus delivers signals that are addressed to this
    /// connection whoever sends them.
    ///
    /// - Parameters:
    ///   - rule: Which signals are wanted.
    ///   - buffer: How many signals may wait for the reader, at least one.
    ///   - overflow: What happens when more would wait.
    /// - Throws: As ``call(_:timeout:)``.
    public func signals(
        matching rule: MatchRule, buffer: Int = 1024, overflow: Overflow = .fail
    ) async throws -> Signals {
        let limit = max(buffer, 1)
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Signal.self, throwing: (any Error).self,
            bufferingPolicy: overflow == .fail ? .bufferingOldest(limit) : .bufferingNewest(limit))
        let followed = rule.sender.flatMap { $0.changesOwner ? $0 : nil }
        let number = try await follow(
            Subscription(rule: rule, followed: followed) { event in
                switch event {
                case .signal(let signal):
                    if case .dropped = continuation.yield(signal), overflow == .fail {
                        continuation.finish(throwing: DBusError.signalOverflow(limit: limit))
                    }
                case .owner: break
                case .end(let error): continuation.finish(throwing: error)
                }
            })
        continuation.onTermination = { [weak self] _ in self?.unfollow(number) }
        return Signals(stream: stream, connection: self)
    }

    /// Who owns `name`, now and from now on.
    ///
    /// - Throws: As ``call(_:timeout:)``.
    public func presence(of name: BusName) async throws -> Presence {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Presence.Element.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(1))
        let number = try await follow(
            Subscription(rule: nil, followed: name) { event in
                switch event {
                case .signal: break
                case .owner(let owner): continuation.yield(owner.map { .present(owner: $0) } ?? .absent)
                case .end(let error): continuation.finish(throwing: error)
                }
            })
        continuation.onTermination = { [weak self] _ in self?.unfollow(number) }
        return Presence(stream: stream, connection: self)
    }

    /// Registers a subscription here first and with the bus then, so that nothing falls between.
    private func follow(_ subscription: Subscription) async throws -> Int {
        let number = try router.add(subscription)
        do {
            for rule in subscription.rules { try await call(.bus("AddMatch", [rule.text.value])) }
            if let followed = subscription.followed { try await fetchOwner(of: followed, for: number) }
        } catch {
            unfollow(number)
            throw error
        }
        return number
    }

    /// Records the present owner. A change that the bus announced meanwhile is newer than its answer.
    private func fetchOwner(of name: BusName, for number: Int) async throws {
        do {
            let owner = try await call(.bus("GetNameOwner", [name.text.value])).read(String.self)
            router.setOwnerIfUnknown(try BusName(owner), of: number)
        } catch DBusError.remote(let error) where error.name == .nameHasNoOwner {
            router.setOwnerIfUnknown(nil, of: number)
        }
    }

    private func unfollow(_ number: Int) {
        guard let subscription = router.remove(number) else { return }
        for rule in subscription.rules {
            // A connection that has ended has no rules any more.
            try? send(.bus("RemoveMatch", [rule.text.value]))
        }
    }
}
