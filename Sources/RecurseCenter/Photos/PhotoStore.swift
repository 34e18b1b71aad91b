import Handshake
import OAuth

/// Photos in a vault, one record for each person: the length of a description, the description, the image.
struct PhotoStore: Sendable {
    /// A photo and its description.
    struct Record: Sendable {
        let photo: Photo
        /// The photo's URL in the profile.
        let url: String
        var fetchedAt: Double
    }

    let vault: any Vault
    let community: String
    let account: String

    /// The maximum size of an image in bytes: a vault's record takes a MiB, with the description.
    static let maximumImageSize = (1 << 20) - maximumNoteSize
    private static let maximumNoteSize = 16 << 10

    /// A person's photo; nil when there is none, or its record cannot be read.
    func record(_ id: PersonID) async -> Record? {
        guard let bytes = try? await vault.record(key(id)), let dated = DatedRecord(bytes) else { return nil }
        return Self.record(dated)
    }

    /// Stores a photo in place of the previous one.
    func write(_ record: Record, of id: PersonID) async throws {
        let note = Self.note(record)
        guard note.count <= Self.maximumNoteSize else {
            throw RecurseCenterError.photo(.address("it is longer than \(Self.maximumNoteSize) bytes"))
        }
        let length = (0..<4).map { UInt8(truncatingIfNeeded: note.count >> (24 - 8 * $0)) }
        let dated = DatedRecord(storedAt: record.fetchedAt, content: length + note + record.photo.bytes)
        try await vault.replace(key(id), with: dated.bytes)
    }

    /// - Returns: whether there was one.
    @discardableResult
    func remove(_ id: PersonID) async throws -> Bool {
        try await vault.remove(key(id))
    }

    private func key(_ id: PersonID) -> VaultKey {
        VaultKey(.photo, [community, account, id.description])
    }

    private static func note(_ record: Record) -> [UInt8] {
        var members: JSONObject = ["url": .string(record.url)]
        members["entity_tag"] = record.photo.validators.entityTag.map { .string($0) }
        members["last_modified"] = record.photo.validators.lastModified.map { .string($0) }
        return Array(JSONValue.object(members).json.utf8)
    }

    private static func record(_ dated: DatedRecord) -> Record? {
        let content = dated.content
        guard content.count >= 4 else { return nil }
        let length = content.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= min(maximumNoteSize, content.count - 4),
            let members = (try? JSONValue(parsing: Array(content[4..<(4 + length)])))?.object,
            let url = members["url"]?.string
        else { return nil }
        let image = Array(content.dropFirst(4 + length))
        guard let format = ImageFormat(image) else { return nil }
        let validators = Photo.Validators(
            entityTag: members["entity_tag"]?.string, lastModified: members["last_modified"]?.string)
        return Record(
            photo: Photo(bytes: image, format: format, validators: validators), url: url, fetchedAt: dated.storedAt)
    }
}
