#if Server
import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Where requests come from, for the limit on attempts to join (circles dossier 4).
///
/// A class, because requests share whether the warning was logged.
final class CircleCallers<Context: RequestContext>: Sendable {
    private let address: (@Sendable (Request, Context) -> String?)?
    private let log: Logger
    private let hasWarned = Mutex(false)

    /// - Parameter address: the app's own way to tell; nil takes the other end of the connection.
    init(_ address: (@Sendable (Request, Context) -> String?)?, log: Logger) {
        self.address = address
        self.log = log
        if address == nil, !(Context.self is any RemoteAddressRequestContext.Type) { warn() }
    }

    /// What attempts to join are counted by.
    struct Networks: Sendable, Hashable {
        /// Of a household or a machine: an IPv4 address, or a /64 of IPv6. Empty for all whose address is unknown.
        var own = ""
        /// What one site can have: the /24 of IPv4 or the /48 of IPv6 that the other is part of.
        var site = ""
    }

    /// Where a request comes from.
    func networks(of request: Request, _ context: Context) -> Networks {
        let known =
            if let address {
                address(request, context)
            } else {
                (context as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress
            }
        guard let known, let networks = Self.networks(of: known) else {
            warn()
            return Networks()
        }
        return networks
    }

    /// The networks of an address. Nil for what is no address.
    ///
    /// Some proxies add a port, and write an IPv6 address in brackets.
    static func networks(of address: String) -> Networks? {
        // No longer than any address is.
        var text = String(decoding: address.utf8.prefix(64), as: UTF8.self)
        if text.hasPrefix("[") {
            text = String(text.dropFirst().prefix { $0 != "]" })
        } else if let colon = text.firstIndex(of: ":"), text[colon...].dropFirst().allSatisfy(\.isNumber),
            text.contains(".")
        {
            text = String(text[..<colon])
        }
        // Without the zone.
        text = String(text.prefix { $0 != "%" })
        guard var plain = (try? SocketAddress(ipAddress: text, port: 0))?.ipAddress else { return nil }
        // An IPv4 address that a socket of both kinds maps (RFC 4291, section 2.5.5.2).
        if plain.hasPrefix("::ffff:"), plain.contains(".") { plain = String(plain.dropFirst("::ffff:".count)) }
        guard plain.contains(":") else {
            return Networks(own: plain, site: plain.split(separator: ".").prefix(3).joined(separator: ".") + ".0/24")
        }
        let halves = plain.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.split(separator: ":") }
        let zeros = Array(repeating: Substring("0"), count: max(0, 8 - halves.reduce(0) { $0 + $1.count }))
        let groups = (halves.first ?? []) + zeros + halves.dropFirst().joined()
        func network(_ count: Int) -> String { groups.prefix(count).joined(separator: ":") + "::/\(count * 16)" }
        return Networks(own: network(4), site: network(3))
    }

    private func warn() {
        let isFirst = hasWarned.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        log.warning(
            """
            A caller's IP address is unknown. Callers without an address share one limit on attempts to join a circle, so one of \
            them can block the others. Use a context that conforms to RemoteAddressRequestContext. Behind a reverse proxy, pass \
            CircleRoutes.forwardedAddress as address: and make the proxy set X-Forwarded-For
            """)
    }
}

extension CircleRoutes {
    /// The address that a reverse proxy has added last to `X-Forwarded-For`.
    ///
    /// For `address:` of the routes. Pass it when every request comes through one proxy that adds the address of its caller to that field, as Caddy does, nginx
    /// with `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for`, and HAProxy with `option forwardfor`. It takes the last
    /// address: what stands before it comes from the caller. A server that others reach directly must not use it, because they
    /// would write the address themselves.
    public static func forwardedAddress(_ request: Request, _ context: Context) -> String? {
        guard let name = HTTPField.Name("X-Forwarded-For"),
            let last = request.headers[values: name].last?.split(separator: ",").last
        else { return nil }
        return String(last.filter { $0 != " " })
    }
}
#endif
