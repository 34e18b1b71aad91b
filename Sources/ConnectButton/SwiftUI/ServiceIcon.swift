#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// A service's icon, or its first letter until the icon is loaded. A failed download is retried twice
/// (W30).
struct ServiceIcon: View {
    let service: ConnectButtonService?

    @State private var attempt = 0
    private static let pauses: [Duration] = [.seconds(2), .seconds(8)]

    var body: some View {
        AsyncImage(url: service?.icon) { phase in
            switch phase {
            // Drawn as delivered (dossier 1.4).
            case .success(let image): image.resizable().scaledToFit()
            case .failure: letter.task { await tryAgain() }
            default: letter
            }
        }
        // A new identity starts a new request.
        .id(attempt)
        .onChange(of: service?.icon) { attempt = 0 }
    }

    private var letter: some View { Text(verbatim: String(service?.shortName.prefix(1) ?? "")) }

    private func tryAgain() async {
        guard attempt < Self.pauses.count, (try? await Task.sleep(for: Self.pauses[attempt])) != nil else { return }
        attempt += 1
    }

    /// Loads an icon into the system's cache in advance (F059).
    static func prefetch(_ service: ConnectButtonService?) async {
        guard let icon = service?.icon else { return }
        _ = try? await URLSession.shared.data(from: icon)
    }
}
#endif
