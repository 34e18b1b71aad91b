import Logging
import OAuth

extension Keeper {
    /// What came of an account that was due.
    enum Outcome: Sendable {
        /// It is kept, and due then. `isProof` says that the service has answered.
        case kept(due: Double, isProof: Bool)
        /// There is nothing to keep: it was signed out, or ended before.
        case gone
        case ended(KeeperEnding)
        case accountFailed(HandshakeError, pause: Double)
        case serviceFailed(HandshakeError, retryAfter: Double?)
        /// The vault cannot be used, whichever service the account is of.
        case vaultFailed(HandshakeError)
        case cancelled
    }

    /// Refreshes an account that is due, if it still is.
    ///
    /// - Parameters:
    ///   - failures: how often in a row it failed for a reason of its own.
    ///   - isRepeat: whether a refresh that is begun and not finished is repeated, unless it was begun a moment ago.
    ///   - end: the time up to which what is due is refreshed; nil for now.
    ///   - reported: the identifier of an ending that this keeper has told already.
    func keep(
        _ id: AccountID, failures: UInt8, isRepeat: Bool = false, until end: Double? = nil, reported: String? = nil
    ) async -> Outcome {
        var before: AccountRecord?
        do {
            guard let record = try await accounts.stored(id) else { return .gone }
            let margin = accounts.refreshMargin(of: id)
            // Where the service refuses earlier refreshes, the time until the next call makes nothing due.
            let end = margin == nil ? end : nil
            guard let schedule = options.schedule(of: record, within: margin) else {
                // Another process, or the service by a logout, has ended it since it was queued.
                guard case .ended(let reason) = record.state else { return .gone }
                return sessionEnded(id, reason, record, reported)
            }
            before = record
            let isDue = schedule.earliest <= max(time.now(), end ?? 0)
            guard isDue || isRepeat && record.isUnfinished && !wasJustSent(record) else {
                count { $0.current += 1 }
                return .kept(due: schedule.time(chance: chance()), isProof: false)
            }
            guard let next = try await accounts.refresh(record) else { return .gone }
            return kept(next, of: id)
        } catch HandshakeError.signInRequired(_, let reason) {
            // Another process may have refreshed it after it was read: what is stored tells every keeper the same.
            let after = try? await accounts.stored(id)
            let ended = after.flatMap { $0.state == .ended(reason) ? $0 : nil }
            return sessionEnded(id, reason, ended ?? before, reported)
        } catch let error as HandshakeError {
            return failure(error, failures: failures)
        } catch {
            return .cancelled
        }
    }

    /// How many seconds a refresh is not repeated after it was begun: another keeper that received the account too may be about it.
    private static let pauseAfterSending = 20.0

    /// Whether an unfinished refresh was begun a moment ago. A clock that is behind its process's says no.
    private func wasJustSent(_ record: AccountRecord) -> Bool {
        guard case .refreshing(let since) = record.state else { return false }
        return (0..<Self.pauseAfterSending).contains(time.now() - since)
    }

    private func kept(_ record: AccountRecord, of id: AccountID) -> Outcome {
        let due = options.schedule(of: record, within: accounts.refreshMargin(of: id)).map { schedule in
            // A token that is due when it is issued does not keep the keeper busy without a pause.
            max(schedule.time(chance: chance()), time.now() + Self.shortestPause)
        }
        count { $0.refreshed += 1 }
        announce(.refreshed(nextAt: due), of: id, at: id.service)
        return due.map { .kept(due: $0, isProof: true) } ?? .gone
    }

    /// - Parameters:
    ///   - record: the record that ended, or as it was read before.
    ///   - reported: the identifier of an ending that was told.
    private func sessionEnded(
        _ id: AccountID, _ reason: HandshakeError.SignInReason, _ record: AccountRecord?, _ reported: String?
    ) -> Outcome {
        guard reason != .absent, reason != .signingOut else { return .gone }
        let ending = KeeperEnding(
            account: id, reason: reason, generation: record?.generation ?? 0, issuedAt: record?.grant.issuedAt ?? 0)
        guard ending.identifier != reported else { return .gone }
        count { $0.ended += 1 }
        log.notice("a session has ended", metadata: ["account": "\(id)", "reason": "\(reason.rawValue)"])
        announce(.ended(reason), of: id, at: id.service)
        return .ended(ending)
    }

    /// Whose failure it is: the account's own, or the service's.
    private func failure(_ error: HandshakeError, failures: UInt8) -> Outcome {
        let own = min(60 * Double(1 << min(Int(failures), 10)), options.maximumPause) * (0.9 + 0.2 * chance())
        switch error {
        case .exchange(.server(let answer)):
            guard answer.isOfService else { return .accountFailed(error, pause: own) }
            return .serviceFailed(error, retryAfter: answer.retryAfter.map(Double.init))
        case .exchange(.refused(let refusal)) where refusal.check != .movedEndpoint:
            return .accountFailed(error, pause: own)
        case .vault(let failure):
            return failure.isOfOneRecord ? .accountFailed(error, pause: own) : .vaultFailed(error)
        case .configuration: return .accountFailed(error, pause: own)
        default: return .serviceFailed(error, retryAfter: nil)
        }
    }

    /// The shortest time in seconds between two refreshes of an account.
    private static let shortestPause = 10.0
}

extension ServerError {
    /// Whether other accounts of the service would get the same answer.
    fileprivate var isOfService: Bool {
        guard let status, status < 500, status != 429, retryAfter == nil else { return true }
        switch code {
        case "invalid_client", "unauthorized_client", "unsupported_grant_type", "temporarily_unavailable",
            "server_error", "slow_down":
            return true
        // A page in place of an answer. A 400 with an explanation is about this grant (RFC 6749, section 5.2).
        case nil: return status != 400 || text == nil
        default: return false
        }
    }
}
