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
        /// The token was handed over.
        case used
    }

    struct Attempt: Sendable {
        let id: String
        let challenge: [UInt8]
        /// Whether the device is to replace the identity of the member's other devices.
        let isReplacing: Bool
        /// What both screens show.
        let code: String
        /// The site that the device is at.
        let site: String
        let expires: Double
        var progress = Progress.pending
    }

    static let lifetime = 600.0
    /// How often a device asks, in seconds.
    static let interval = 3
    /// How many attempts of one site can run.
    ///
    /// A /48 of IPv6 has 65,536 networks of a /64, each with a rate of its own: without this bound it could take all places.
    static let maximumPerSite = 64

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

    /// Begins an attempt.
    ///
    /// - Parameter site: where the request came from, see ``CircleCallers/Networks``.
    /// - Throws: 429 while too many attempts of this site run; 503 while too many run in all.
    func begin(
        challenge: [UInt8], isReplacing: Bool, from site: String, at now: Double
    ) throws(RequestRefusal) -> Attempt {
        let attempt = Attempt(
            id: Base64URL.encode(random.bytes(16)), challenge: challenge, isReplacing: isReplacing, code: code(),
            site: site, expires: now + Self.lifetime)
        let result = attempts.withLock { attempts -> Result<Attempt, RequestRefusal> in
            attempts = attempts.filter { $0.value.expires > now }
            let others = attempts.values.filter { $0.site == site }
            guard others.count < Self.maximumPerSite else {
                let wait = others.map(\.expires).min().map { $0 - now } ?? Self.lifetime
                return .failure(
                    RequestRefusal(
                        .tooManyRequests, "too_many", "Too many devices on your network are joining this circle. Try again later",
                        retryAfter: Int(wait.rounded(.up))))
            }
            guard attempts.count < capacity else { return .failure(.busy) }
            attempts[attempt.id] = attempt
            return .success(attempt)
        }
        return try result.get()
    }

    /// A running attempt.
    func attempt(_ id: String, at now: Double) -> Attempt? {
        attempts.withLock { $0[id] }.flatMap { $0.expires > now ? $0 : nil }
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

    /// Takes the approval of an attempt, once.
    ///
    /// - Throws: 403 for another verifier and for who is no member; 410 when there is no such attempt, or it was used.
    /// - Returns: who was approved, and whether their identity is replaced; nil while the user has not decided.
    func take(
        _ id: String, verifier: String, at now: Double
    ) throws(RequestRefusal) -> (applicant: CircleApplicant, isReplacing: Bool)? {
        let result = attempts.withLock { attempts -> Result<(CircleApplicant, Bool)?, RequestRefusal> in
            guard let attempt = attempts[id], attempt.expires > now else { return .failure(Self.over) }
            let digest = Array(SHA256.hash(data: Array(verifier.utf8)))
            guard Secret(Base64URL.encode(digest)).matches(Secret(Base64URL.encode(attempt.challenge))) else {
                return .failure(
                    RequestRefusal(.forbidden, "wrong_verifier", "Another device has started to join"))
            }
            switch attempt.progress {
            case .pending, .asking: return .success(nil)
            case .approved(let applicant):
                attempts[id]?.progress = .used
                return .success((applicant, attempt.isReplacing))
            case .refused:
                return .failure(
                    RequestRefusal(.forbidden, "not_a_member", "The service has no such member, or you declined"))
            case .used: return .failure(Self.over)
            }
        }
        return try result.get()
    }

    private static let over = RequestRefusal(.gone, "attempt_gone", "This attempt is over. Start again")

    /// Eight letters without those that are mistaken for others.
    private func code() -> String {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        let drawn = random.bytes(8).map { String(letters[Int($0) % letters.count]) }
        return drawn[..<4].joined() + "-" + drawn[4...].joined()
    }
}
#endif
