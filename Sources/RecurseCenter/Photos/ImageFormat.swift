/// The format of an image, read from its bytes (dossier 4.4 and D6). File names and media types may lie.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg, png, gif
    case webP = "webp"

    /// Recognises the first bytes; nil for other formats.
    public init?(_ bytes: [UInt8]) {
        func begins(_ signature: [UInt8], at offset: Int = 0) -> Bool {
            bytes.count >= offset + signature.count
                && bytes[offset..<(offset + signature.count)].elementsEqual(signature)
        }
        if begins([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if begins(Array("GIF87a".utf8)) || begins(Array("GIF89a".utf8)) {
            self = .gif
        } else if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) {
            self = .webP
        } else {
            return nil
        }
    }

    /// The media type (RFC 6838).
    public var mediaType: String { "image/\(rawValue)" }
}
