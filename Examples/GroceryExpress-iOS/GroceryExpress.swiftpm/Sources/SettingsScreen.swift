import ConnectButton
import SwiftUI

/// The settings of the sample (F108).
struct SettingsScreen: View {
    @Bindable var shop: Shop

    var body: some View {
        Form {
            Section("IFTTT or its sandbox") {
                TextField("Address", text: $shop.settings.origin)
                    .keyboardType(.URL)
                    .textInputAutocapitalization(.never)
                Button("Connect to it") { Task { await shop.open() } }
            }
            Section("Customer") {
                TextField("Suggested address", text: $shop.settings.email)
                    .keyboardType(.emailAddress)
                    .textInputAutocapitalization(.never)
                Toggle("Use a new address each time", isOn: $shop.settings.usesNewAddress)
                Picker(
                    "Logged in as",
                    selection: Binding(
                        get: { @MainActor in shop.settings.customer },
                        set: { @MainActor customer in Task { await shop.change(to: customer) } })
                ) {
                    Text("no customer").tag(Settings.Customer?.none)
                    ForEach(Settings.Customer.allCases, id: \.self) { customer in
                        Text(customer.rawValue).tag(Settings.Customer?.some(customer))
                    }
                }
                Button("Log out") { Task { await shop.change(to: nil) } }
            }
            Section("Buttons") {
                Toggle("Configure on the app's own screen", isOn: $shop.settings.usesOwnConfiguration)
                Toggle("Fetch the connection before", isOn: $shop.settings.isPrefetched)
                Picker("Language", selection: $shop.settings.locale) {
                    Text("as the device").tag(ConnectButtonLocale?.none)
                    ForEach(ConnectButtonLocale.allCases, id: \.self) { locale in
                        Text(locale.tag).tag(ConnectButtonLocale?.some(locale))
                    }
                }
            }
        }
        .navigationTitle("Settings")
    }
}
