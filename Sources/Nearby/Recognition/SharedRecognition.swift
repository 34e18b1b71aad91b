import Beacons
import Synchronization

/// A recognition that ranging and the lists of people share, so that its tables exist once.
final class SharedRecognition: Sendable {
    private let recognition: Mutex<Recognition>

    init(_ recognition: Recognition) {
        self.recognition = Mutex(recognition)
    }

    func recognize(_ beacon: BeaconIdentity, at time: Timestamp) -> Recognition.Found? {
        recognition.withLock { $0.recognize(beacon, at: time) }
    }

    /// Ranges what is recognised only, each kind of trust in places of its own.
    ///
    /// Otherwise an attacker who invents identifiers and keeps sending them takes every place, and members are not ranged.
    var admission: RangingAdmission {
        RangingAdmission { beacon, time in
            self.recognition.withLock { $0.trust(of: beacon, at: time)?.rawValue }
        }
    }
}
