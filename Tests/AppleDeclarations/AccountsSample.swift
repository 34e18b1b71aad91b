import ConnectedAccountsUI
import HTTPTypes
import Handshake
import SwiftUI
import UIKit

/// The code of the documentation of ConnectedAccountsUI, compiled; `CodeTests` compares.
struct AccountsScreen: View {
    let model: ConnectedAccountsModel
    let window: UIWindow

    var body: some View {
        ConnectedAccounts(model, through: WebAuthenticationBrowser { window })
    }
}

/// The list of an app whose users log in to its server.
struct ServedAccountsScreen: View {
    let model: ConnectedAccountsModel
    let window: UIWindow
    let logIn: @MainActor () -> Void

    var body: some View {
        ConnectedAccounts(model, through: WebAuthenticationBrowser { window }, logIn: logIn)
    }
}

@MainActor func ownAccounts(_ handshake: Handshake) -> ConnectedAccountsModel {
    let model = ConnectedAccountsModel(handshake)
    return model
}

@MainActor func servedAccounts(session: String) throws -> ConnectedAccountsModel {
    let server = try AccountsServer(at: "https://app.example/connect", redirect: "com.example.app:/accounts") {
        [.authorization: "Bearer \(session)"]
    }
    let model = ConnectedAccountsModel(server)
    return model
}

func serverWithLogIn(session: String) throws -> AccountsServer {
    let server = try AccountsServer(
        at: "https://app.example/connect", redirect: "com.example.app:/accounts",
        page: { start in try await singleUseAddress(leadingTo: start) },
        fields: { [.authorization: "Bearer \(session)"] })
    return server
}

private func singleUseAddress(leadingTo start: String) async throws -> String { start }
