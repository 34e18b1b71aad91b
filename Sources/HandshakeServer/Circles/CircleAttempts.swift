#if Server
import Circles
import Crypto
import HTTPTypes
import Handshake
import OAuth
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Attempts to join a circle. In memory only: they last ten minutes.
///
/// No network has a limit of its own here, because neighbours share the wide ones. While all places are taken, those networks
/// that want more share the places equally: a caller gets one of the network that has the most.
///
/// A class with a lock, because requests share them.
final class CircleAttempts: Sendable {
    /// How far an attempt is.
    enum Progress: Sendable {
        /// The browser has not signed in yet.
        case pending
        /// The browser has signed in, and the user is asked.
        case asking(CircleApplicant, browser: String)
        case approved(CircleApplicant)
        /// The service has no such member, or the user declined.
        case refused

        /// Which attempts of a network lose their place first.
        fileprivate var worth: Int {
            switch self {
            case .refused: 0
            case .pending: 1
            case .asking, .approved: 2
            }
        }
    }

    struct Attempt: Sendable {
        let id: String
        let challenge: [UInt8]
        /// Whether the device is to replace the identity of the member's other devices.
        let isReplacing: Bool
        /// What both screens show.
        let code: String
        /// Where the device is.
        let network: CallerNetwork
        let expires: Double
        var progress = Progress.pending
        /// How often the browser was led to the service.
        fileprivate(set) var signIns = 0
    }

    static let lifetime = 600.0
    /// How often a device asks, in seconds.
    static let interval = 3
    /// How often a browser is led to the service in one attempt. Each time a record is stored.
    static let maximumSignIns = 10

    private let attempts = Mutex<[String: Attempt]>([:])
    private let random: RandomSource
    private let capacity: Int

    /// - Parameters:
    ///   - random: draws identifiers and codes.
    ///   - capacity: how many attempts can run.
    init(random: RandomSource, capacity: Int = 4_096) {
        self.random = random
        self.capacity = capacity
    }

    /// Begins an attempt. While all places are taken, it gets one of the network that has the most.
    ///
    /// - Parameter network: where the request came from.
    /// - Throws: 429 while all places are taken, none can be taken from another network, and this network has one; 503 when it has none.
    func begin(
        challenge: [UInt8], isReplacing: Bool, from network: CallerNetwork, at now: Double
    ) throws(RequestRefusal) -> Attempt {
        let attempt = Attempt(
            id: Base64URL.encode(random.bytes(16)), challenge: challenge, isReplacing: isReplacing, code: code(),
            network: network, expires: now + Self.lifetime)
        let result = attempts.withLock { attempts -> Result<Attempt, RequestRefusal> in
            attempts = attempts.filter { $0.value.expires > now }
            if attempts.count >= capacity {
                guard let loser = Self.loser(to: network, among: Array(attempts.values)) else {
                    let own = attempts.values.filter { $0.network == network }.map(\.expires).min()
                    return .failure(own.map { Self.tooMany(until: $0 - now) } ?? .busy)
                }
                attempts[loser.id] = nil
            }
            attempts[attempt.id] = attempt
            return .success(attempt)
        }
        return try result.get()
    }

    /// The attempt that loses its place to one of a network. Nil when that network has as many as any.
    ///
    /// From the widest networks to the narrowest: where one has at least two more than the caller's, it loses one.
    private static func loser(to network: CallerNetwork, among attempts: [Attempt]) -> Attempt? {
        var candidates = attempts
        // Whether the candidates are of the caller's own network.
        var isOwn = true
        for level in CallerNetwork.levels {
            var counts: [CallerNetwork: Int] = [:]
            for candidate in candidates { counts[candidate.network.network(at: level), default: 0] += 1 }
            guard let largest = counts.max(by: { $0.value < $1.value }) else { return nil }
            let own = network.network(at: level)
            isOwn = isOwn && largest.value < counts[own, default: 0] + 2
            let chosen = isOwn ? own : largest.key
            candidates.removeAll { $0.network.network(at: level) != chosen }
        }
        guard !isOwn else { return nil }
        return candidates.min { ($0.progress.worth, $0.expires) < ($1.progress.worth, $1.expires) }
    }

    private static func tooMany(until seconds: Double) -> RequestRefusal {
        RequestRefusal(
            .tooManyRequests, "too_many", "Too many devices on your network are joining this circle. Try again later",
            retryAfter: Int(seconds.rounded(.up)))
    }

    /// A running attempt.
    func attempt(_ id: String, at now: Double) -> Attempt? {
        attempts.withLock { $0[id] }.flatMap { $0.expires > now ? $0 : nil }
    }

    /// Counts a sign-in of an attempt. False when it may not begin.
    func countSignIn(_ id: String, at now: Double) -> Bool {
        attempts.withLock { attempts in
            guard let attempt = attempts[id], attempt.expires > now, attempt.signIns < Self.maximumSignIns,
                case .pending = attempt.progress
            else { return false }
            attempts[id]?.signIns += 1
            return true
        }
    }

    /// Changes an attempt's progress, if it is still running and `isAllowed`.
    @discardableResult
    func advance(_ id: String, at now: Double, to progress: Progress, if isAllowed: (Progress) -> Bool) -> Bool {
        attempts.withLock { attempts in
            guard let attempt = attempts[id], attempt.expires > now, isAllowed(attempt.progress) else { return false }
            attempts[id]?.progress = progress
            return true
        }
    }

    /// Takes the approval of an attempt, once. The attempt has ended then, and its place is free.
    ///
    /// - Throws: 403 for another verifier and for who is no member; 410 when there is no such attempt.
    /// - Returns: the attempt, and who was approved; nil while the user has not decided.
    func take(
        _ id: String, verifier: String, at now: Double
    ) throws(RequestRefusal) -> (attempt: Attempt, applicant: CircleApplicant)? {
        let result = attempts.withLock { attempts -> Result<(Attempt, CircleApplicant)?, RequestRefusal> in
            guard let attempt = attempts[id], attempt.expires > now else { return .failure(Self.ended) }
            let digest = Array(SHA256.hash(data: Array(verifier.utf8)))
            guard Secret(Base64URL.encode(digest)).matches(Secret(Base64URL.encode(attempt.challenge))) else {
                return .failure(
                    RequestRefusal(.forbidden, "wrong_verifier", "Another device has started to join"))
            }
            switch attempt.progress {
            case .pending, .asking: return .success(nil)
            case .approved(let applicant):
                attempts[id] = nil
                return .success((attempt, applicant))
            case .refused:
                return .failure(
                    RequestRefusal(.forbidden, "not_a_member", "The service has no such member, or you declined"))
            }
        }
        return try result.get()
    }

    /// Puts an approved attempt back whose user could not be admitted now.
    func putBack(_ attempt: Attempt) {
        attempts.withLock { $0[attempt.id] = attempt }
    }

    private static let ended = RequestRefusal(.gone, "attempt_gone", "This attempt has ended; start again")

    /// Eight letters without those that are mistaken for others.
    private func code() -> String {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        let drawn = random.bytes(8).map { String(letters[Int($0) % letters.count]) }
        return drawn[..<4].joined() + "-" + drawn[4...].joined()
    }
}
#endif
