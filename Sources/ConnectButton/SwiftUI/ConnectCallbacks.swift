#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
public import SwiftUI

private struct ConnectCallbackKey: EnvironmentKey {
    static let defaultValue: ConnectCallback? = nil
}

extension EnvironmentValues {
    var connectCallback: ConnectCallback? {
        get { self[ConnectCallbackKey.self] }
        set { self[ConnectCallbackKey.self] = newValue }
    }
}

private struct ConnectReturnsKey: EnvironmentKey {
    static let defaultValue = 0
}

extension EnvironmentValues {
    /// How often an app of UIKit has become active: views there have no scene phase.
    var connectReturns: Int {
        get { self[ConnectReturnsKey.self] }
        set { self[ConnectReturnsKey.self] = newValue }
    }
}

private struct ConnectCallbacks: ViewModifier {
    @State private var callback: ConnectCallback?

    func body(content: Content) -> some View {
        content
            .environment(\.connectCallback, callback)
            .onOpenURL { url in callback = ConnectCallback(url, number: (callback?.number ?? 0) + 1) }
    }
}

extension View {
    /// Hands the URLs that the app is opened with to the Connect Buttons inside.
    ///
    /// Buttons that appear later get them too. Put it around the app's root view: the IFTTT app and links in mails return to the app with such a URL. A button ignores
    /// what is not its own, and the app's own `onOpenURL` is called as well.
    public func connectCallbacks() -> some View {
        modifier(ConnectCallbacks())
    }
}
#endif
