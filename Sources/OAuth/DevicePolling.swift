import HTTPTypes

/// When to ask again whether the user has approved (RFC 8628, section 3.5).
///
/// A value without a clock: it says how long to wait before the next poll, measured from the last answer. One poll at a
/// time.
public struct DevicePolling: Sendable, Hashable {
    /// What a poll brought that did not end the sign-in.
    public enum Outcome: Sendable, Hashable {
        /// `authorization_pending`: the user has not decided yet.
        case pending
        /// `slow_down`, or status 429 or 503: poll less often from now on.
        ///
        /// The interval grows by 5 seconds, or to the one that the server states if that is longer.
        case slowDown(interval: Double? = nil)
        /// No answer, or a server that failed: wait longer until it answers again.
        case failed
    }

    /// The seconds between two polls while the server answers.
    public private(set) var interval: Double
    /// The seconds to wait before the next poll, from the last answer on.
    public private(set) var wait: Double
    private var failures = 0

    static let defaultInterval: Double = 5
    /// No wait is longer, so that adding and converting never overflow. Codes are valid for an hour at most.
    static let maximumWait: Double = 3600
    private static let maximumWaitAfterFailure: Double = 60

    /// Starts with the server's interval in seconds.
    ///
    /// It is 5 seconds if `interval` is not a positive, finite number.
    public init(interval: Double) {
        let isUsable = interval.isFinite && interval > 0
        self.interval = isUsable ? min(interval, Self.maximumWait) : Self.defaultInterval
        wait = self.interval
    }

    /// Notes what a poll brought, which sets ``wait``.
    ///
    /// - Parameters:
    ///   - outcome: what it brought.
    ///   - retryAfter: the seconds of a `Retry-After` in the answer; the next wait is not shorter.
    public mutating func note(_ outcome: Outcome, retryAfter: Double? = nil) {
        switch outcome {
        case .pending:
            failures = 0
        case .slowDown(let asked):
            failures = 0
            interval = min(max(interval + 5, asked.flatMap(Self.bounded) ?? 0), Self.maximumWait)
        case .failed:
            failures = min(failures + 1, 16)
        }
        let longest = max(Self.maximumWaitAfterFailure, interval)
        wait = max(min(interval * Double(1 << failures), longest), retryAfter.flatMap(Self.bounded) ?? 0)
    }

    private static func bounded(_ seconds: Double) -> Double? {
        seconds > 0 ? min(seconds, maximumWait) : nil
    }

    /// The seconds that a server's `interval` states; nil when it states none that can be used.
    static func seconds(_ value: JSONValue?) -> Double? {
        let spelling: String? =
            switch value {
            case .number(let spelling): spelling
            case .string(let text): wholeNumber(text).map(String.init)
            default: nil
            }
        guard let seconds = spelling.flatMap({ Double($0) }), seconds > 0 else { return nil }
        return min(seconds.rounded(.up), maximumWait)
    }
}

extension TokenRequest {
    /// Reads the response to a poll (RFC 8628, section 3.5). The poll was sent with ``GrantType/deviceCode(_:)``.
    ///
    /// The error's code decides, not the status. Without a code of this grant, status 429 and 503 mean to slow down, and
    /// any other 5xx means that the server failed.
    ///
    /// - Parameters:
    ///   - response: the token endpoint's response.
    ///   - polling: told what the poll brought.
    ///   - now: seconds since 1970 when the poll was sent.
    ///   - retryAfter: the seconds that a `Retry-After` in the response asks for. When nil, a `Retry-After` in seconds is read from the
    ///     response, and one with a date is ignored.
    /// - Returns: the tokens; nil when the user has not decided yet: wait for ``DevicePolling/wait`` and poll again.
    /// - Throws: ``OAuthError/server(_:)`` when polling is over: ``ServerError/isDenial``, ``ServerError/isExpiry``, or an
    ///   error of another kind; otherwise what ``response(from:now:)`` throws.
    public func tokens(
        fromPoll response: ResponseMessage, polling: inout DevicePolling, now: Double, retryAfter: Double? = nil
    ) throws(OAuthError) -> TokenResponse? {
        let retryAfter =
            retryAfter ?? response.head.headerFields[.retryAfter].flatMap(wholeNumber).map(Double.init)
        do {
            return try self.response(from: response, now: now)
        } catch .server(let error) {
            guard let outcome = outcome(of: error, in: response) else { throw .server(error) }
            polling.note(outcome, retryAfter: retryAfter)
            return nil
        }
    }

    /// What an error of a poll means; nil when polling is over.
    private func outcome(of error: ServerError, in response: ResponseMessage) -> DevicePolling.Outcome? {
        if error.isDenial || error.isExpiry { return nil }
        let status = error.status ?? 400
        if error.code == "slow_down" || status == 429 || status == 503 {
            let members = (try? deviations.members(of: response.content))?.object
            return .slowDown(interval: DevicePolling.seconds(members?["interval"]))
        }
        if error.code == "authorization_pending" { return .pending }
        return status >= 500 ? .failed : nil
    }
}

extension ServerError {
    /// Whether the user refused. The code is `access_denied`, at some servers `authorization_declined`.
    public var isDenial: Bool { code == "access_denied" || code == "authorization_declined" }

    /// Whether a device code has expired: `expired_token` (RFC 8628, section 3.5).
    public var isExpiry: Bool { code == "expired_token" }
}
