#if canImport(UIKit) && !os(watchOS)
import Foundation
import UIKit

/// The other apps on iOS, iPadOS and visionOS.
///
/// ```swift
/// let environment = ConnectEnvironment(
///     pages: WebAuthenticationBrowser { window }, apps: SystemApps(), tokens: .redirect)
/// ```
///
/// The system reports only apps whose schemes are listed in the app's `Info.plist` under
/// `LSApplicationQueriesSchemes`: `ifttt-handoff-v1` for the IFTTT app, and `message`, `googlegmail`, `ms-outlook`, `ymail`,
/// `airmail` and `readdle-spark` for the mail programs (dossier 5). Without them, IFTTT's pages are used.
public struct SystemApps: InstalledApps {
    public init() {}

    /// Whether an app can open a URL. False also when `Info.plist` does not list its scheme.
    public func canOpen(_ address: String) async -> Bool {
        guard let url = URL(string: address) else { return false }
        return await MainActor.run { UIApplication.shared.canOpenURL(url) }
    }

    public func open(_ address: String) async -> Bool {
        guard let url = URL(string: address) else { return false }
        return await UIApplication.shared.open(url, options: [:])
    }

    public func backgroundEntries() -> AsyncStream<Void> {
        let (backgroundEntries, departure) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let listening = Task { @MainActor in
            let name = UIApplication.didEnterBackgroundNotification
            for await _ in NotificationCenter.default.notifications(named: name) { departure.yield() }
        }
        departure.onTermination = { _ in listening.cancel() }
        return backgroundEntries
    }
}
#endif
