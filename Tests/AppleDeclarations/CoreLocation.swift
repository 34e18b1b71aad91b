// What the adapters use of Apple's CoreLocation, declared as Apple declares it and without any behaviour.
// Optional methods of delegates have a default here, as Linux knows no optional requirements.
public import Foundation

public typealias CLLocationDistance = Double

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
    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)
}

extension CLLocationManagerDelegate {
    public func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {}
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
    #if os(iOS) || os(macOS)
    open var maximumRegionMonitoringDistance: Double { -1 }
    #endif
    open func requestWhenInUseAuthorization() {}
    open func requestAlwaysAuthorization() {}
    open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {}
    open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {}
    open func startMonitoringVisits() {}
    open func stopMonitoringVisits() {}
}

open class CLVisit: NSObject {
    open var arrivalDate: Date { .distantPast }
    open var departureDate: Date { .distantFuture }
    open var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D(latitude: 0, longitude: 0) }
    open var horizontalAccuracy: Double { 0 }
}

public struct CLLocationCoordinate2D: Sendable {
    public var latitude: Double
    public var longitude: Double
    public init(latitude: Double, longitude: Double) {
        (self.latitude, self.longitude) = (latitude, longitude)
    }
}

open class CLLocation: NSObject, @unchecked Sendable {
    open var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D(latitude: 0, longitude: 0) }
    open var horizontalAccuracy: Double { 0 }
    open var speed: Double { 0 }
    open var timestamp: Date { Date() }
}

public struct CLLocationUpdate: Sendable {
    public let location: CLLocation?
    public let authorizationDenied: Bool
    public let authorizationRestricted: Bool
    public let locationUnavailable: Bool

    public struct Updates: AsyncSequence, Sendable {
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> CLLocationUpdate? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    public static func liveUpdates() -> Updates { Updates() }
}

public protocol CLCondition: Sendable {}

public actor CLMonitor {
    public struct BeaconIdentityCondition: CLCondition {
        public init(uuid: UUID) {}
    }

    public struct CircularGeographicCondition: CLCondition {
        public let center: CLLocationCoordinate2D
        public let radius: Double
        public init(center: CLLocationCoordinate2D, radius: Double) {
            (self.center, self.radius) = (center, radius)
        }
    }

    public struct Record: Sendable {
        public let condition: any CLCondition
        public let lastEvent: Event
    }

    public struct Event: Sendable {
        public enum State: Sendable {
            case unknown, satisfied, unsatisfied, unmonitored
        }
        public let identifier: String
        public let state: State
        public let date: Date
    }

    public struct Events: AsyncSequence, Sendable {
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> Event? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    public init(_ name: String) async {}
    public func add(_ condition: any CLCondition, identifier: String) {}
    public func add(_ condition: any CLCondition, identifier: String, assuming state: Event.State) {}
    public func remove(_ identifier: String) {}
    public func record(for identifier: String) -> Record? { nil }
    public var identifiers: [String] { [] }
    public var events: Events { Events() }
}
