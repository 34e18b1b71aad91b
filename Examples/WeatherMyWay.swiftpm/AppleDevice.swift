import Foundation
import Handshake
import OAuth
import Sequencing
import UIKit

extension WeatherModel.Device {
    /// The iPhone or iPad: Keychain, the system's sign-in sheet, and the app's settings.
    @MainActor static var apple: Self {
        Self(
            client: client, vault: { try await KeychainVault.open() },
            browser: { WebAuthenticationBrowser { window } },
            choices: KeptChoice.Store(
                read: { UserDefaults.standard.data(forKey: choiceKey) },
                write: { data in
                    if let data {
                        UserDefaults.standard.set(data, forKey: choiceKey)
                    } else {
                        UserDefaults.standard.removeObject(forKey: choiceKey)
                    }
                }))
    }

    private static var choiceKey: String { "choice" }

    /// The app's registration. An app of its own has its own identifier and redirect URI, and `Service.sequencing`.
    @Sendable private static func client() throws -> Client {
        let sandbox = try EndpointURL("http://127.0.0.1:8089", security: .allowingInsecureLoopback)
        let redirect = try RedirectURI("com.example.app:/callback")
        return Client(service: .sequencing.at(sandbox), id: "my-genome-app", redirect: .uri(redirect))
    }

    @MainActor private static var window: UIWindow {
        UIApplication.shared.connectedScenes.lazy.compactMap { ($0 as? UIWindowScene)?.keyWindow }.first ?? UIWindow()
    }
}
