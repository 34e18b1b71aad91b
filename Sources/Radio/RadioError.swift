public import Beacons
import OAuth

/// What keeps a radio from working; each case says whose turn it is.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum RadioError: Error, Sendable, Hashable {
    /// The machine's message bus cannot be reached.
    case noBus(reason: String)
    /// Nobody answers for `org.bluez`.
    case noBlueZ
    /// There is no Bluetooth adapter, or none of this name.
    case noAdapter(named: String?)
    /// The adapter is switched off.
    case poweredOff(adapter: String)
    /// The kernel keeps the adapter switched off: by a switch of the machine, or by software.
    case blocked(adapter: String, bySwitch: Bool)
    /// BlueZ or the adapter cannot do this.
    case notSupported(feature: String)
    /// The system forbids it.
    case notPermitted(reason: String)
    /// Every advertising instance of the adapter is in use.
    case noFreeInstance
    /// The adapter's driver refuses the advertisement.
    case advertisementRejected(reason: String)
    /// This data cannot be sent by this radio.
    case unsendable(problem: String)
    /// Every way to scan failed, each for its own reason (dossier 7.3).
    case noWayToScan([ScanAttempt])
    /// What worked ended: the daemon vanished, or dropped what was registered.
    case lost(reason: String)
    /// BlueZ answered with an error that has no case of its own.
    case refused(operation: String, reason: String)
    /// A file of a recording cannot be read or written.
    case file(name: String, reason: String)
    /// A recording is damaged, and damage was not to be skipped.
    case damagedRecording(BeaconsError)
    /// What the caller gave cannot be right.
    case input(member: String, problem: String)
}

/// One way to scan that failed.
public struct ScanAttempt: Sendable, Hashable {
    public let method: ScanMethod
    public let error: RadioError

    public init(_ method: ScanMethod, _ error: RadioError) {
        self.method = method
        self.error = error
    }
}

extension RadioError {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .noBus: "no_bus"
        case .noBlueZ: "no_bluez"
        case .noAdapter: "no_adapter"
        case .poweredOff: "powered_off"
        case .blocked: "blocked"
        case .notSupported: "not_supported"
        case .notPermitted: "not_permitted"
        case .noFreeInstance: "no_free_instance"
        case .advertisementRejected: "advertisement_rejected"
        case .unsendable: "unsendable"
        case .noWayToScan: "no_way_to_scan"
        case .lost: "lost"
        case .refused: "refused"
        case .file: "file"
        case .damagedRecording: "damaged_recording"
        case .input: "invalid_input"
        }
    }

    /// Whether waiting helps, without anything done in this program.
    public var isPassing: Bool {
        switch self {
        case .noBus, .noBlueZ, .noAdapter, .poweredOff, .blocked, .lost: true
        // Ways that all failed because the adapter went away are worth another round when it is back.
        case .noWayToScan(let attempts): attempts.contains { $0.error.isPassing }
        default: false
        }
    }
}

extension RadioError: CustomStringConvertible {
    /// What is wrong and what to do about it.
    public var description: String { cure.map { "\(fault); \($0)" } ?? fault }

    /// What is wrong.
    public var fault: String {
        switch self {
        case .noBus(let reason): "the system's message bus cannot be reached: \(quoted(reason, limit: 300))"
        case .noBlueZ: "BlueZ, the Bluetooth daemon, does not run"
        case .noAdapter(nil): "there is no Bluetooth adapter"
        case .noAdapter(let name?): "there is no Bluetooth adapter \(quoted(name, limit: 40))"
        case .poweredOff(let adapter): "Bluetooth is off (\(quoted(adapter, limit: 40)))"
        case .blocked(let adapter, bySwitch: true):
            "Bluetooth is blocked by a switch of the machine (\(quoted(adapter, limit: 40)))"
        case .blocked(let adapter, bySwitch: false): "Bluetooth is blocked by rfkill (\(quoted(adapter, limit: 40)))"
        case .notSupported(let feature): "\(quoted(feature, limit: 200)) is not supported here"
        case .notPermitted(let reason): "the system does not permit it: \(quoted(reason, limit: 300))"
        case .noFreeInstance: "the adapter sends as many advertisements as it can already"
        case .advertisementRejected(let reason): "the advertisement was rejected: \(quoted(reason, limit: 300))"
        case .unsendable(let problem): "this radio cannot send that: \(problem)"
        case .noWayToScan(let attempts):
            "no way to scan works: "
                + attempts.map { "\($0.method.rawValue): \($0.error.fault)" }.joined(separator: "; ")
        case .lost(let reason): "the connection to the radio was lost: \(quoted(reason, limit: 300))"
        case .refused(let operation, let reason): "\(operation) was refused: \(quoted(reason, limit: 300))"
        case .file(let name, let reason): "\(quoted(name, limit: 300)): \(reason)"
        case .damagedRecording(let error): error.description
        case .input(let member, let problem): "\(member): \(problem)"
        }
    }

    /// What to do about it; nil where the fault says it already, or where there is only waiting.
    public var cure: String? {
        switch self {
        case .noBus: "start dbus, or set DBUS_SYSTEM_BUS_ADDRESS; in a container mount the system bus's socket"
        case .noBlueZ: "install the package bluez and start it: systemctl start bluetooth"
        case .noAdapter(nil): "plug one in, or load its driver; bluetoothctl list shows those that BlueZ knows"
        case .noAdapter: "bluetoothctl list shows those that BlueZ knows"
        case .poweredOff: "switch it on in the settings or with: bluetoothctl power on"
        case .blocked(_, bySwitch: true): "turn the machine's switch or key for Bluetooth on"
        case .blocked(_, bySwitch: false): "unblock it with: rfkill unblock bluetooth"
        case .notPermitted: "allow it in the system's settings, or ask who administers this machine"
        case .noFreeInstance: "stop another program that advertises, for instance in bluetoothctl"
        case .unsendable: "send one beacon frame at a time"
        case .noWayToScan(let attempts): attempts.lazy.compactMap(\.error.cure).first
        case .notSupported, .advertisementRejected, .refused: "see what the adapter can do with: handshake doctor"
        case .lost, .file, .damagedRecording, .input: nil
        }
    }
}
