// What the adapters use of Apple's AppKit, declared as Apple declares it and without any behaviour.
public import Foundation

@MainActor open class NSResponder: NSObject {}

@MainActor open class NSWindow: NSResponder {}
