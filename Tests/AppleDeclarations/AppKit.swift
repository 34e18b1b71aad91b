// What the adapters use of Apple's AppKit, declared as Apple declares it and without any behaviour.
public import Foundation
public import QuartzCore

@MainActor open class NSResponder: NSObject {}

@MainActor open class NSView: NSResponder {
    open var layer: CALayer? {
        get { nil }
        set {}
    }
    open var wantsLayer: Bool {
        get { false }
        set {}
    }
}

@MainActor open class NSWindow: NSResponder {}

@MainActor open class NSApplication: NSResponder {
    open class var shared: NSApplication { NSApplication() }
    open var keyWindow: NSWindow? { nil }
    open var windows: [NSWindow] { [] }
}
