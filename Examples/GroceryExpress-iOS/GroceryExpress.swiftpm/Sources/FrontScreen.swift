import ConnectButton
import IFTTTConnect
import SwiftUI

/// The shop's connections.
struct FrontScreen: View {
    @Bindable var shop: Shop

    var body: some View {
        NavigationStack {
            List {
                if let problem = shop.problem { Text(problem) }
                ForEach(Shop.connections, id: \.self) { name in
                    NavigationLink {
                        ConnectionScreen(shop: shop, name: name)
                    } label: {
                        VStack(alignment: .leading) {
                            Text(shop.descriptions[name]?.name ?? name)
                            Text(shop.descriptions[name]?.description ?? "IFTTT does not answer just now.")
                                .font(.footnote)
                        }
                    }
                }
                NavigationLink {
                    SettingsScreen(shop: shop)
                } label: {
                    Text("Settings")
                }
            }
            .navigationTitle("Grocery Express")
            .alert(
                shop.alert ?? "",
                isPresented: Binding(
                    get: { @MainActor in shop.alert != nil }, set: { @MainActor _ in shop.alert = nil })
            ) {
                Button("OK") { shop.alert = nil }
            }
        }
    }
}

/// A connection: its button, and what it does.
struct ConnectionScreen: View {
    let shop: Shop
    let name: String

    private var connection: Connection? { shop.descriptions[name] }

    var body: some View {
        List {
            if let model = shop.model(of: name) {
                ConnectButton(model).connectStyle(shop.settings.style.button)
                if model.state.step == .pending || model.state.step == .connected, shop.settings.usesOwnConfiguration {
                    Button("Choose where and what") { shop.configured = name }
                }
                if let connection, connection.usesLocation, let places = shop.places {
                    AreaSwitch(places: places, connection: connection)
                }
            }
            ForEach(connection?.features ?? [], id: \.title) { feature in
                HStack {
                    AsyncImage(url: URL(string: feature.iconURL.rawValue)) { phase in
                        if case .success(let image) = phase { image.resizable().scaledToFit() }
                    }
                    .frame(width: 32, height: 32)
                    VStack(alignment: .leading) {
                        Text(feature.title)
                        if let details = feature.details { Text(details).font(.footnote) }
                    }
                }
            }
            Button("Colours: \(shop.settings.style.rawValue)") { shop.settings.style = shop.settings.style.next }
        }
        .navigationTitle(connection?.name ?? name)
        .sheet(
            isPresented: Binding(
                get: { @MainActor in shop.configured == name }, set: { @MainActor _ in shop.configured = nil })
        ) {
            ConfigurationScreen(shop: shop, name: name)
        }
    }
}

/// Whether the connection's areas are monitored on this device (F095).
struct AreaSwitch: View {
    let places: Places
    let connection: Connection

    @State private var isOn = true

    var body: some View {
        Toggle("Monitor its areas on this device", isOn: $isOn)
            .task { isOn = await places.areasEnabled(for: connection.id) }
            .onChange(of: isOn) { _, now in Task { await places.setAreasEnabled(now, for: connection.id) } }
        PlacesPermission(places: places)
    }
}
