// What the adapters use of Apple's UIKit, declared as Apple declares it and without any behaviour.
// Isolation and sendability are part of the declaration: a check against anything else would prove nothing.
public import Foundation
public import QuartzCore

@MainActor open class UIResponder: NSObject {}
@MainActor open class UITouch: NSObject {
    public enum TouchType: Int, @unchecked Sendable { case direct, indirect, pencil, indirectPointer }
}
@MainActor open class UIGestureRecognizer: NSObject {
    public enum State: Int, @unchecked Sendable { case possible, began, changed, ended, cancelled, failed }
    public init(target: Any? = nil) {}
    open var state = State.possible
    open var view: UIView? { nil }
    open weak var delegate: (any UIGestureRecognizerDelegate)?
    open var allowedTouchTypes: [NSNumber] = []
}
/// The method is optional there; Linux knows no optional requirements.
@MainActor public protocol UIGestureRecognizerDelegate: NSObjectProtocol {
    func gestureRecognizerShouldBegin(_ gestureRecognizer: UIGestureRecognizer) -> Bool
}
@MainActor open class UIPanGestureRecognizer: UIGestureRecognizer {
    open var maximumNumberOfTouches = Int.max
    open func velocity(in view: UIView?) -> CGPoint { .zero }
}
@MainActor open class UITapGestureRecognizer: UIGestureRecognizer {
    open var numberOfTapsRequired = 1
}

@MainActor public struct NSLayoutXAxisAnchor {
    public func constraint(equalTo anchor: NSLayoutXAxisAnchor) -> NSLayoutConstraint { NSLayoutConstraint() }
}
@MainActor public struct NSLayoutYAxisAnchor {
    public func constraint(equalTo anchor: NSLayoutYAxisAnchor) -> NSLayoutConstraint { NSLayoutConstraint() }
}
@MainActor open class NSLayoutConstraint: NSObject {
    open class func activate(_ constraints: [NSLayoutConstraint]) {}
}

@MainActor open class UIView: UIResponder {
    open class var layerClass: AnyClass { CALayer.self }
    open var layer: CALayer { CALayer() }
    public init(frame: CGRect = .zero) {}
    public required init?(coder: NSCoder) {}
    open var translatesAutoresizingMaskIntoConstraints = true
    open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open func addSubview(_ view: UIView) {}
}

@MainActor open class UIViewController: UIResponder {
    public override init() {}
}

open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) {}
    public init(cgImage: CGImage) {}
}

@MainActor public protocol UIConfigurationState {}
public protocol UIContentConfiguration {
    @MainActor func makeContentView() -> any UIView & UIContentView
    func updated(for state: any UIConfigurationState) -> Self
}
@MainActor public protocol UIContentView: NSObjectProtocol {
    var configuration: any UIContentConfiguration { get set }
}

@MainActor open class UIWindow: UIView {
    public convenience init() { self.init(frame: .zero) }
}

@MainActor open class UIScene: UIResponder {
    public enum ActivationState: Int, Sendable {
        case unattached = -1
        case foregroundActive, foregroundInactive, background
    }
    open var activationState: ActivationState { .unattached }
}

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
    public class nonisolated var didBecomeActiveNotification: NSNotification.Name {
        NSNotification.Name("UIApplicationDidBecomeActiveNotification")
    }
    public class nonisolated var didEnterBackgroundNotification: NSNotification.Name {
        NSNotification.Name("UIApplicationDidEnterBackgroundNotification")
    }
}

public struct UITextContentType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let emailAddress = UITextContentType(rawValue: "email")
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static let URL = UITextContentType(rawValue: "url")
}

public enum UIKeyboardType: Int, Sendable {
    case `default` = 0
    case numbersAndPunctuation = 2
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case URL = 3
    case emailAddress = 7
}
