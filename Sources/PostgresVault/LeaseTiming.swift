#if PostgreSQL
import Foundation
public import Handshake

/// How long a holder may be silent before another one takes its record.
///
/// Every process that uses a vault has the same: the vault's tables say it (`vault-lease.md` 2).
public struct LeaseTiming: Sendable, Hashable {
    /// How long a lease lasts by the server's clock after it was last renewed.
    public let lease: Duration
    /// How often a holder renews it.
    public let renewal: Duration
    /// How long a waiter sees a lease unchanged, by its own clock, before it takes it.
    public let observation: Duration

    /// 45 s, renewed each 5 s, and taken after 12 s without a change.
    public static let standard = LeaseTiming(
        unchecked: .seconds(45), renewal: .seconds(5), observation: .seconds(12))

    /// How long a request that a holder makes may take.
    static let request = Duration.seconds(20)
    /// What clocks may drift and a statement may take.
    static let margin = Duration.seconds(5)
    /// How much further the wall clock may have moved than the continuous one.
    private static let largestJump = Duration.seconds(2)

    /// Checks that a holder can finish a request of 20 s before its lease ends.
    ///
    /// - Throws: `VaultError.denied` when the lease is above 300 s or below 30 s plus two renewals, the renewal is
    ///   below 1 s, or the observation is below 2 s plus two renewals or above the lease.
    public init(lease: Duration, renewal: Duration, observation: Duration) throws(VaultError) {
        self.init(unchecked: lease, renewal: renewal, observation: observation)
        guard lease >= .seconds(30), lease <= .seconds(300), renewal >= .seconds(1), observation <= lease,
            lease >= Self.request + Self.margin * 2 + renewal * 2, observation >= renewal * 2 + .seconds(2)
        else {
            throw .denied(
                what: "the timing of leases",
                reason:
                    "a lease of \(lease), a renewal each \(renewal) and an observation of \(observation) do not fit. Renew each 1 s or "
                    + "more, hold for 30 s plus two renewals to 300 s, and observe for 2 s plus two renewals up to the lease."
            )
        }
    }

    init(unchecked lease: Duration, renewal: Duration, observation: Duration) {
        self.lease = lease
        self.renewal = renewal
        self.observation = observation
    }

    /// Whether a lease lasts for a time and the margin, by the holder's own clocks (`vault-lease.md` 6).
    ///
    /// - Parameter sent: when the last durable statement was sent that held it.
    func lasts(for time: Duration, sentAt sent: LeaseMoment, at now: LeaseMoment) -> Bool {
        let passed = sent.instant.duration(to: now.instant)
        // A machine that was frozen wakes with a clock that missed it.
        guard passed >= .zero, now.wall - sent.wall <= passed + Self.largestJump else { return false }
        return lease * 0.999 - passed >= time + Self.margin
    }

    /// The shortest wait after which a record whose holder died has been taken.
    var shortestWait: Duration { lease + observation + .seconds(10) }
}

/// A moment by this machine's clocks.
struct LeaseMoment: Sendable {
    let instant: ContinuousClock.Instant
    /// The time of day, since 1970.
    let wall: Duration

    static func now() -> LeaseMoment {
        LeaseMoment(instant: .now, wall: .seconds(Date().timeIntervalSince1970))
    }
}

/// What a waiter has seen of a lease that another holder has, and for how long it has not changed (`vault-lease.md` 5).
struct LeaseObservation: Sendable {
    /// What changes with every renewal.
    struct Look: Sendable, Hashable {
        let holder: [UInt8]
        let fence: Int64
        let beat: Int64
    }

    /// The most that one pause between two looks counts.
    private static let maximumStep = Duration.seconds(2)
    /// The longest pause that counts at all: while the database is away, a holder cannot renew.
    private static let maximumGap = Duration.seconds(8)

    private(set) var seen: Look?
    private(set) var watched = Duration.zero
    private var last = Duration.zero

    /// Notes a look.
    ///
    /// - Parameter time: by the waiter's own clock, which only goes forward.
    mutating func note(_ look: Look, at time: Duration) {
        let gap = time - last
        if look == seen, gap >= .zero, gap <= Self.maximumGap {
            watched += min(gap, Self.maximumStep)
        } else {
            seen = look
            watched = .zero
        }
        last = time
    }

    /// Whether the last look is recent enough to go on from.
    func isRecent(at time: Duration) -> Bool { time - last <= Self.maximumGap }

    /// The same, with times that count from `start`.
    func counted(from start: Duration) -> LeaseObservation {
        var observation = self
        observation.last -= start
        return observation
    }

    /// What an attempt to take the lease may say that it saw; nil while it must not.
    func claim(_ timing: LeaseTiming) -> (look: Look, isForced: Bool)? {
        guard let seen, watched >= timing.observation else { return nil }
        return (seen, watched >= timing.lease + timing.observation)
    }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
#endif
