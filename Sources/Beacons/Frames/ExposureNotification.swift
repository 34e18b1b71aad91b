/// An Exposure Notification frame (dossier 8.2). It is recognised so that it can be skipped.
public struct ExposureNotification: Sendable, Hashable {
    /// The rolling proximity identifier.
    public let identifier: RollingToken
    /// The encrypted metadata, first byte most significant.
    public let metadata: UInt32

    /// Bytes after the service UUID.
    static let length = 20

    /// Reads ``length`` bytes.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        identifier = RollingToken(bytes, at: offset)
        metadata = bytes.bigEndian(at: offset + 16)
    }
}
