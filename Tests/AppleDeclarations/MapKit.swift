// What the iOS sample uses of Apple's MapKit, declared as Apple declares it and without any behaviour.
@_exported public import CoreLocation
public import SwiftUI

public struct MKCoordinateRegion: Sendable {
    public init(
        center: CLLocationCoordinate2D, latitudinalMeters: CLLocationDistance, longitudinalMeters: CLLocationDistance
    ) {}
}

public final class MKPlacemark: NSObject {
    public var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D(latitude: 0, longitude: 0) }
}

public final class MKMapItem: NSObject {
    public var placemark: MKPlacemark { fatalError() }
}

public final class MKLocalSearch: NSObject {
    public final class Request: NSObject {
        public var naturalLanguageQuery: String?
    }
    public final class Response: NSObject, @unchecked Sendable {
        public var mapItems: [MKMapItem] { [] }
    }
    public init(request: Request) {}
    public func start() async throws -> Response { Response() }
}

public protocol MapContent {}
public struct Marker: MapContent {
    public init(_ title: some StringProtocol, coordinate: CLLocationCoordinate2D) {}
}
public struct MapCircle: MapContent {
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {}
    public func foregroundStyle(_ style: some ShapeStyle) -> MapCircle { self }
}
@resultBuilder public struct MapContentBuilder {
    public static func buildBlock<each Content: MapContent>(_ content: repeat each Content) -> MapContents {
        MapContents()
    }
}
// swift-format-ignore: UseSynthesizedInitializer
public struct MapContents: MapContent { init() {} }
public struct MapCameraPosition: Sendable {
    public static func region(_ region: MKCoordinateRegion) -> MapCameraPosition { MapCameraPosition() }
}
@MainActor @preconcurrency public struct Map: Primitive {
    nonisolated public init(initialPosition: MapCameraPosition, @MapContentBuilder content: () -> some MapContent) {}
}
