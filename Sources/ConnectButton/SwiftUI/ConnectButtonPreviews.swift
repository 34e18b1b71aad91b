#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// Previews (F058): a button without known services, and the states of one with them.
struct ConnectButtonPreviews: PreviewProvider {
    private static let location = ConnectButtonService(
        name: "Location", shortName: "Location", icon: nil, brand: ConnectButtonPalette.fallback, url: nil)
    private static let connection = ConnectButtonConnection(
        id: "aB3dE5fG", url: nil, primary: location, connecting: location)

    static var previews: some View {
        VStack(spacing: 24) {
            ConnectButtonView(ConnectButtonState(.connect)) { _ in }
            ConnectButtonView(ConnectButtonState(.email, connection: connection), suggestedEmail: "ada@example.com") {
                _ in
            }
            ConnectButtonView(ConnectButtonState(.goingToService, connection: connection)) { _ in }
            ConnectButtonView(ConnectButtonState(.connected, connection: connection)) { _ in }
            ConnectButtonView(ConnectButtonState(.confirmDisconnect, connection: connection)) { _ in }
        }
    }
}
#endif
