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
                }),
            copy: copy)
    }

    private static var choiceKey: String { "choice" }

    /// The app's registration. An app of its own has its own identifier and redirect URI, and `Service.sequencing`.
    @Sendable private static func client() throws -> Client {
        let sandbox = try EndpointURL("http://127.0.0.1:8089", security: .allowingInsecureLoopback)
        let redirect = try RedirectURI("com.example.app:/callback")
        return Client(service: .sequencing.at(sandbox), id: "my-genome-app", redirect: .uri(redirect))
    }

    /// Asks for the copy of a file, with the secret in the scheme's environment; nil without one.
    ///
    /// It is for the Simulator and the sandbox. A user of an app can read a secret in it: an app of your own sends the request to its
    /// server, which has the secret and delivers the link.
    private static var copy: (@Sendable (ConnectRequest) async throws -> ConnectDelivery.Outcome)? {
        guard let secret = ProcessInfo.processInfo.environment["SEQUENCING_CLIENT_SECRET"] else { return nil }
        return { request in
            let codec = try LegacyConnectCodec(secret: Secret(secret))
            let link = try codec.link(request, at: Sequencing.Hosts(of: try client().service))
            return try await ConnectDelivery().deliver(link)
        }
    }

    @MainActor private static var window: UIWindow {
        UIApplication.shared.connectedScenes.lazy.compactMap { ($0 as? UIWindowScene)?.keyWindow }.first ?? UIWindow()
    }
}
