import Crypto

/// Photos of members, by the first byte of a digest of their numbers.
///
/// Everyone fetches whole packs, so that the server does not learn whose photo is wanted (circles dossier 4).
public struct PhotoPack: Sendable, Hashable {
    /// The photos by number: JPEG of at most ``maximumPhotoSize`` bytes.
    public let photos: [UInt32: [UInt8]]

    /// The maximum size of a photo in bytes.
    public static let maximumPhotoSize = 4_096

    public init(_ photos: [UInt32: [UInt8]]) {
        self.photos = photos
    }

    /// The pack of a member.
    public static func index(of number: UInt32) -> UInt8 {
        SHA256.hash(data: ("SH2 photo pack\0" as StaticString).label + number.bytes).first(where: { _ in true }) ?? 0
    }

    /// The pack as sent, in the order of the numbers.
    public var bytes: [UInt8] {
        photos.sorted { $0.key < $1.key }.flatMap { number, photo in
            number.bytes + UInt16(truncatingIfNeeded: photo.count).bytes + photo
        }
    }

    /// Parses a pack.
    ///
    /// - Throws: ``CircleError/malformed(_:)`` for another form.
    public init(_ bytes: [UInt8]) throws(CircleError) {
        var reader = ByteReader(bytes)
        var photos: [UInt32: [UInt8]] = [:]
        while reader.rest > 0 {
            guard let number = reader.number(UInt32.self), let length = reader.number(UInt16.self),
                length <= Self.maximumPhotoSize, let photo = reader.bytes(Int(length)),
                photos.updateValue(photo, forKey: number) == nil
            else { throw .malformed(.photos) }
        }
        self.init(photos)
    }
}
