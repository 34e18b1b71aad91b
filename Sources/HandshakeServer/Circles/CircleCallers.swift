#if Server
import HTTPTypes
public import Hummingbird
import Logging
import Synchronization

/// Where requests come from, for the limit on attempts to join (circles dossier 4).
///
/// A class, because requests share whether the warning was logged.
final class CircleCallers<Context: RequestContext>: Sendable {
    private let address: (@Sendable (Request, Context) -> String?)?
    private let log: Logger
    private let hasWarned = Mutex(false)

    /// - Parameter address: the app's own way to find the caller's address; nil takes the other end of the connection.
    init(_ address: (@Sendable (Request, Context) -> String?)?, log: Logger) {
        self.address = address
        self.log = log
        if address == nil, !(Context.self is any RemoteAddressRequestContext.Type) { warn() }
    }

    /// Where a request comes from.
    func network(of request: Request, _ context: Context) -> CallerNetwork {
        let known =
            if let address {
                address(request, context)
            } else {
                (context as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress
            }
        guard let known, let network = CallerNetwork(address: known) else {
            warn()
            return .unknown
        }
        return network
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
