import AsyncSupport

/// A connection to a message bus: calls, signals and exported objects.
///
/// Exported objects are served while calls are pending, so a service can read back what a call has announced. When the bus
/// ends the connection, every pending call and every sequence ends with ``DBusError/connectionLost(reason:)``; for
/// reconnecting, see ``ReconnectingConnection``. Releasing the last reference closes it.
///
/// ```swift
/// let connection = try await Connection.open(Address.system(environment: environment))
/// let adapter = connection.object("/org/bluez/hci0", of: "org.bluez")
/// let isPowered: Bool = try await adapter.property("Powered", of: "org.bluez.Adapter1")
/// ```
///
/// It speaks the protocol of the D-Bus Specification over a Unix socket, without a C library. Every wait can be cancelled and
/// has a deadline on an injected clock. One thread for each connection sleeps in `poll`; no thread of the cooperative pool
/// waits for the socket. File descriptors are not supported, and `EXTERNAL` is the only authentication mechanism.
///
/// A class, because it is shared; its only state is the bus's.
package final class Connection: Sendable {
    /// The options of a connection.
    package struct Options: Sendable {
        /// The timeout of opening, including authentication. Default: ten seconds.
        package var openTimeout: Duration
        /// The maximum length of a received message in bytes; a longer one ends the connection. Default: 16 MiB.
        package var messageLimit: Int
        /// The clock that measures timeouts.
        package var clock: any Clock<Duration>

        package init(
            openTimeout: Duration = .seconds(10), messageLimit: Int = 1 << 24,
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.openTimeout = openTimeout
            self.messageLimit = messageLimit
            self.clock = clock
        }
    }

    /// The default timeout of a call: the reference implementation's 25 seconds.
    package static let standardTimeout = Duration.seconds(25)

    /// The name that the bus gave to this connection.
    package let uniqueName: BusName
    let link: Link
    let router: Router

    private init(uniqueName: BusName, link: Link, router: Router) {
        self.uniqueName = uniqueName
        self.link = link
        self.router = router
    }

    deinit {
        link.end(.connectionLost(reason: "it was released"))
    }

    /// Connects to the first address that answers, authenticates, and sends `Hello`.
    ///
    /// - Throws: ``DBusError/unreachable(address:reason:)`` for the last address when none answers,
    ///   ``DBusError/authentication(reason:)``, ``DBusError/wrongBus(expected:found:)``, ``DBusError/timeout(of:)`` or
    ///   `CancellationError`.
    package static func open(_ addresses: [Address], options: Options = Options()) async throws -> Connection {
        do {
            return try await withDeadline(options.openTimeout, on: options.clock) {
                let (descriptor, address) = try await connect(addresses, clock: options.clock)
                return try await open(owning: descriptor, guid: address.guid, options: options)
            }
        } catch is DeadlineExceeded {
            throw DBusError.timeout(of: "opening a connection to the bus")
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }

    /// Connects over a connected socket.
    static func open(owning descriptor: CInt, guid: String?, options: Options) async throws -> Connection {
        let router = Router()
        let link = Link(
            try ByteStream(owning: descriptor), router: router, messageLimit: options.messageLimit, clock: options.clock
        )
        try await link.open(guid: guid)
        let answer = try await link.call(
            MethodCall.bus("Hello").message(), name: "the bus's greeting", timeout: options.openTimeout)
        return Connection(uniqueName: try BusName(answer.read(String.self)), link: link, router: router)
    }

    private static func connect(
        _ addresses: [Address], clock: any Clock<Duration>
    ) async throws -> (descriptor: CInt, address: Address) {
        var failure = DBusError.invalidAddress(text: "", problem: "there is no address")
        for address in addresses {
            do {
                while true {
                    if let descriptor = try SystemSocket.connect(to: address) { return (descriptor, address) }
                    // The listener's backlog is full, which `poll` does not report.
                    try await clock.sleep(for: .milliseconds(20))
                }
            } catch let error as DBusError {
                failure = error
            }
        }
        throw failure
    }

    /// The clock that measures timeouts of this connection.
    package var clock: any Clock<Duration> { link.clock }

    /// Ends the connection after sending what the bus accepts without waiting.
    package func close() {
        link.end(.connectionLost(reason: "it was closed here"))
    }

    /// Returns when the connection has ended, or when the task is cancelled.
    package func waitForEnd() async {
        await link.waitForEnd()
    }

    /// Why the connection has ended, or nil while it lives.
    package var ending: DBusError? {
        link.ending
    }
}

// MARK: Calls

extension Connection {
    /// Calls a method and awaits its reply.
    ///
    /// After a cancellation or the timeout, a later reply is dropped; the method may still take effect.
    ///
    /// - Returns: The results; read them with `read`.
    /// - Throws: ``DBusError/remote(_:)`` for the peer's own errors, ``DBusError/timeout(of:)``,
    ///   ``DBusError/connectionLost(reason:)``, what cannot be sent, or `CancellationError`.
    @discardableResult
    package func call(_ call: MethodCall, timeout: Duration = standardTimeout) async throws -> [Value] {
        try await link.call(call.message(), name: call.description, timeout: timeout)
    }

    /// Calls a method without a reply. Returns when the call is queued.
    ///
    /// - Throws: ``DBusError/connectionLost(reason:)`` or what cannot be sent.
    package func send(_ call: MethodCall) throws(DBusError) {
        try link.send(call.message(flags: .noReplyExpected))
    }

    /// Emits a signal, as a broadcast or to one destination. Returns when it is queued.
    ///
    /// - Throws: ``DBusError/connectionLost(reason:)`` or what cannot be sent.
    package func emit(_ signal: Signal, to destination: BusName? = nil) throws(DBusError) {
        try link.send(
            Message(
                .signal(path: signal.path, interface: signal.interface, member: signal.member), serial: 0,
                flags: .noReplyExpected, destination: destination, body: signal.arguments))
    }
}
