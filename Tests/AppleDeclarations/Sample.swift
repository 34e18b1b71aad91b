import ConnectButton
import Handshake
import IFTTTConnect
import SwiftUI

/// The documentation's app, compiled; `CodeTests` compares.
struct BalconyButton: View {
    let controller: ConnectController
    @State private var activation: ConnectActivation

    init(handshake: Handshake, window: UIWindow) throws {
        let configuration = ConnectActivation.Configuration(
            try ConnectionID("aB3dE5fG"), callback: try CallbackURL("gardenapp://connect_callback"),
            suggestedEmail: "ada@example.com", locale: ConnectButtonLocale.user.tag)
        controller = ConnectController(
            ConnectActivation(configuration), tokens: UserTokens(in: handshake),
            environment: ConnectEnvironment(pages: WebAuthenticationBrowser { window }, apps: SystemApps()))
        activation = controller.activation
    }

    var body: some View {
        ConnectButtonView(ConnectButtonState(activation)) { event in
            let now = Date().timeIntervalSince1970
            if let event = event.activationEvent(for: activation, at: now, attempt: { AttemptState() }) {
                controller.send(event)
            }
            if let event = event.analyticsEvent(for: activation) { controller.report(event) }
        }
        .onOpenURL { url in controller.open(url.absoluteString) }
        .task {
            let updates = controller.updates()
            async let running: Void = controller.run()
            controller.send(.appeared)
            for await case .activation(let now) in updates { activation = now }
            await running
        }
    }
}

@MainActor func activationEnvironment(window: UIWindow) -> ConnectEnvironment {
    let environment = ConnectEnvironment(pages: WebAuthenticationBrowser { window }, apps: SystemApps())
    return environment
}
