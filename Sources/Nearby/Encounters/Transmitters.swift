import Beacons

/// Which people were heard from which transmitter: one that sends for several people in a term is suspect (circles dossier 7).
///
/// Any device can send plain numbers under the address of another one, and relay identifiers of people who are elsewhere.
/// People whom keys verify therefore count for themselves: three of them may be relayed, and only nine make their transmitter
/// suspect.
struct Transmitters: Sendable {
    private struct Record: Sendable {
        /// The highest trust of each; of each trust no more people than make the transmitter suspect.
        var people: [UserNumber: Trust] = [:]
        var heard: Duration

        func count(of trust: Trust) -> Int { people.values.count { $0 >= trust } }

        func isSuspect(of trust: Trust) -> Bool { count(of: trust) >= Transmitters.suspectCount(of: trust) }
    }

    private var records: [DeviceAddress: Record] = [:]

    /// From this person on, people whom keys verify may be relayed.
    private static let sharedCount = 3

    /// From this person on, the transmitter is suspect. Verified people make it suspect only when they are a crowd.
    private static func suspectCount(of trust: Trust) -> Int {
        trust == .unverified ? sharedCount : CrowdBrake.maximumArrivals + 1
    }

    /// The longest term of an identifier.
    private static let term = Duration.seconds(1_199)
    private static let capacity = 4_096

    /// Notes that a person was heard from a transmitter.
    mutating func note(_ person: UserNumber, trust: Trust, from transmitter: DeviceAddress, at instant: Duration) {
        var record = records[transmitter] ?? Record(heard: instant)
        if !record.isSuspect(of: trust), record.people[person].map({ $0 < trust }) ?? true {
            record.people[person] = trust
        }
        record.heard = instant
        records[transmitter] = record
        if records.count > Self.capacity { forgetOldest() }
    }

    /// Whether a transmitter sends for too many people of this trust or a higher one.
    func isSuspect(_ transmitter: DeviceAddress, of trust: Trust) -> Bool {
        records[transmitter]?.isSuspect(of: trust) ?? false
    }

    /// Whether a transmitter sends for several people whom keys verify, although a device has the keys of one person.
    func isShared(_ transmitter: DeviceAddress) -> Bool {
        (records[transmitter]?.count(of: .circle) ?? 0) >= Self.sharedCount
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
