#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import Handshake
public import IFTTTConnect

#if canImport(UIKit)
import UIKit
#else
import AppKit
#endif

extension ConnectEnvironment {
    /// The environment of an app.
    ///
    /// It has the system's web session above the window in front and, on iOS, the IFTTT app and the installed mail programs.
    /// `Info.plist` has to list the apps that may be queried (`SystemApps`); otherwise IFTTT's pages are used.
    ///
    /// - Parameter tokens: how the user token is obtained. With a server of your own: `TokenDelivery/partnerServer(_:)`.
    public static func system(tokens: TokenDelivery) -> ConnectEnvironment {
        #if canImport(UIKit)
        ConnectEnvironment(
            pages: WebAuthenticationBrowser { frontWindow }, apps: SystemApps(), tokens: tokens)
        #else
        ConnectEnvironment(pages: WebAuthenticationBrowser { frontWindow }, tokens: tokens)
        #endif
    }

    #if canImport(UIKit)
    @MainActor private static var frontWindow: UIWindow {
        let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
        return scenes.first { $0.activationState == .foregroundActive }?.keyWindow ?? scenes.lazy.compactMap(
            \.keyWindow
        ).first
            ?? UIWindow()
    }
    #else
    @MainActor private static var frontWindow: NSWindow {
        NSApplication.shared.keyWindow ?? NSApplication.shared.windows.first ?? NSWindow()
    }
    #endif
}
#endif
