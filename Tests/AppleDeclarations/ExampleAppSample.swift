import Handshake
import OAuth
import SwiftUI

@main
struct ExampleApp: App {
    @State private var handshake: Handshake?
    @State private var status = "Opening the vault"

    var body: some Scene {
        WindowGroup {
            if let handshake {
                SignInView(handshake: handshake)
            } else {
                Text(status).task { await open() }
            }
        }
    }

    private func open() async {
        do {
            let sandbox = try EndpointURL("http://127.0.0.1:8081", security: .allowingInsecureLoopback)
            let redirect = try RedirectURI("com.example.app:/callback")
            let client = Client(service: .recurseCenter.at(sandbox), id: "recurse-public", redirect: .uri(redirect))
            handshake = try Handshake(client, vault: await KeychainVault.open())
        } catch {
            status = "\(error)"
        }
    }
}
