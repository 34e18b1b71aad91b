public import Beacons

/// Receives and sends advertisements (dossier 7.3). It is BlueZ, Core Bluetooth with Core Location, or a recording.
///
/// A radio is a value and does nothing by itself: it scans while a ``Scan`` is iterated and sends while ``advertise(_:status:)``
/// runs. Neither ends when the adapter is switched off or the daemon stops: they report a ``RadioStatus`` and resume
/// automatically.
public protocol Radio: Sendable {
    /// Scans for advertisements while the result is iterated. It scans from the first call of the iterator until it is
    /// released or its task is cancelled.
    ///
    /// Each iteration is a separate scan.
    ///
    /// - Parameter interest: The advertisements to report; others are dropped, whatever the scan method.
    func scan(for interest: ScanInterest) -> Scan

    /// Sends the newest element of `broadcasts` until the task is cancelled. The last one stays after their end.
    ///
    /// Each element gets a fresh Bluetooth address where the platform supports it, so that a rolling identifier and the address
    /// rotate together (dossier 8.4). ``Broadcasts`` of several scopes are sent at the same time, each under an address of its own,
    /// where the radio can; otherwise they take turns, and it says so once by ``RadioStatus/takingTurns(identifiers:atATime:)``.
    ///
    /// - Parameters:
    ///   - broadcasts: What to send: ``Broadcasts``, or any other sequence.
    ///   - status: Called with each change of the radio's status, in order.
    /// - Throws: ``RadioError`` for permanent errors; what `broadcasts` throws; `CancellationError`. It returns only when
    ///   `broadcasts` ends without an element.
    func advertise<Source: AsyncSequence & Sendable>(
        _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
    ) async throws where Source.Element == Broadcast
}

extension Radio {
    /// Scans for beacons: ``scan(for:)`` with ``ScanInterest/beacons``.
    public func scan() -> Scan {
        scan(for: .beacons)
    }

    /// Sends constant data until the task is cancelled.
    ///
    /// - Parameters:
    ///   - data: What to send.
    ///   - status: Called with each change of the radio's status, in order.
    /// - Throws: As ``advertise(_:status:)-(Source,_)``.
    public func advertise(
        _ data: AdvertisingData, status: @escaping @Sendable (RadioStatus) -> Void = { _ in }
    ) async throws {
        try await advertise(Broadcasts(constant: data), status: status)
    }
}
