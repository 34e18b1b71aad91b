extension Connection {
    /// The signals that match `rule`, from the return of this function on.
    ///
    /// With a well-known sender, only signals of its present owner are accepted: the bus delivers signals addressed to this
    /// connection from any sender. Beyond `buffer`, the sequence ends with ``DBusError/signalOverflow(limit:)`` after the
    /// buffered signals: no loss goes unnoticed.
    ///
    /// - Parameters:
    ///   - rule: The signals to receive.
    ///   - buffer: The maximum number of unread signals, at least one.
    /// - Throws: As ``call(_:timeout:)``.
    package func signals(matching rule: MatchRule, buffer: Int = 1024) async throws -> Signals {
        let limit = max(buffer, 1)
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Signal.self, throwing: (any Error).self,
            bufferingPolicy: .bufferingOldest(limit))
        let followed = rule.sender.flatMap { $0.changesOwner ? $0 : nil }
        let number = try await follow(
            Subscription(rule: rule, followed: followed) { event in
                switch event {
                case .signal(let signal):
                    if case .dropped = continuation.yield(signal) {
                        continuation.finish(throwing: DBusError.signalOverflow(limit: limit))
                    }
                case .owner: break
                case .end(let error): continuation.finish(throwing: error)
                }
            })
        continuation.onTermination = { [weak self] _ in self?.unfollow(number) }
        return Signals(stream: stream, connection: self)
    }

    /// The owner of `name`, now and after each change.
    ///
    /// - Throws: As ``call(_:timeout:)``.
    package func presence(of name: BusName) async throws -> Presence {
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

    /// Subscribes here before adding the match rule at the bus, so that no signal is missed.
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

    /// Records the present owner. A change signalled meanwhile is newer than the bus's reply.
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
            // The rules of a closed connection are gone.
            try? send(.bus("RemoveMatch", [rule.text.value]))
        }
    }
}
