#if Sandbox
extension Sandbox {
    /// How a sandbox is started; every value has a default that suits a test.
    public struct Configuration: Sendable {
        /// The address to listen on, `127.0.0.1` by default. Anything that is not loopback exposes the fixtures.
        public var host: String
        /// The first port, or 0 to let the kernel choose the ports. N makes the services listen on N, N + 1 and so on,
        /// in the order of ``Sandbox/services``.
        public var port: Int
        /// The faults to begin with.
        public var faults: [FaultRule]
        /// Seconds that access tokens live at every service; nil keeps each service's own.
        ///
        /// From 0 to 3,155,760,000, which are a hundred years: what is less or more counts as these.
        public var accessTokenLifetime: Int?
        /// Whether the request log keeps headers, queries and bodies too. They hold every secret that was sent. False
        /// unless stated; the 2,000 last requests are kept then.
        public var logsWholeRequests: Bool

        /// A hundred years, in seconds: the longest lifetime that can be set.
        package static let maximumLifetime = 3_155_760_000

        /// Makes a configuration.
        public init(
            host: String = "127.0.0.1", port: Int = 0, faults: [FaultRule] = [], accessTokenLifetime: Int? = nil,
            logsWholeRequests: Bool = false
        ) {
            self.host = host
            self.port = port
            self.faults = faults
            self.accessTokenLifetime = accessTokenLifetime
            self.logsWholeRequests = logsWholeRequests
        }
    }
}
#endif
