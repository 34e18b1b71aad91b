public import Beacons

/// The status of a radio.
public enum RadioStatus: Sendable, Hashable {
    /// It scans with this method.
    case listening(ScanMethod)
    /// It sends.
    case sending
    /// It sends fewer identifiers at a time than there are. They take turns of a quarter of an hour.
    case takingTurns(identifiers: Int, atATime: Int)
    /// It has nothing to send now.
    case silent
    /// It neither scans nor sends. It resumes automatically once the error is resolved.
    case unavailable(RadioError)
}

/// An event of a scan.
public enum ScanEvent: Sendable, Hashable {
    /// An advertisement was received.
    case advertisement(Advertisement)
    /// The radio's status changed.
    case status(RadioStatus)
    /// A line of a recording cannot be read and is skipped.
    case damage(BeaconsError)
}

/// A scan method.
public enum ScanMethod: String, Sendable, Hashable, CaseIterable {
    /// BlueZ reports packets that match a pattern (dossier 7.2, passive scan). It saves power.
    case monitor
    /// BlueZ discovers devices and reports every change (dossier 7.2, active scan).
    case filteredDiscovery = "discovery-with-filter"
    /// BlueZ discovers devices and reports only changes of 8 dB or more (dossier 7.2).
    case plainDiscovery = "discovery-without-filter"
    /// Core Location ranges beacons of a known UUID (dossier 7.1).
    case ranging
    /// Core Bluetooth scans (dossier 7.1).
    case coreBluetooth = "core-bluetooth"
    /// A recording is replayed.
    case recording
}
