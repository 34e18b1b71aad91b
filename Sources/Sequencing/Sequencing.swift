public import Handshake
import OAuth

/// Sequencing.com for one signed-in user: files, app chains, reports, imports.
///
/// ```swift
/// let genome = Sequencing(account)
/// let files = try await genome.files()
/// let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: files[0].id)
/// ```
///
/// A value without state of its own; any number of them can be used concurrently, each with its own account. Reads are
/// retried at most twice after a lost connection or status 502, 503 or 504; calls that start something are never retried
/// (dossier 9.4).
public struct Sequencing: Sendable {
    /// The user's account.
    public let account: Account
    /// The hosts of Sequencing.com.
    public let hosts: Hosts
    /// How jobs are polled.
    public let polling: Polling

    let clock: any Clock<Duration>
    /// The time that requests may take, which counts down; each has its own limit if nil.
    private var left: (@Sendable () -> Duration)?

    /// Creates a client for an account.
    ///
    /// - Parameters:
    ///   - account: an account of `Service.sequencing`, or of the same service at another address.
    ///   - polling: interval and deadline of runs that do not have their own.
    ///   - clock: measures pauses and deadlines.
    public init(_ account: Account, polling: Polling = Polling(), clock: any Clock<Duration> = ContinuousClock()) {
        self.account = account
        hosts = Hosts(of: account.service)
        self.polling = polling
        self.clock = clock
    }

    /// The user's identity (dossier 1.9).
    ///
    /// Sequencing.com says it only at an address that ends with the access token, which is in this one request's URL and in
    /// no header. Keep the URL out of the logs of a proxy that sees it.
    ///
    /// - Throws: ``SequencingError/account(_:)``.
    public func identity() async throws -> Identity {
        do {
            return try await account.identity()
        } catch {
            throw SequencingError.placing(error)
        }
    }

    /// The API with the account's token.
    var api: Exchange {
        Exchange(
            send: { [account] in try await account.send($0, namingScopeWithin: $1) }, host: hosts.api, clock: clock,
            left: left)
    }

    /// The same kit, whose requests and their retries end when no time is left.
    func bounded(by left: (@Sendable () -> Duration)?) -> Sequencing {
        var bounded = self
        bounded.left = left
        return bounded
    }
}

extension Account {
    /// Sends a request. Where the service refuses it for a scope and names none, the missing ones are named (dossier 1.8).
    fileprivate func send(
        _ request: RequestMessage, namingScopeWithin limits: TransferLimits
    ) async throws -> ResponseMessage {
        do {
            return try await send(request, limits: limits)
        } catch HandshakeError.demanded(.scopes(let named), let status) where named.isEmpty {
            let missing = service.defaultScopes.filter { !self.status.scopes.contains($0) }
            throw HandshakeError.demanded(.scopes(missing), status: status)
        }
    }
}
