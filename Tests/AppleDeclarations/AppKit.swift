// What the adapters use of Apple's AppKit, declared as Apple declares it and without any behaviour.
public import Foundation

@MainActor open class NSResponder: NSObject {}

@MainActor open class NSWindow: NSResponder {}

@MainActor open class NSApplication: NSResponder {
    open class var shared: NSApplication { NSApplication() }
    open var keyWindow: NSWindow? { nil }
    open var windows: [NSWindow] { [] }
}
