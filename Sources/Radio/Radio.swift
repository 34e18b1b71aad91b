public import Beacons

/// A way to hear advertisements and to send them: BlueZ, Core Bluetooth with Core Location, or a recording (dossier 7.3).
///
/// A radio is a value and does nothing by itself: it listens while a ``Scan`` is iterated and sends while ``advertise(_:status:)``
/// runs. An adapter that is switched off and a daemon that vanishes end neither; they are told of as a ``RadioStatus``, and
/// when they are back, so is the radio.
public protocol Radio: Sendable {
    /// What is heard from the first call of its iterator on, until that is dropped or its task is cancelled.
    ///
    /// Each iteration listens by itself.
    ///
    /// - Parameter interest: Which advertisements are wanted; others are not handed over, whichever way they are heard.
    func scan(for interest: ScanInterest) -> Scan

    /// Sends the newest element of `broadcasts` until the task is cancelled, the last one also after their end.
    ///
    /// Each element is put up under a fresh Bluetooth address where the platform lets us, so that a rolling identifier and the
    /// address change together (dossier 8.4).
    ///
    /// - Parameters:
    ///   - broadcasts: What to send: ``Broadcasts``, or any other sequence.
    ///   - status: Called with each change of the radio's status, in order.
    /// - Throws: ``RadioError`` for what waiting cannot mend; what `broadcasts` throws; `CancellationError`. It returns only
    ///   when `broadcasts` ends without an element.
    func advertise<Source: AsyncSequence & Sendable>(
        _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
    ) async throws where Source.Element == Broadcast
}

extension Radio {
    /// What is heard of beacons: ``scan(for:)`` with ``ScanInterest/beacons``.
    public func scan() -> Scan {
        scan(for: .beacons)
    }

    /// Sends one and the same data until the task is cancelled.
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
