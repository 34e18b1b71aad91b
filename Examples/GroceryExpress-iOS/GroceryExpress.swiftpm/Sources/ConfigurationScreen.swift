import IFTTTConnect
import MapKit
import SwiftUI

/// The app's own configuration: what each feature, trigger, query and action asks for (F109). Areas are found on a map or typed.
struct ConfigurationScreen: View {
    let shop: Shop
    let name: String

    @State private var form = ConfigurationForm()
    @State private var problem: String?
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        NavigationStack {
            Form {
                ForEach(form.parts, id: \.id) { part in
                    Section(part.title) {
                        ForEach(part.questions, id: \.name) { question in row(question) }
                    }
                }
                if let problem { Text(problem) }
                if form.connection != nil { Button("Save") { Task { await save() } } }
            }
            .navigationTitle("Choose where and what")
        }
        .task { await load() }
    }

    @ViewBuilder private func row(_ question: ConfigurationQuestions.Question) -> some View {
        let name = question.name
        let word = Binding(
            get: { @MainActor in form.words[name] ?? "" }, set: { @MainActor in form.words[name] = $0 })
        if question.isArea {
            AreaEditor(
                area: Binding(
                    get: { @MainActor in form.areas[name] ?? ChosenArea() },
                    set: { @MainActor in form.areas[name] = $0 }))
        } else if question.options.isEmpty {
            TextField(question.title, text: word)
        } else {
            Picker(question.title, selection: word) {
                Text("nothing chosen").tag("")
                ForEach(question.options, id: \.value) { option in
                    Text(option.label ?? option.value).tag(option.value)
                }
            }
        }
    }

    private func load() async {
        do {
            form = try await shop.configurationForm(of: name)
        } catch {
            problem = "IFTTT does not answer just now. Close this and try again in a moment."
        }
    }

    private func save() async {
        do {
            try await shop.configure(name, to: try form.configuration())
            dismiss()
        } catch let error as ConfigurationProblem {
            problem = error.text
        } catch {
            problem = "IFTTT did not take it. Try again."
        }
    }
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

    init() {}

    /// The area that the customer has, or that the connection begins with.
    init(_ value: LocationValue) {
        address = value.address ?? ""
        latitude = "\(value.latitude)"
        longitude = "\(value.longitude)"
        radius = value.radius ?? radius
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
