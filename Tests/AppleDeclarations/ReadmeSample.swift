import Handshake
import OAuth
import SwiftUI
import UIKit

struct Profile: Decodable {
    let name: String
}

struct SignInView: View {
    let handshake: Handshake
    @State private var greeting = "Not signed in"

    var body: some View {
        Text(greeting)
            .task { await greet { try await handshake.account() } }
        Button("Sign in") {
            Task { await greet { try await handshake.signIn(through: WebAuthenticationBrowser { Self.window }) } }
        }
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

    private static var window: UIWindow {
        UIApplication.shared.connectedScenes.lazy.compactMap { ($0 as? UIWindowScene)?.keyWindow }.first ?? UIWindow()
    }
}
