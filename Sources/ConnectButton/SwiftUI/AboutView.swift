#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The About page (IFTTT dossier 4.9).
struct AboutView: View {
    let state: ConnectButtonState
    let about: ConnectButtonFace.About?
    let unit: Double
    let send: @MainActor (ConnectButtonEvent) -> Void
    let close: @MainActor () -> Void

    @Environment(\.openURL) private var openURL

    private let type = ConnectButtonType.standard
    private let colors = ConnectButtonColors.standard
    private static let icons = ["square.on.square", "switch.2", "lock", "powerplug"]

    var body: some View {
        ScrollView {
            if let about, let connection = state.connection {
                VStack(alignment: .leading, spacing: 24 * unit) {
                    PressedButton(action: close) { Image(systemName: "xmark").font(.system(size: 25 * unit)) }
                        .accessibilityLabel(Text(verbatim: about.close))
                        .frame(maxWidth: .infinity, alignment: .trailing)
                    HStack(spacing: 24 * unit) {
                        icon(connection.primary, .primary)
                        Image(systemName: "arrow.forward").accessibilityHidden(true)
                        icon(connection.connecting, .connecting)
                    }
                    PressedButton {
                        open(connection.url, .title)
                    } label: {
                        RunsText(runs: about.title).font(
                            .custom("AvenirNext-DemiBold", fixedSize: type.aboutTitle * unit))
                    }
                    ForEach(Array(zip(Self.icons, about.benefits)), id: \.0) { icon, benefit in
                        HStack(spacing: 24 * unit) {
                            Image(systemName: icon).foregroundStyle(Color(colors.aboutSecondary.dark))
                                .accessibilityHidden(true)
                            Text(verbatim: benefit)
                        }
                    }
                    links(about)
                }
                .font(.custom("AvenirNext-DemiBold", fixedSize: type.aboutRow * unit))
                .padding(.horizontal, 30 * unit)
                .padding(.vertical, 20 * unit)
            }
        }
        .foregroundStyle(Color(colors.aboutInk.dark))
        .background(Color(colors.about.dark))
    }

    @ViewBuilder private func links(_ about: ConnectButtonFace.About) -> some View {
        if let manage = state.manageURL, ConnectButtonLook(state.step).isOn {
            pillow(about.manage, manage, .manage)
        }
        if let store = state.storeURL { pillow(about.store, store, nil) }
        PressedButton {
            open(state.termsURL, .legal)
        } label: {
            RunsText(runs: about.legal)
        }
        .foregroundStyle(Color(colors.aboutSecondary.dark))
    }

    private func pillow(
        _ title: String, _ url: URL, _ item: ConnectButtonEvent.AboutItem?
    ) -> some View {
        PressedButton {
            open(url, item)
        } label: {
            Text(verbatim: title).font(.custom("AvenirNext-Bold", fixedSize: type.aboutManage * unit))
                .frame(maxWidth: .infinity)
                .padding(16 * unit)
        }
        .background(Color(colors.aboutManage.dark), in: Capsule())
    }

    private func icon(
        _ service: ConnectButtonService, _ item: ConnectButtonEvent.AboutItem
    ) -> some View {
        PressedButton {
            open(service.url, item)
        } label: {
            ServiceIcon(service: service).frame(width: 44 * unit, height: 44 * unit)
        }
        .accessibilityLabel(Text(verbatim: service.name))
    }

    private func open(_ url: URL?, _ item: ConnectButtonEvent.AboutItem?) {
        guard let url else { return }
        // IFTTT does not count the store badge (7).
        if let item { send(.aboutTapped(item)) }
        openURL(url)
    }
}
#endif
