import Crypto
import Handshake
import OAuth

/// Photos in a folder: the image `759-0123456789abcdef.png` and its description `759.json`.
///
/// The image is written before its description and removed after it: a description never refers to an incomplete image.
struct PhotoStore: Sendable {
    /// The description of an image.
    struct Record: Sendable {
        let file: String
        let format: ImageFormat
        let length: Int
        /// The photo's URL in the profile.
        let url: String
        var fetchedAt: Double
        let validators: Photo.Validators
    }

    private let folder: CacheFolder<RecurseCenterError>

    private static let longestNote = 64 << 10

    init(folder: CacheFolder<RecurseCenterError>) {
        self.folder = folder
    }

    /// The description of a person's photo; nil when there is none, or the image does not match it.
    func record(_ id: PersonID) -> Record? {
        guard let bytes = folder.contents(Self.note(id), limit: Self.longestNote),
            let record = Self.record(bytes, of: id), let picture = folder.contents(record.file, limit: record.length),
            picture.count == record.length, ImageFormat(picture) == record.format
        else { return nil }
        return record
    }

    func path(of record: Record) -> String {
        folder.file(record.file)
    }

    /// Stores a photo, and removes the previous one.
    func write(
        _ photo: Photo, of id: PersonID, from url: EndpointURL, at now: Double
    ) throws(RecurseCenterError) -> Record {
        let file = Self.file(id, photo)
        let record = Record(
            file: file, format: photo.format, length: photo.bytes.count, url: url.string, fetchedAt: now,
            validators: photo.validators)
        try folder.write(photo.bytes, to: file)
        try folder.write(Self.note(record), to: Self.note(id))
        try removePictures(of: id, but: file)
        return record
    }

    /// Stores that the photo was revalidated.
    func revalidate(_ record: Record, of id: PersonID, at now: Double) throws(RecurseCenterError) -> Record {
        var record = record
        record.fetchedAt = now
        try folder.write(Self.note(record), to: Self.note(id))
        return record
    }

    func remove(_ id: PersonID) throws(RecurseCenterError) {
        try folder.remove(Self.note(id))
        try removePictures(of: id, but: nil)
    }

    private func removePictures(of id: PersonID, but kept: String?) throws(RecurseCenterError) {
        for name in try folder.names() where name.hasPrefix("\(id)-") && name != kept { try folder.remove(name) }
    }

    private static func note(_ id: PersonID) -> String { "\(id).json" }

    private static func file(_ id: PersonID, _ photo: Photo) -> String {
        let digest = Hexadecimal.text(of: SHA256.hash(data: photo.bytes).prefix(8))
        return "\(id)-\(digest).\(photo.format.fileExtension)"
    }

    private static func note(_ record: Record) -> [UInt8] {
        var members: JSONObject = [
            "version": .number("1"), "file": .string(record.file), "format": .string(record.format.rawValue),
            "length": .number("\(record.length)"), "url": .string(record.url),
            "fetched_at": .number("\(record.fetchedAt)"),
        ]
        members["entity_tag"] = record.validators.entityTag.map { .string($0) }
        members["last_modified"] = record.validators.lastModified.map { .string($0) }
        return Array(JSONValue.object(members).json.utf8)
    }

    private static func record(_ note: [UInt8], of id: PersonID) -> Record? {
        guard let members = (try? JSONValue(parsing: note))?.object, members["version"]?.integer == 1,
            let file = members["file"]?.string, file.hasPrefix("\(id)-"), !file.contains("/"),
            let format = members["format"]?.string.flatMap({ ImageFormat(rawValue: $0) }),
            let length = members["length"]?.integer, (1...(64 << 20)).contains(length),
            let url = members["url"]?.string, case .number(let spelling)? = members["fetched_at"],
            let fetchedAt = Double(spelling), fetchedAt.isFinite
        else { return nil }
        return Record(
            file: file, format: format, length: Int(length), url: url, fetchedAt: fetchedAt,
            validators: Photo.Validators(
                entityTag: members["entity_tag"]?.string, lastModified: members["last_modified"]?.string))
    }
}
