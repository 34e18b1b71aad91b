import Synchronization

/// Routes signals to subscribers and calls to exported objects.
///
/// A class with a lock for the same reason as ``Link``. No external code runs while the lock is held.
final class Router: Sendable {
    private struct State {
        var subscriptions: [Int: Subscription] = [:]
        var lastSubscription = 0
        var objects = ObjectTable()
        var ended: DBusError?
    }

    private let state = Mutex(State())

    /// Routes a signal or a call, on the socket's thread.
    func receive(_ message: Message, on link: Link) {
        switch message.content {
        case .signal(let path, let interface, let member):
            // Descriptors were not negotiated, so this signal's are missing.
            guard message.descriptorCount == 0 else { return }
            let signal = Signal(
                path: path, interface: interface, member: member, arguments: message.body, sender: message.sender)
            receive(signal)
        case .call(let path, let interface, let member):
            let call = IncomingCall(
                path: path, interface: interface, member: member, arguments: message.body, sender: message.sender)
            let answers = Answers(message, link)
            guard message.descriptorCount == 0 else {
                return answers.send(.failure(RemoteError(.notSupported, "file descriptors are not supported")))
            }
            state.withLock { $0.objects }.serve(call, answers)
        case .reply, .error: break
        }
    }

    private func receive(_ signal: Signal) {
        let change = NameOwnerChange(signal)
        let receivers = state.withLock { state in
            if let change {
                for (number, subscription) in state.subscriptions where subscription.followed == change.name {
                    state.subscriptions[number]?.setOwner(change.newOwner)
                }
            }
            return state.subscriptions.sorted { $0.key < $1.key }.map(\.value).filter { $0.takes(signal) }
        }
        for receiver in receivers { receiver.deliver(.signal(signal)) }
    }

    /// Ends all subscriptions and stops the exported objects.
    func end(_ error: DBusError) {
        let (subscriptions, objects) = state.withLock { state in
            defer {
                state.subscriptions = [:]
                state.objects = ObjectTable()
                state.ended = error
            }
            return (Array(state.subscriptions.values), state.objects)
        }
        for subscription in subscriptions { subscription.deliver(.end(error)) }
        objects.stopAll()
    }

    /// Adds a subscription and returns its identifier.
    func add(_ subscription: Subscription) throws(DBusError) -> Int {
        let result = state.withLock { state -> Result<Int, DBusError> in
            if let ended = state.ended { return .failure(ended) }
            state.lastSubscription += 1
            state.subscriptions[state.lastSubscription] = subscription
            return .success(state.lastSubscription)
        }
        return try result.get()
    }

    /// Records the owner of the name that a subscription follows, unless a change was signalled already.
    func setOwnerIfUnknown(_ owner: BusName?, of number: Int) {
        state.withLock { state in
            guard case .unknown? = state.subscriptions[number]?.owner else { return }
            state.subscriptions[number]?.setOwner(owner)
        }
    }

    /// Removes and returns a subscription; nil if there is none.
    func remove(_ number: Int) -> Subscription? {
        state.withLock { $0.subscriptions.removeValue(forKey: number) }
    }

    /// Changes the exported objects.
    func changeObjects<Result: Sendable>(
        _ body: (inout sending ObjectTable) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        let result = state.withLock { state -> Swift.Result<Result, DBusError> in
            if let ended = state.ended { return .failure(ended) }
            do throws(DBusError) {
                return .success(try body(&state.objects))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// A subscription to signals, to ownership of a name, or both.
struct Subscription: Sendable {
    enum Event: Sendable {
        case signal(Signal)
        case owner(BusName?)
        case end(DBusError)
    }

    enum Owner: Sendable {
        case unknown
        case known(BusName?)
    }

    /// The filter for signals; nil when only the name is followed.
    let rule: MatchRule?
    /// The well-known name whose owner is followed.
    let followed: BusName?
    private(set) var owner = Owner.unknown
    /// Puts the event into a buffer and does nothing else: owner changes are delivered while the router's lock is held, so that
    /// they stay in order.
    let deliver: @Sendable (Event) -> Void

    init(rule: MatchRule?, followed: BusName?, deliver: @escaping @Sendable (Event) -> Void) {
        self.rule = rule
        self.followed = followed
        self.deliver = deliver
    }

    mutating func setOwner(_ owner: BusName?) {
        self.owner = .known(owner)
        deliver(.owner(owner))
    }

    /// The match rules for the bus.
    var rules: [MatchRule] {
        [followed.map(MatchRule.ownerChanges), rule].compactMap(\.self)
    }

    /// Whether this subscription accepts a signal. Signals addressed to this connection arrive without a match rule, so the
    /// sender is checked here too: for a well-known name, against its owner.
    func takes(_ signal: Signal) -> Bool {
        guard let rule, rule.matches(signal) else { return false }
        guard followed != nil else { return true }
        guard case .known(let owner?) = owner else { return false }
        return owner == signal.sender
    }
}

/// A change of a name's owner (D-Bus Specification, “org.freedesktop.DBus.NameOwnerChanged”).
struct NameOwnerChange {
    let name: BusName
    let newOwner: BusName?

    /// Reads the signal; nil for another one, or one that the bus did not send.
    init?(_ signal: Signal) {
        guard signal.sender == .bus, signal.interface == .bus, signal.member == "NameOwnerChanged",
            let (name, _, newOwner) = try? signal.arguments.read(String.self, String.self, String.self),
            let name = try? BusName(name)
        else { return nil }
        self.name = name
        self.newOwner = try? BusName(newOwner)
    }
}
