// What the adapters use of Apple's CoreBluetooth, declared as Apple declares it and without any behaviour.
// Optional methods of delegates have a default here, as Linux knows no optional requirements.
public import Dispatch
public import Foundation

public enum CBManagerState: Int, Sendable {
    case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn
}

public enum CBManagerAuthorization: Int, Sendable {
    case notDetermined, restricted, denied, allowedAlways
}

open class CBManager: NSObject {
    open var state: CBManagerState { .unknown }
    open class var authorization: CBManagerAuthorization { .notDetermined }
}

open class CBPeripheral: NSObject {
    open var identifier: UUID { UUID() }
}

open class CBUUID: NSObject {
    open var data: Data { Data() }
    open var uuidString: String { "" }
    public init(string theString: String) {}
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"

public protocol CBCentralManagerDelegate: NSObjectProtocol {
    func centralManagerDidUpdateState(_ central: CBCentralManager)
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber)
}

extension CBCentralManagerDelegate {
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
    public func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {}
}

open class CBCentralManager: CBManager {
    public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {}
    open weak var delegate: (any CBCentralManagerDelegate)?
    open var isScanning: Bool { false }
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {}
    open func stopScan() {}
}

public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
}

extension CBPeripheralManagerDelegate {
    public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}
}

open class CBPeripheralManager: CBManager {
    public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {}
    open weak var delegate: (any CBPeripheralManagerDelegate)?
    open var isAdvertising: Bool { false }
    open func startAdvertising(_ advertisementData: [String: Any]?) {}
    open func stopAdvertising() {}
}
