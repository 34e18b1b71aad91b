// What the film behind the file selector uses of Apple's QuartzCore, declared as Apple declares it and without any behaviour.
public import Foundation

@MainActor open class CALayer: NSObject {}

/// Core Graphics', which every framework here imports.
public final class CGImage: @unchecked Sendable {}
