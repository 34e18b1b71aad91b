// What the film behind the file selector and a sample's scanner use of Apple's AVFoundation, declared as Apple declares it and without any behaviour.
public import Foundation
public import QuartzCore

public struct AVLayerVideoGravity: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let resizeAspectFill = AVLayerVideoGravity(rawValue: "AVLayerVideoGravityResizeAspectFill")
}

@MainActor open class AVPlayerItem: NSObject {
    public init(url: URL) {}
}

@MainActor open class AVPlayer: NSObject {
    public override init() {}
    open var isMuted: Bool {
        get { false }
        set {}
    }
    open var preventsDisplaySleepDuringVideoPlayback: Bool {
        get { true }
        set {}
    }
    open func play() {}
    open func pause() {}
}

@MainActor open class AVQueuePlayer: AVPlayer {}

@MainActor open class AVPlayerLooper: NSObject {
    public init(player: AVQueuePlayer, templateItem: AVPlayerItem) {}
}

@MainActor open class AVPlayerLayer: CALayer {
    open var player: AVPlayer? {
        get { nil }
        set {}
    }
    open var videoGravity: AVLayerVideoGravity {
        get { .resizeAspectFill }
        set {}
    }
}

public struct AVMediaType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let video = AVMediaType(rawValue: "vide")
}

open class AVCaptureDevice: NSObject {
    open class func requestAccess(for mediaType: AVMediaType) async -> Bool { false }
}
