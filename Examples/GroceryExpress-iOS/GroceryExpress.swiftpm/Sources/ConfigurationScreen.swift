import IFTTTConnect
import MapKit
import SwiftUI

/// The app's own configuration: an area for each trigger that asks for one, found on a map or typed (F109).
struct ConfigurationScreen: View {
    let shop: Shop
    let connection: Connection

    @State private var areas: [String: ChosenArea] = [:]
    @State private var problem: String?
    @Environment(\.dismiss) private var dismiss

    private var triggers: [Connection.Component] {
        connection.features.flatMap(\.triggers).filter { trigger in trigger.fields.contains { $0.type.crossings != nil }
        }
    }

    var body: some View {
        NavigationStack {
            Form {
                ForEach(triggers, id: \.id) { trigger in
                    Section(trigger.label ?? "Area") {
                        AreaEditor(
                            area: Binding(
                                get: { @MainActor in areas[trigger.id] ?? ChosenArea() },
                                set: { @MainActor in areas[trigger.id] = $0 }))
                    }
                }
                if let problem { Text(problem) }
                Button("Save") { Task { await save() } }
            }
            .navigationTitle("Choose where and what")
        }
    }

    private func save() async {
        do {
            try await shop.configure(connection, to: try configuration())
            dismiss()
        } catch let error as ConfigurationProblem {
            problem = error.text
        } catch {
            problem = "IFTTT did not take it. Try again."
        }
    }

    /// The whole configuration. What the screen has no field for keeps its default.
    private func configuration() throws -> UserConnection {
        func fields(_ definitions: [FieldDefinition], _ id: String) throws -> [UserConnection.UserField] {
            try definitions.compactMap { field in
                if field.type.crossings != nil {
                    guard let area = areas[id]?.value else {
                        throw ConfigurationProblem(text: "Choose an area, with a radius above 0.")
                    }
                    return UserConnection.UserField(id: field.id, type: field.type, value: .location(area))
                }
                return field.defaultValue.map { UserConnection.UserField(id: field.id, type: field.type, value: $0) }
            }
        }
        func components(_ components: [Connection.Component]) throws -> [UserConnection.UserComponent] {
            try components.map { .init(componentID: $0.id, fields: try fields($0.fields, $0.id)) }
        }
        return UserConnection(
            features: try connection.features.map { feature in
                UserConnection.UserFeature(
                    featureID: feature.id ?? "", fields: try fields(feature.fields, feature.id ?? ""),
                    triggers: try components(feature.triggers), queries: try components(feature.queries),
                    actions: try components(feature.actions))
            })
    }
}

/// What is wrong in the form, in words for the customer.
struct ConfigurationProblem: Error {
    let text: String
}

/// An area as it is being chosen.
struct ChosenArea: Equatable {
    var address = ""
    var latitude = ""
    var longitude = ""
    var radius = 200.0

    var coordinate: CLLocationCoordinate2D? {
        guard let latitude = Self.number(latitude), let longitude = Self.number(longitude) else { return nil }
        return CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
    }

    var value: LocationValue? {
        coordinate.flatMap {
            LocationValue(latitude: $0.latitude, longitude: $0.longitude, radius: radius, address: address)
        }
    }

    private static func number(_ text: String) -> Double? { Double(text.replacingOccurrences(of: ",", with: ".")) }
}

/// A map with a search, and the numbers.
struct AreaEditor: View {
    @Binding var area: ChosenArea

    var body: some View {
        TextField("Address or place", text: $area.address)
            .onSubmit { Task { await search() } }
        Button("Find it on the map") { Task { await search() } }
        if let coordinate = area.coordinate {
            Map(initialPosition: .region(region(around: coordinate))) {
                Marker(area.address, coordinate: coordinate)
                MapCircle(center: coordinate, radius: area.radius).foregroundStyle(.green.opacity(0.3))
            }
            .frame(height: 220)
            .id("\(coordinate.latitude) \(coordinate.longitude)")
        }
        TextField("Latitude", text: $area.latitude).keyboardType(.numbersAndPunctuation)
        TextField("Longitude", text: $area.longitude).keyboardType(.numbersAndPunctuation)
        Slider(value: $area.radius, in: 50...2_000, step: 50)
        Text("Radius: \(Int(area.radius)) m")
    }

    private func region(around coordinate: CLLocationCoordinate2D) -> MKCoordinateRegion {
        MKCoordinateRegion(
            center: coordinate, latitudinalMeters: area.radius * 4, longitudinalMeters: area.radius * 4)
    }

    private func search() async {
        let request = MKLocalSearch.Request()
        request.naturalLanguageQuery = area.address
        guard let found = try? await MKLocalSearch(request: request).start().mapItems.first else { return }
        area.latitude = String(found.placemark.coordinate.latitude)
        area.longitude = String(found.placemark.coordinate.longitude)
    }
}
