import Foundation
import HTTPTypes
import Handshake
import OAuth
import SwiftUI
import UIKit

/// The code of the README and of the articles for Apple's platforms, compiled; `CodeTests` compares.
enum SignInSample {
    static func readme() async throws -> Handshake {
        let redirect = try RedirectURI("com.example.app:/callback")
        let client = Client(service: .recurseCenter, id: "your-client-id", redirect: .uri(redirect))
        let handshake = try Handshake(client, vault: await KeychainVault.open())
        return handshake
    }

    @MainActor static func comingFromAppAuth(_ client: Client, _ vault: any Vault, window: UIWindow) async throws {
        let handshake = try Handshake(client, vault: vault)
        let account = try await handshake.signIn(through: WebAuthenticationBrowser { window })
        let response = try await account.send(.get, "profiles/me")
        _ = response
    }

    static func redirects() throws -> Client {
        let redirect = try RedirectURI("com.example.app:/callback")
        let client = Client(service: .recurseCenter, id: "your-client-id", redirect: .uri(redirect))
        return client
    }

    static func claimed() throws -> RedirectURI {
        let redirect = try RedirectURI("https://app.example.com/callback")
        return redirect
    }

    @MainActor static func browser(_ handshake: Handshake, window: UIWindow) async throws -> Account {
        let browser = WebAuthenticationBrowser { window }
        let account = try await handshake.signIn(through: browser)
        return account
    }

    static func killed(_ handshake: Handshake, url: URL) async throws -> Account {
        let attempt = try await handshake.beginSignIn()
        // Open attempt.page.url. Then, in onOpenURL, perhaps in a new process:
        let account = try await handshake.finishSignIn(redirectURL: url.absoluteString)
        _ = attempt
        return account
    }

    static func extensions() async throws -> any Vault {
        let vault = try await KeychainVault.open(
            appGroup: "group.com.example.app", accessGroup: "TEAMID.com.example.shared")
        return vault
    }

    static func background(_ handshake: Handshake) async {
        await handshake.finishRefreshes()
    }
}
