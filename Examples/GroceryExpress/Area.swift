#if Server && Sandbox
import Foundation
import Geofences
import IFTTTConnect

/// An area of a customer's connection, as the walk's page shows it.
struct Area: Sendable {
    /// Its address, otherwise its coordinates.
    let name: String
    /// The feature that it belongs to.
    let purpose: String?
    let subscriptionID: String
    let crossings: Set<RegionCrossing.Kind>
    /// The region on a map, under the area's name; several may have one.
    let region: Geofence
    let circle: Circle

    /// The areas that a customer has chosen; empty when the connection has none, or is not connected.
    static func all(of connection: Connection) -> [Area] {
        guard connection.status == .enabled, let own = connection.userConnection else { return [] }
        let titles = Dictionary(
            connection.features.map { ($0.id ?? "", $0.title) }, uniquingKeysWith: { first, _ in first })
        var purposes: [String: String] = [:]
        for feature in own.features {
            for id in feature.triggers.compactMap(\.id) { purposes[id] = titles[feature.featureID] }
        }
        return own.locationTriggers.compactMap { Area($0, purpose: purposes[$0.subscriptionID]) }
    }

    private init?(_ trigger: LocationTrigger, purpose: String?) {
        let area = trigger.area
        guard let radius = area.radius,
            let center = try? Coordinate(latitude: area.latitude, longitude: area.longitude),
            // As the synchronizer does: no area is larger than the Earth.
            let circle = try? Circle(center: center, radius: min(radius, 20_000_000))
        else { return nil }
        let address = String((area.address ?? "").unicodeScalars.prefix(80)).trimmingCharacters(in: .whitespaces)
        let name = address.isEmpty ? "\(area.latitude), \(area.longitude)" : address
        guard let region = try? Geofence(id: name, .circle(circle)) else { return nil }
        self.name = name
        self.purpose = purpose
        self.circle = circle
        self.region = region
        subscriptionID = trigger.subscriptionID
        // If IFTTT does not say, it wants to hear of both and decides itself.
        crossings = trigger.type?.crossings ?? [.enter, .exit]
    }

    /// The radius in metres or kilometres.
    var size: String {
        let isLong = circle.radius >= 10_000
        let number = isLong ? circle.radius / 1_000 : circle.radius
        let rounded = number < 10 ? (number * 10).rounded() / 10 : number.rounded()
        return (Int(exactly: rounded).map(String.init) ?? "\(rounded)") + (isLong ? " km" : " m")
    }
}
#endif
