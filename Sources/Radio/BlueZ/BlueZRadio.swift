#if Desktop && os(Linux)
package import AsyncSupport
public import Beacons
package import DBus

/// The adapters of a Linux machine, through BlueZ's daemon (dossier 7.2).
///
/// Every scan and every advertisement has its own connection to the system bus: when a connection ends, BlueZ removes its
/// registrations, so nothing stays behind even if the program crashes.
public struct BlueZRadio: Radio {
    /// The options of a radio.
    public struct Options: Sendable {
        /// The adapter's name, such as `hci0`, or its address. Nil uses the first that is on.
        public var adapter: String?
        /// Whether to switch on an adapter that is off. Default: false, because the user may have switched it off.
        public var switchesOn: Bool
        /// The scan methods, in the order in which they are tried (dossier 7.3).
        ///
        /// The default is the dossier's order. Omit the monitor where it is known to receive nothing: BlueZ 5.69 and 5.70 never match
        /// manufacturer data, and from BlueZ 5.63 on it receives nothing on kernels 5.12 to 5.17 with some controllers (dossier 7.2).
        public var methods: [ScanMethod]
        /// The current time, and the clock of delays.
        public var time: ScanTime
        /// The delays between attempts.
        package var backOff = ReconnectingConnection.backOff
        /// How long nothing is sent between two identifiers.
        package var silence: @Sendable () -> Duration = { BlueZRadio.drawnSilence() }
        /// The kernel's state of blocked adapters.
        package var rfkill = RFKill()

        public init(
            adapter: String? = nil, switchesOn: Bool = false, methods: [ScanMethod] = bluezMethods,
            time: ScanTime = .system
        ) {
            self.adapter = adapter
            self.switchesOn = switchesOn
            self.methods = methods
            self.time = time
        }

        /// BlueZ's scan methods, in the dossier's order.
        public static let bluezMethods: [ScanMethod] = [.monitor, .filteredDiscovery, .plainDiscovery]
    }

    let addresses: [Address]
    let options: Options

    /// Creates a radio on the bus at one of these addresses.
    package init(_ addresses: [Address], options: Options = Options()) {
        self.addresses = addresses
        self.options = options
    }

    /// Creates a radio on the system bus (dossier 9.1). The bus is at `DBUS_SYSTEM_BUS_ADDRESS`, otherwise at the
    /// well-known socket.
    ///
    /// - Throws: ``RadioError/noBus(reason:)`` when the variable is invalid.
    public init(environment: [String: String], options: Options = Options()) throws(RadioError) {
        do throws(DBusError) {
            self.init(try Address.system(environment: environment), options: options)
        } catch {
            throw RadioError(noBus: error)
        }
    }

    public func scan(for interest: ScanInterest) -> Scan {
        Scan(feeding: { buffer in
            let status = StatusReport { buffer.offer(.status($0)) }
            let scanning = BlueZScanning(interest: interest, options: options, status: status)
            let session = BlueZSession(addresses: addresses, options: options, status: status) { advertisement in
                if interest.wants(advertisement.data) { buffer.offer(.advertisement(advertisement)) }
            }
            try await session.run { try await scanning.run($0) }
        })
    }

    public func advertise<Source: AsyncSequence & Sendable>(
        _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
    ) async throws where Source.Element == Broadcast {
        let report = StatusReport(status)
        if let several = broadcasts as? Broadcasts, several.scopes > 1 {
            // They go on by themselves whenever an adapter is usable again.
            return try await advertise(report, identifiers: several.scopes) { several.instances($0) }
        }
        let newest = Broadcaster<Broadcast>(capacity: 1, replaysNewest: true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                var hasElement = false
                for try await broadcast in broadcasts {
                    hasElement = true
                    newest.send(broadcast)
                }
                if hasElement { try await suspendUntilCancelled() }
            }
            group.addTask {
                // Connects to the bus only once there is something to send.
                for await _ in newest.values() { break }
                try Task.checkCancellation()
                try await advertise(report, identifiers: 1) { _ in [newest.values()] }
            }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    private func advertise<Instance: AsyncSequence & Sendable>(
        _ report: StatusReport, identifiers: Int, instances: @escaping @Sendable (Int) -> [Instance]
    ) async throws where Instance.Element == Broadcast {
        let session = BlueZSession(addresses: addresses, options: options, status: report) { _ in }
        let advertising = BlueZAdvertising(
            identifiers: identifiers, instances: instances, status: report, clock: options.time.clock,
            silence: options.silence)
        try await session.run { try await advertising.run($0) }
    }
}
#endif
