// What the adapters use of Apple's AuthenticationServices, declared as Apple declares it and without any behaviour.
// Isolation and sendability are part of the declaration: a check against anything else would prove nothing.
public import Foundation

#if os(macOS)
public import AppKit

public typealias ASPresentationAnchor = NSWindow
#else
public import UIKit

public typealias ASPresentationAnchor = UIWindow
#endif

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Int, Sendable {
        case canceledLogin = 1
        case presentationContextNotProvided = 2
        case presentationContextInvalid = 3
    }
    public let code: Code
}

open class ASWebAuthenticationSession: NSObject {
    public final class Callback: NSObject {
        public class func customScheme(_ customScheme: String) -> Callback { Callback() }
        public class func https(host: String, path: String) -> Callback { Callback() }
    }
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    public init(url URL: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}
    open weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    open var prefersEphemeralWebBrowserSession: Bool = false
    @discardableResult open func start() -> Bool { false }
    open func cancel() {}
}
