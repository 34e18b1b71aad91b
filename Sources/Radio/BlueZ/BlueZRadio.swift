#if Desktop && os(Linux)
public import Beacons
public import DBus

/// The adapters of a Linux machine, by way of BlueZ's daemon (dossier 7.2).
///
/// Every scan and every advertisement has a connection of its own to the system bus: BlueZ takes back what a connection
/// registered when it ends, so that nothing stays behind whatever becomes of this program.
public struct BlueZRadio: Radio {
    /// How the radio behaves.
    public struct Options: Sendable {
        /// The adapter's name, as in `hci0`, or its address; nil takes the first that is on.
        public var adapter: String?
        /// Whether an adapter that is off may be switched on. The default is no: somebody may have switched it off.
        public var switchesOn: Bool
        /// The ways to scan, in the order in which they are tried (dossier 7.3).
        ///
        /// The default is the dossier's. Leave the monitor out where it is known to hear nothing: BlueZ 5.69 and 5.70 never match
        /// manufacturer data, and BlueZ from 5.63 on is deaf on kernels 5.12 to 5.17 with some controllers (dossier 7.2).
        public var methods: [ScanMethod]
        /// The present, and what waiting is measured on.
        public var time: ScanTime
        /// How long to wait before trying again.
        public var backOff: KeptConnection.BackOff
        /// Where the kernel tells what keeps adapters off.
        public var rfkill: RFKill

        public init(
            adapter: String? = nil, switchesOn: Bool = false, methods: [ScanMethod] = bluezMethods,
            time: ScanTime = .system, backOff: KeptConnection.BackOff = .init()
        ) {
            self.adapter = adapter
            self.switchesOn = switchesOn
            self.methods = methods
            self.time = time
            self.backOff = backOff
            rfkill = RFKill()
        }

        /// Every way that BlueZ has, in the dossier's order.
        public static let bluezMethods: [ScanMethod] = [.monitor, .filteredDiscovery, .plainDiscovery]
    }

    let addresses: [Address]
    let options: Options

    /// A radio on the bus at one of these addresses.
    public init(_ addresses: [Address], options: Options = Options()) {
        self.addresses = addresses
        self.options = options
    }

    /// A radio on the machine's bus: `DBUS_SYSTEM_BUS_ADDRESS`, else the well-known socket (dossier 9.1).
    ///
    /// - Throws: ``RadioError/noBus(reason:)`` when the variable cannot be understood.
    public init(environment: [String: String], options: Options = Options()) throws(RadioError) {
        do throws(DBusError) {
            self.init(try Address.system(environment: environment), options: options)
        } catch {
            throw .noBus(reason: error.description)
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
        let newest = Latest<Broadcast>()
        let report = StatusReport(status)
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                var hasElement = false
                for try await broadcast in broadcasts {
                    hasElement = true
                    newest.set(broadcast)
                }
                if hasElement { try await suspendUntilCancelled() }
            }
            group.addTask {
                // Nothing is asked of the bus before there is something to send.
                for await _ in newest.values() { break }
                try Task.checkCancellation()
                let session = BlueZSession(addresses: addresses, options: options, status: report) { _ in }
                let advertising = BlueZAdvertising(broadcasts: newest, status: report)
                try await session.run { try await advertising.run($0) }
            }
            try await group.next()
        }
        try Task.checkCancellation()
    }
}
#endif
