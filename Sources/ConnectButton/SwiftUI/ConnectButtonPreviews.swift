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
            ConnectButtonContent(ConnectButtonState(.connect)) { _ in }
            ConnectButtonContent(ConnectButtonState(.email, connection: connection), suggestedEmail: "ada@example.com")
            {
                _ in
            }
            ConnectButtonContent(ConnectButtonState(.goingToService, connection: connection)) { _ in }
            ConnectButtonContent(ConnectButtonState(.connected, connection: connection)) { _ in }
            ConnectButtonContent(ConnectButtonState(.confirmDisconnect, connection: connection)) { _ in }
        }
    }
}
#endif
