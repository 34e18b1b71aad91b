// What a sample uses of Apple's Core Image, declared as Apple declares it and without any behaviour.
public import Foundation
public import QuartzCore

open class CIImage: NSObject {
    open var extent: CGRect { .zero }
}

open class CIFilter: NSObject {
    public convenience init?(name: String) { self.init() }
    open var outputImage: CIImage? { nil }
    /// Of `NSObject`, which has it on Apple's platforms only.
    open func setValue(_ value: Any?, forKey key: String) {}
}

open class CIContext: NSObject {
    public override init() {}
    open func createCGImage(_ image: CIImage, from fromRect: CGRect) -> CGImage? { nil }
}
