import ConnectButton
import Foundation
import Handshake
import IFTTTConnect
import OAuth
import SwiftUI
import UIKit

/// The documentation's app, compiled; `CodeTests` and ConnectButtonTests compare.
struct User {
    let id: String
    let email: String
}

func garden() async throws -> Handshake {
    let redirect = try RedirectURI("com.example.garden:/connect")
    let client = Client(service: .ifttt, id: "lumen_garden", redirect: .uri(redirect))
    let handshake = try Handshake(client, vault: await KeychainVault.open())
    return handshake
}

struct BalconyScreen: View {
    let handshake: Handshake
    let user: User
    let server = GardenServer()

    @State private var isOn = false

    var body: some View {
        ConnectButton("aB3dE5fG", accounts: handshake) { [server, user] in try await server.userToken(of: user.id) }
            .connectAccount(user.id)
            .connectEmail(user.email)
            .connectStyle(.dark)
            .onConnect { connection in isOn = connection.status == .enabled }
            .onDisconnect { _ in isOn = false }
            .onSetUp { connection, saved in setUp(connection, saved) }
            .onFailure { problem in print(problem.kind, problem.detail ?? "") }
    }
}

@MainActor func setUp(_ connection: Connection, _ saved: @escaping @MainActor () -> Void) { saved() }

struct GardenRoot: View {
    let handshake: Handshake
    let user: User

    var body: some View {
        BalconyScreen(handshake: handshake, user: user)
            .connectCallbacks()
    }
}

/// A button with its own look.
struct PlainButton: View {
    let model: ConnectButtonModel

    @State private var email = ""
    @Environment(\.openURL) private var openURL

    var body: some View {
        let face = ConnectButtonFace(model.state, in: model.locale)
        VStack {
            switch model.state.step {
            case .connect, .disconnected: Button(face.label) { model.send(.turnOn) }
            case .connected: Button(face.label) { model.send(.turnOff) }
            case .pending:
                Button(face.label) {
                    if let page = model.setUpPage { openURL(page) } else { model.send(.setUp) }
                }
            case .email: TextField(face.emailField, text: $email).onSubmit { model.send(.email(email)) }
            default: Text(face.label)
            }
            Text(face.footer.map(\.text).joined())
            ForEach(face.choices + face.actions, id: \.kind) { action in
                if let event = action.kind.event { Button(action.title) { model.send(event) } }
            }
        }
        .task {
            email = model.email
            await model.run()
        }
        .onOpenURL { url in model.open(url) }
    }
}

@MainActor func plainModel(_ handshake: Handshake) throws -> ConnectButtonModel {
    let model = try ConnectButtonModel("aB3dE5fG", accounts: handshake, environment: .system(tokens: .redirect))
    model.onConnect = { connection in print("\(connection.name) is on") }
    return model
}

@MainActor func logOut(_ user: User, of handshake: Handshake) async throws {
    let environment = ConnectEnvironment.system(tokens: .redirect)
    let model = try ConnectButtonModel("aB3dE5fG", accounts: handshake, as: user.id, environment: environment)
    try await model.signOut()
}

final class BalconyView: UIView {
    convenience init(handshake: Handshake, user: User) {
        self.init(frame: .zero)
        let server = GardenServer()
        let button = ConnectButtonView(
            "aB3dE5fG", accounts: handshake, tokens: .partnerServer { try await server.userToken(of: user.id) })
        button.account = user.id
        button.email = user.email
        button.onConnect = { connection in print(connection.name) }
        button.onSetUp = setUp
        addSubview(button)
    }
}

@MainActor func drawn(_ activation: ConnectActivation, _ controller: ConnectController) -> some View {
    ConnectButtonContent(ConnectButtonState(activation)) { event in
        let now = Date().timeIntervalSince1970
        if let event = event.activationEvent(for: activation, at: now, attempt: { AttemptState() }) {
            controller.send(event)
        }
        if let event = event.analyticsEvent(for: activation) { controller.report(event) }
    }
}

@MainActor func activationEnvironment(window: UIWindow) -> ConnectEnvironment {
    let environment = ConnectEnvironment(
        pages: WebAuthenticationBrowser { window }, apps: SystemApps(), tokens: .redirect)
    return environment
}

struct GardenServer: Sendable {
    func userToken(of user: String) async throws -> UserToken? { nil }
}

/// The button of an app without a server.
struct UnservedScreen: View {
    let handshake: Handshake
    let user: User

    var body: some View {
        ConnectButton("aB3dE5fG", accounts: handshake)
            .connectAccount(user.id)
    }
}

/// The shortest button.
struct ShortScreen: View {
    let handshake: Handshake
    let user: User
    let server: GardenServer

    @State private var isOn = false

    var body: some View {
        ConnectButton("aB3dE5fG", accounts: handshake) { [server, user] in try await server.userToken(of: user.id) }
            .connectEmail(user.email)
            .onConnect { connection in isOn = connection.status == .enabled }
    }
}
