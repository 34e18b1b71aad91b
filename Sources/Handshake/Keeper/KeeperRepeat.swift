import AsyncSupport
import Logging
import OAuth
import Synchronization

/// Refreshes that a process has begun and not finished, because it died or had no answer.
///
/// A service forgives a refresh token that comes twice for a short time only, so these accounts do not wait for their next turn.
extension Keeper {
    /// How many seconds pass between two questions to the vault.
    static let repeatInterval = 5.0
    /// The same while the vault watches records whose holders may be gone.
    static let watchInterval = 1.0
    /// How many seconds an account that was given back is left to others.
    static let passingOver = 60.0

    /// Queues the accounts that the vault hands out, until the task is cancelled.
    ///
    /// Returns if the vault cannot list them, unless `listsAccounts` is off.
    func repeatUnfinished(_ found: @escaping @Sendable (KeeperLane) -> Void) async {
        let backOff = BackOff(first: .seconds(5), longest: .seconds(60))
        var failures = 0
        var givenBack: [VaultKey: Double] = [:]
        while !Task.isCancelled {
            var pause = Self.repeatInterval
            do {
                let now = time.now()
                givenBack = givenBack.filter { (0..<Self.passingOver).contains(now - $0.value) }
                let page = try await accounts.unfinished(except: Set(givenBack.keys))
                for key in page?.givenBack ?? [] { givenBack[key] = now }
                failures = 0
                if page?.isWatching == true { pause = Self.watchInterval }
                if page == nil {
                    if options.listsAccounts { return }
                    pause = 86_400
                }
                for error in page?.damaged ?? [] {
                    log.warning("a record cannot be read", metadata: ["reason": "\(error)"])
                }
                for id in page?.ids ?? [] { withLane(of: id, found) { $0.addRepeat(of: id) } }
            } catch is CancellationError {
                return
            } catch {
                failures += 1
                pause = backOff.pause(afterFailures: failures) / .seconds(1)
                log.error("cannot list unfinished refreshes", metadata: ["reason": "\(error)"])
            }
            // Several keepers ask at different times.
            let wait = pause * (0.9 + 0.2 * chance())
            guard (try? await time.clock.sleep(for: .seconds(wait))) != nil else { return }
        }
    }

    /// Hands over the lane of an account, which is made when there is none.
    ///
    /// - Parameter found: gets a new lane, afterwards.
    func withLane(of id: AccountID, _ found: (KeeperLane) -> Void, _ body: (KeeperLane) -> Void) {
        let (lane, isNew) = lanes.withLock { lanes in
            if let lane = lanes[LaneKey(id)] { return (lane, false) }
            let lane = KeeperLane(
                id.service, limit: options.limits[id.service] ?? options.limit, maximumPause: options.maximumPause,
                time: time)
            lanes[LaneKey(id)] = lane
            return (lane, true)
        }
        body(lane)
        guard isNew else { return }
        tellPaused(id.service)
        found(lane)
    }
}

extension Keeper.LaneKey {
    init(_ id: AccountID) { self.init(service: id.service, issuer: id.issuer) }
}
