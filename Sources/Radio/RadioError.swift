import AsyncSupport
public import Beacons
import OAuth

/// The errors of this module.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum RadioError: Error, Sendable, Hashable {
    /// The system bus cannot be reached.
    case noBus(reason: String)
    /// BlueZ does not run: `org.bluez` has no owner.
    case noBlueZ
    /// There is no Bluetooth adapter, or none of this name.
    case noAdapter(named: String?)
    /// The adapter is switched off.
    case poweredOff(adapter: String)
    /// The adapter is blocked, by a hardware switch or by software.
    case blocked(adapter: String, bySwitch: Bool)
    /// BlueZ or the adapter does not support this.
    case notSupported(feature: String)
    /// The system does not permit it.
    case notPermitted(reason: String)
    /// Every advertising instance of the adapter is in use.
    case noFreeInstance
    /// The adapter's driver rejects the advertisement.
    case advertisementRejected(reason: String)
    /// This radio cannot send this data.
    case unsendable(problem: String)
    /// Every scan method failed, each for its own reason (dossier 7.3).
    case noWayToScan([ScanAttempt])
    /// A working scan or advertisement ended. The daemon stopped, or dropped the registration.
    case lost(reason: String)
    /// BlueZ replied with an error without a case of its own.
    case refused(operation: String, reason: String)
    /// A file of a recording cannot be read or written.
    case file(name: String, reason: String)
    /// A recording is damaged, and damage is fatal.
    case damagedRecording(BeaconsError)
    /// A recording without a line that can be read. The error is that of its first line.
    case notARecording(BeaconsError)
    /// An argument is invalid.
    case input(member: String, problem: String)
}

/// A scan method that failed.
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
        case .damagedRecording, .notARecording: "damaged_recording"
        case .input: "invalid_input"
        }
    }

    /// Whether waiting can help, without a change in this program.
    public var isTransient: Bool {
        switch self {
        case .noBus, .noBlueZ, .noAdapter, .poweredOff, .blocked, .lost: true
        // If the adapter was removed, all methods fail; retry when it is back.
        case .noWayToScan(let attempts): attempts.contains { $0.error.isTransient }
        default: false
        }
    }
}

extension RadioError: CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String {
        let sentence = isAboutName ? fault : fault.prefix(1).uppercased() + fault.dropFirst()
        return cure.map { "\(sentence). \($0.prefix(1).uppercased() + $0.dropFirst())" } ?? sentence
    }

    /// Whether the fault begins with a name, which keeps its spelling.
    private var isAboutName: Bool {
        switch self {
        case .file, .input: true
        default: false
        }
    }

    /// What is wrong.
    public var fault: String {
        switch self {
        case .noBus(let reason): "Bluetooth is not available: \(quoted(reason, limit: 300))"
        case .noBlueZ: "BlueZ, the Bluetooth daemon, is not running"
        case .noAdapter(nil): "there is no Bluetooth adapter"
        case .noAdapter(let name?): "there is no Bluetooth adapter \(quoted(name, limit: 40))"
        case .poweredOff(let adapter): "Bluetooth is off (\(quoted(adapter, limit: 40)))"
        case .blocked(let adapter, bySwitch: true):
            "Bluetooth is blocked by a hardware switch (\(quoted(adapter, limit: 40)))"
        case .blocked(let adapter, bySwitch: false): "Bluetooth is blocked by rfkill (\(quoted(adapter, limit: 40)))"
        case .notSupported(let feature): "\(quoted(feature, limit: 200)) is not supported here"
        case .notPermitted(let reason): "the system does not permit it: \(quoted(reason, limit: 300))"
        case .noFreeInstance: "the adapter has no free advertising instance"
        case .advertisementRejected(let reason): "the advertisement was rejected: \(quoted(reason, limit: 300))"
        case .unsendable(let problem): "this radio cannot send the advertisement: \(problem)"
        case .noWayToScan(let attempts):
            "every scan method failed: "
                + attempts.map { "\($0.method.rawValue): \($0.error.fault)" }.joined(separator: "; ")
        case .lost(let reason): "the connection to the radio was lost: \(quoted(reason, limit: 300))"
        case .refused(let operation, let reason): "\(operation) was refused: \(quoted(reason, limit: 300))"
        case .file(let name, let reason): "\(quoted(name, limit: 300)): \(reason)"
        case .damagedRecording(let error): error.description
        case .notARecording(.recording(let line, let problem)): "this is not a recording: in line \(line), \(problem)"
        case .notARecording(let error): "this is not a recording: \(error)"
        case .input(let member, let problem): problem.sentence(about: member)
        }
    }

    /// What to do about it; nil when the fault says it, or when only waiting helps.
    public var cure: String? {
        switch self {
        case .noBus, .noBlueZ, .noAdapter, .poweredOff, .blocked: systemCure
        case .notPermitted: "allow it in the system's settings, or ask the administrator of this machine"
        case .noFreeInstance: "stop another program that advertises"
        case .unsendable: "send one beacon frame at a time"
        case .noWayToScan(let attempts): attempts.lazy.compactMap(\.error.cure).first
        case .notSupported, .advertisementRejected, .refused: "check the Bluetooth adapter, or use another one"
        case .lost, .file, .damagedRecording, .notARecording, .input: nil
        }
    }

    #if os(Linux)
    private var systemCure: String? {
        switch self {
        case .noBus: "start dbus; in a container, mount the system bus's socket"
        case .noBlueZ: "install the package bluez and start it: systemctl start bluetooth"
        case .noAdapter(nil): "plug one in, or load its driver. List adapters with: bluetoothctl list"
        case .noAdapter: "list adapters with: bluetoothctl list"
        case .poweredOff: "switch it on with: bluetoothctl power on"
        case .blocked(_, bySwitch: true): "turn on the machine's Bluetooth switch"
        case .blocked(_, bySwitch: false): "unblock it with: rfkill unblock bluetooth"
        default: nil
        }
    }
    #else
    private var systemCure: String? {
        switch self {
        case .noAdapter: "use a device that has Bluetooth Low Energy"
        case .poweredOff, .blocked: "switch Bluetooth on in the system's settings"
        default: nil
        }
    }
    #endif
}
