#if Server && Sandbox
import Foundation
import Geofences
import Handshake
import HandshakeServer
import IFTTTConnect
import Synchronization

/// A customer's simulated phone: it walks through the areas of one connection, and tells IFTTT what it crosses, as an app with
/// `PlacesSynchronizer` does.
///
/// A class, since the customer's requests and IFTTT's webhooks share it.
final class Phone: Sendable {
    private let connection: ConnectionID
    private let hosts: Hosts
    /// The phone's own: it outlasts a walk, so that the next one uploads what waited.
    private let vault = MemoryVault()
    private let held = Mutex<(diary: Diary, walk: Task<Void, Never>?)>((Diary(), nil))

    init(for connection: ConnectionID, at hosts: Hosts) {
        self.connection = connection
        self.hosts = hosts
    }

    var diary: Diary { held.withLock { $0.diary } }

    /// Takes a walk, and returns after its upload. While one is taken, no other begins.
    ///
    /// - Parameters:
    ///   - areas: the areas as IFTTT describes them now; nil when it does not answer.
    ///   - monitorsAreas: whether the connection's areas are switched on on this phone (F095).
    ///   - token: the customer's user token; nil without one.
    func walk(
        past areas: [Area]?, monitorsAreas: Bool, token: @escaping @Sendable () async throws -> UserToken?
    ) async {
        let walk = held.withLock { held -> Task<Void, Never>? in
            guard held.walk == nil else { return nil }
            held.diary.begin(areas, monitorsAreas: monitorsAreas)
            let walk = Task {
                let trouble = await self.take(token)
                self.held.withLock {
                    $0.diary.end(trouble)
                    $0.walk = nil
                }
            }
            held.walk = walk
            return walk
        }
        await walk?.value
    }

    /// Stops a walk. What it has sent has been sent.
    func stop() { held.withLock { $0.walk }?.cancel() }

    /// Waits until the last walk is uploaded and all of its events have arrived, but no longer than the limit.
    func settle(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while !diary.isSettled, ContinuousClock.now < end {
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return }
        }
    }

    /// Notes that IFTTT has reported a crossing to the shop.
    func hear(_ trigger: ConnectWebhook.Trigger, at now: Double) { held.withLock { $0.diary.hear(trigger, at: now) } }

    private func take(_ token: @Sendable () async throws -> UserToken?) async -> Diary.Trouble? {
        var found: UserToken?
        var trouble: Diary.Trouble?
        do {
            found = try await token()
            if found == nil { trouble = .signInRequired }
        } catch {
            trouble = .token(error as? ConnectError)
        }
        // Without a token the phone still records what it crosses.
        let api = ConnectAPI(ConnectAPI.Caller(userToken: { [found] in found }), at: hosts)
        var configuration = PlacesSynchronizer.Configuration()
        configuration.retry = .none
        let synchronizer = PlacesSynchronizer(of: "phone", api: api, vault: vault, configuration: configuration)
        let reading = Task {
            for await event in synchronizer.events { self.held.withLock { $0.diary.note(event) } }
        }
        // A token that IFTTT refused on the last walk is tried again.
        if found != nil { await synchronizer.userSignedIn() }
        do {
            if try await !walk(with: synchronizer) { trouble = trouble ?? .areas }
        } catch {
            trouble = .stopped
        }
        await synchronizer.finishEvents()
        await reading.value
        return trouble
    }

    /// - Returns: whether there was anywhere to walk, or the areas are switched off.
    private func walk(with synchronizer: PlacesSynchronizer) async throws -> Bool {
        let monitorsAreas = diary.monitorsAreas
        try await synchronizer.setAreasEnabled(monitorsAreas, for: connection)
        try await synchronizer.activate([connection])
        let regions = try await synchronizer.regions.compactMap { region -> (id: String, circle: Circle)? in
            if case .circle(let circle) = region.shape { (region.id, circle) } else { nil }
        }
        let walk = Walk(through: regions.map(\.circle), endingAt: held.withLock { $0.diary.nextEnd() })
        for (leg, fixes) in walk.legs {
            var events: [GeofenceEvent] = []
            for fix in fixes {
                try Task.checkCancellation()
                // On the phone's clock it is the time at which the position is measured.
                let (outcome, crossings) = try await synchronizer.receive(fix, now: fix.time)
                events += outcome.events.filter { $0.kind != .dwell }
                held.withLock { $0.diary.add(crossings) }
            }
            held.withLock { [events] held in
                held.diary.add(Set(leg.areas.map { regions[$0].id }), fixes, events)
            }
        }
        await synchronizer.synchronize(.crossing)
        return !regions.isEmpty || !monitorsAreas
    }
}

/// The phones of the shop's customers, one for each of their connections; the newest hundred.
///
/// A class, since requests and webhooks share it.
final class Phones: Sendable {
    private struct Owner: Hashable {
        let customer: String
        let connection: ConnectionID
    }

    private static let limit = 100
    private let held = Mutex<(phones: [Owner: Phone], order: [Owner])>(([:], []))

    /// The phone with which a customer has taken a walk; nil before the first.
    subscript(customer: String, connection: ConnectionID) -> Phone? {
        held.withLock { $0.phones[Owner(customer: customer, connection: connection)] }
    }

    /// A customer's phone, a new one before the first walk.
    func phone(of customer: String, for connection: ConnectionID, at hosts: Hosts) -> Phone {
        held.withLock { held in
            let owner = Owner(customer: customer, connection: connection)
            if let phone = held.phones[owner] { return phone }
            if held.order.count >= Self.limit { held.phones.removeValue(forKey: held.order.removeFirst())?.stop() }
            let phone = Phone(for: connection, at: hosts)
            held.order.append(owner)
            held.phones[owner] = phone
            return phone
        }
    }

    /// Forgets a customer's walks.
    func forget(_ customer: String) {
        held.withLock { held in
            for owner in held.order where owner.customer == customer { held.phones.removeValue(forKey: owner)?.stop() }
            held.order.removeAll { $0.customer == customer }
        }
    }
}
#endif
