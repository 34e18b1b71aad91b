// What the adapters use of Apple's UIKit, declared as Apple declares it and without any behaviour.
// Isolation and sendability are part of the declaration: a check against anything else would prove nothing.
public import Foundation

@MainActor open class UIResponder: NSObject {}

@MainActor open class UIWindow: UIResponder {}

@MainActor open class UIScene: UIResponder {}

@MainActor open class UIWindowScene: UIScene {
    open var keyWindow: UIWindow? { nil }
}

@MainActor open class UIApplication: UIResponder {
    public struct OpenExternalURLOptionsKey: Hashable, Sendable {}
    open class var shared: UIApplication { UIApplication() }
    public class nonisolated var openSettingsURLString: String { "app-settings:" }
    open var connectedScenes: Set<UIScene> { [] }
    open func canOpenURL(_ url: URL) -> Bool { false }
    @discardableResult
    open func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool { false }
    public class nonisolated var didEnterBackgroundNotification: NSNotification.Name {
        NSNotification.Name("UIApplicationDidEnterBackgroundNotification")
    }
}

public struct UITextContentType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let emailAddress = UITextContentType(rawValue: "email")
}

public enum UIKeyboardType: Int, Sendable {
    case `default` = 0
    case emailAddress = 7
}
