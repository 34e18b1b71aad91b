// What the adapters use of Apple's CoreLocation, declared as Apple declares it and without any behaviour.
// Optional methods of delegates have a default here, as Linux knows no optional requirements.
public import Foundation

public enum CLAuthorizationStatus: Int32, Sendable {
    case notDetermined, restricted, denied, authorizedAlways, authorizedWhenInUse
}

open class CLBeaconIdentityConstraint: NSObject {
    public init(uuid: UUID) {}
}

open class CLBeacon: NSObject {
    open var uuid: UUID { UUID() }
    open var major: NSNumber { 0 }
    open var minor: NSNumber { 0 }
    open var rssi: Int { 0 }
}

open class CLBeaconRegion: NSObject {
    public init(uuid: UUID, major: UInt16, minor: UInt16, identifier: String) {}
    open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary { [:] }
}

public protocol CLLocationManagerDelegate: NSObjectProtocol {
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint)
    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error)
}

extension CLLocationManagerDelegate {
    public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
    public func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {}
    public func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {}
}

open class CLLocationManager: NSObject {
    open weak var delegate: (any CLLocationManagerDelegate)?
    open var authorizationStatus: CLAuthorizationStatus { .notDetermined }
    open class func isRangingAvailable() -> Bool { false }
    open func requestWhenInUseAuthorization() {}
    open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {}
    open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {}
}

public protocol CLCondition: Sendable {}

public actor CLMonitor {
    public struct BeaconIdentityCondition: CLCondition {
        public init(uuid: UUID) {}
    }

    public struct Event: Sendable {
        public enum State: Sendable {
            case unknown, satisfied, unsatisfied, unmonitored
        }
        public let identifier: String
        public let state: State
    }

    public struct Events: AsyncSequence, Sendable {
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> Event? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    public init(_ name: String) async {}
    public func add(_ condition: any CLCondition, identifier: String) {}
    public var events: Events { Events() }
}
