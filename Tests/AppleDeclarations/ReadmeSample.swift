import Handshake
import OAuth
import SwiftUI
import UIKit

@main
struct ExampleApp: App {
    var body: some Scene {
        WindowGroup { SignInView() }
    }
}

struct Profile: Decodable {
    let name: String
}

struct SignInView: View {
    @State private var handshake: Handshake?
    @State private var greeting = "Not signed in"

    var body: some View {
        Text(greeting).task {
            await greet {
                handshake = try await Self.open()
                return try await handshake?.account()
            }
        }
        Button("Sign in") {
            Task { await greet { try await handshake?.signIn(through: WebAuthenticationBrowser { Self.window }) } }
        }
        .disabled(handshake == nil)
    }

    private func greet(_ find: @MainActor () async throws -> Account?) async {
        do {
            guard let account = try await find() else { return }
            let profile: Profile = try await account.send(.get, "profiles/me")
            greeting = "Hello, \(profile.name)"
        } catch HandshakeError.signInAbandoned {
            greeting = "Not signed in"
        } catch {
            greeting = "\(error)"
        }
    }

    private static func open() async throws -> Handshake {
        let redirect = try RedirectURI("com.example.app:/callback")
        let client = Client(service: .recurseCenter, id: "your-client-id", redirect: .uri(redirect))
        return try Handshake(client, vault: await KeychainVault.open())
    }

    private static var window: UIWindow {
        UIApplication.shared.connectedScenes.lazy.compactMap { ($0 as? UIWindowScene)?.keyWindow }.first ?? UIWindow()
    }
}
