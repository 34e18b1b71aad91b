import AsyncSupport
import Dispatch
package import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Finds the addresses of a host.
package struct HostResolver: Sendable {
    /// The addresses as text, in the order in which to try them; none for a name that is not known.
    package let addresses: @Sendable (_ host: String) async -> [String]

    package init(addresses: @escaping @Sendable (_ host: String) async -> [String]) {
        self.addresses = addresses
    }

    /// The system's resolver.
    package static let system = HostResolver(blocking: lookUp)

    /// A resolver by a function that blocks its thread for as long as name servers are silent. A caller that is cancelled does
    /// not wait for it, and gets no address.
    package init(blocking lookUp: @escaping @Sendable (_ host: String) -> [String]) {
        self.init { host in
            guard !Task.isCancelled else { return [] }
            let answer = SingleResult<[String]>()
            return await withTaskCancellationHandler {
                Self.queue.async { answer.settle(.success(lookUp(host))) }
                return (try? await answer.value) ?? []
            } onCancel: {
                answer.settle(.success([]))
            }
        }
    }

    private static let queue = DispatchQueue(label: "handshake.resolver", attributes: .concurrent)

    @Sendable private static func lookUp(_ host: String) -> [String] {
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [String] = []
        var next = list
        while let entry = next {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let status = getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if status == 0, !found.contains(address) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found
    }
}

/// Resolves the addresses that documents and redirects name, and refuses those that lead further into the network than where
/// they come from (`any-server.md` 9; `oauth-security.md` H4).
///
/// A name proves nothing: its owner decides what it resolves to, and may change that between two lookups. So the
/// connection goes to an address that was checked.
package struct AddressCheck: Sendable {
    let resolver: HostResolver

    /// The maximum number of addresses of one host that are tried.
    static let maximumCount = 4

    package init(resolver: HostResolver) {
        self.resolver = resolver
    }

    /// The addresses to which a request may connect; nil for one whose address the user or the app has given.
    ///
    /// - Throws: ``TransportError/privateAddress(host:)`` when any address of the host is refused;
    ///   ``TransportError/unknownHost(host:)``; `CancellationError`.
    package func addresses(for request: RequestMessage) async throws -> [String]? {
        do {
            return try await checked(request)
        } catch {
            // A lookup that was given up looks like a host without addresses.
            try Task.checkCancellation()
            throw error
        }
    }

    private func checked(_ request: RequestMessage) async throws(TransportError) -> [String]? {
        guard let namer = request.namedBy, let origin = Origin(of: request.head), origin.host != namer.host else {
            return nil
        }
        let found = await resolver.addresses(Self.name(origin.host))
        guard let innermost = found.map(NetworkZone.init(address:)).min() else { throw .unknownHost(host: origin.host) }
        guard innermost < .public else { return Array(found.prefix(Self.maximumCount)) }
        // What the user has given may itself be in the network, under whatever name. One that is not known is not.
        let namers = await resolver.addresses(Self.name(namer.host)).map(NetworkZone.init(address:))
        // The most public address counts: who owns the name may add private ones.
        guard innermost >= namers.max() ?? .public else { throw .privateAddress(host: origin.authority) }
        return Array(found.prefix(Self.maximumCount))
    }

    /// A host without the brackets of an IPv6 address.
    private static func name(_ host: String) -> String {
        host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }
}

extension TransferLimits {
    /// These limits without the time since the start of the exchange.
    func left<C: Clock>(since start: C.Instant, on clock: C) -> TransferLimits where C.Duration == Duration {
        var rest = self
        rest.timeout = max(.zero, timeout - start.duration(to: clock.now))
        return rest
    }

    /// Tries the addresses of a host one after another, all within these limits of one exchange.
    ///
    /// - Parameters:
    ///   - start: when the exchange began, with its lookup.
    ///   - repeats: whether the request can be sent again after an address that no connection comes about with.
    ///   - connecting: how long a connection may take to come about. An address after which another one can be tried has
    ///     half of it, and at most half of the limits' time. The last one has the whole of it where more than that is left,
    ///     else half. No further attempt is made that the deadline could end while it connects: it would look like a request
    ///     that may have arrived.
    ///   - attempt: sends the request to an address, within what is left of the limits and over a connection that comes
    ///     about in the time that it gets.
    /// - Throws: what the last attempt throws; when the time is over, ``TransportError/unreachable(host:reason:)``, since
    ///   nothing was sent.
    func trying<C: Clock, Result>(
        _ addresses: [String], since start: C.Instant, on clock: C, repeats: Bool, connecting: Duration = .zero,
        _ attempt: (_ address: String, _ limits: TransferLimits, _ connecting: Duration) async throws -> Result
    ) async throws -> Result where C.Duration == Duration {
        let least = min(connecting, timeout) / 2
        for address in addresses.dropLast() {
            do {
                return try await attempt(address, left(since: start, on: clock), least)
            } catch let error as TransportError {
                // Where nothing was sent, another address of the host may answer.
                guard case .unreachable = error, repeats, left(since: start, on: clock).timeout > least else {
                    throw error
                }
            }
        }
        let rest = left(since: start, on: clock)
        return try await attempt(addresses.last ?? "", rest, rest.timeout > connecting ? connecting : connecting / 2)
    }
}
