import Beacons

/// Which people were heard from which transmitter: one that is three people in a term is suspect (circles dossier 7).
struct Transmitters: Sendable {
    private struct Record: Sendable {
        var people: Set<UserNumber> = []
        var heard: Duration
    }

    private var records: [DeviceAddress: Record] = [:]

    /// From this person on, the transmitter is suspect.
    static let suspectCount = 3
    /// The longest term of an identifier.
    private static let term = Duration.seconds(1_199)
    private static let capacity = 4_096

    /// Notes that a person was heard from a transmitter.
    mutating func note(_ person: UserNumber, from transmitter: DeviceAddress, at instant: Duration) {
        var record = records[transmitter] ?? Record(heard: instant)
        if record.people.count < Self.suspectCount { record.people.insert(person) }
        record.heard = instant
        records[transmitter] = record
        if records.count > Self.capacity { forgetOldest() }
    }

    /// Whether a transmitter is several people.
    func isSuspect(_ transmitter: DeviceAddress) -> Bool {
        (records[transmitter]?.people.count ?? 0) >= Self.suspectCount
    }

    /// Forgets transmitters that were not heard for a term.
    mutating func advance(to instant: Duration) {
        records = records.filter { instant - $0.value.heard <= Self.term }
    }

    private mutating func forgetOldest() {
        let oldest = records.sorted { $0.value.heard < $1.value.heard }.prefix(Self.capacity / 4)
        for (address, _) in oldest { records[address] = nil }
    }
}
