#if Desktop && os(Linux)
import DBus
import OAuth

extension BusName {
    static let bluez: BusName = "org.bluez"
}

extension InterfaceName {
    static let adapter: InterfaceName = "org.bluez.Adapter1"
    static let device: InterfaceName = "org.bluez.Device1"
    static let advertisingManager: InterfaceName = "org.bluez.LEAdvertisingManager1"
    static let advertisement: InterfaceName = "org.bluez.LEAdvertisement1"
    static let monitorManager: InterfaceName = "org.bluez.AdvertisementMonitorManager1"
    static let monitor: InterfaceName = "org.bluez.AdvertisementMonitor1"
    static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
}

/// The BlueZ errors that this module handles (dossier 7.2).
enum BlueZErrorName: String {
    case notReady = "org.bluez.Error.NotReady"
    case inProgress = "org.bluez.Error.InProgress"
    case notPermitted = "org.bluez.Error.NotPermitted"
    case notSupported = "org.bluez.Error.NotSupported"
    case alreadyExists = "org.bluez.Error.AlreadyExists"
    case invalidArguments = "org.bluez.Error.InvalidArguments"
    case invalidLength = "org.bluez.Error.InvalidLength"
    case failed = "org.bluez.Error.Failed"
    case blocked = "org.bluez.Error.Blocked"
    case busy = "org.bluez.Error.Busy"
    case doesNotExist = "org.bluez.Error.DoesNotExist"

    init?(_ error: any Error) {
        guard let error = error as? DBusError, case .remote(let remote) = error else { return nil }
        self.init(rawValue: remote.name.text)
    }
}

extension RadioError {
    /// No bus.
    init(noBus error: DBusError) {
        guard case .unreachable(let address, let reason) = error else {
            self = .noBus(reason: error.description)
            return
        }
        self = .noBus(reason: "D-Bus does not answer at \(quoted(address, limit: 200)) (\(reason))")
    }

    /// The meaning of an error of a call to BlueZ.
    ///
    /// - Parameters:
    ///   - error: The error; nil is returned for anything but an error of the bus.
    ///   - operation: The operation, for the message.
    ///   - adapter: The adapter.
    init?(_ error: any Error, operation: String, adapter: String) {
        guard let error = error as? DBusError else { return nil }
        guard case .remote(let remote) = error else {
            switch error {
            case .timeout: self = .lost(reason: "BlueZ did not reply (\(operation))")
            case .connectionLost(let reason): self = .lost(reason: reason)
            case .unreachable, .authentication, .wrongBus, .invalidAddress: self.init(noBus: error)
            default: self = .refused(operation: operation, reason: error.description)
            }
            return
        }
        switch BlueZErrorName(rawValue: remote.name.text) {
        case .notReady: self = .poweredOff(adapter: adapter)
        case .blocked: self = .blocked(adapter: adapter, bySwitch: false)
        case .notPermitted: self = .notPermitted(reason: remote.description)
        case .notSupported: self = .notSupported(feature: operation)
        default:
            switch remote.name {
            case .serviceUnknown, .nameHasNoOwner: self = .noBlueZ
            case .noReply: self = .lost(reason: "BlueZ disconnected before it replied (\(operation))")
            case .accessDenied: self = .notPermitted(reason: remote.description)
            case .unknownObject: self = .noAdapter(named: adapter)
            case .unknownInterface, .unknownMethod: self = .notSupported(feature: operation)
            default: self = .refused(operation: operation, reason: remote.description)
            }
        }
    }

    /// The meaning of an error of registering an advertisement, where BlueZ's names differ (dossier 7.2,
    /// advertising 3).
    init?(registering error: any Error, adapter: String) {
        switch BlueZErrorName(error) {
        case .notPermitted: self = .noFreeInstance
        case .invalidArguments, .invalidLength, .failed:
            self = .advertisementRejected(reason: (error as? DBusError)?.description ?? "")
        default: self.init(error, operation: "advertising", adapter: adapter)
        }
    }
}
#endif
