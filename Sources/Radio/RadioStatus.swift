public import Beacons

/// How a radio is doing.
public enum RadioStatus: Sendable, Hashable {
    /// It listens, in this way.
    case listening(ScanMethod)
    /// It sends.
    case sending
    /// It has nothing to send at the moment.
    case silent
    /// It does neither, and goes on by itself when this is over.
    case unavailable(RadioError)
}

/// What a scan hands over.
public enum ScanEvent: Sendable, Hashable {
    /// Something was heard.
    case advertisement(Advertisement)
    /// The radio is doing otherwise than before.
    case status(RadioStatus)
    /// A line of a recording cannot be read and is left out.
    case damage(BeaconsError)
}

/// A way to hear advertisements.
public enum ScanMethod: String, Sendable, Hashable, CaseIterable {
    /// BlueZ tells of packets that fit a pattern; saves power (dossier 7.2, passive scan).
    case monitor
    /// BlueZ searches and tells of every change (dossier 7.2, active scan).
    case filteredDiscovery = "discovery-with-filter"
    /// BlueZ searches and keeps changes of less than 8 dB to itself (dossier 7.2).
    case plainDiscovery = "discovery-without-filter"
    /// Core Location ranges beacons of a known UUID (dossier 7.1).
    case ranging
    /// Core Bluetooth searches (dossier 7.1).
    case coreBluetooth = "core-bluetooth"
    /// A recording is replayed.
    case recording
}
