public import Handshake
import OAuth

/// Photos on disk by person, fetched when they are missing, asked about when they are old.
///
/// A photo is there when all of it has come, it is a picture by its bytes, and it was written; nothing else makes it so (D6).
/// It counts for `lifetime`; then the service is asked whether it has changed (RFC 9110, section 13.1), and while it
/// cannot be asked the old one is used. Another address in the profile is another photo. Only the owner can read the
/// files.
public final class PhotoCache: Sendable {
    /// A photo on disk.
    public struct CachedPhoto: Sendable, Hashable {
        /// The file, whose name ends in what the picture really is.
        public let path: String
        public let format: ImageFormat
        /// Whether it is older than the cache's lifetime, because the service could not be asked.
        public let isStale: Bool
    }

    /// How long a photo counts before the service is asked again.
    public let lifetime: Duration

    private let store: PhotoStore
    private let time: TimeSource
    private let limits: TransferLimits
    private let operations = SharedOperations<PersonID, CachedPhoto?>()

    /// Opens a cache.
    ///
    /// - Parameters:
    ///   - folder: where photos rest; made when it is missing.
    ///   - lifetime: how long a photo counts before the service is asked again; a week.
    ///   - limits: the longest photo that is read, and how long it may take.
    ///   - time: what time it is.
    /// - Throws: ``RecurseCenterError/disk(path:reason:)``.
    public init(
        folder: String, lifetime: Duration = .seconds(7 * 86_400), limits: TransferLimits = RecurseCenter.photoLimits,
        time: TimeSource = .system
    ) throws(RecurseCenterError) {
        store = PhotoStore(folder: try PrivateFolder(folder))
        self.lifetime = lifetime
        self.limits = limits
        self.time = time
    }

    /// A person's photo; nil when there is none, and then none is kept either. However many ask at once, it is fetched once.
    ///
    /// - Throws: what ``RecurseCenter/photo(of:limits:)`` throws, and ``RecurseCenterError/disk(path:reason:)`` when it could
    ///   not be written. Then the photo from before stays.
    public func photo(of profile: Profile, from center: RecurseCenter) async throws -> CachedPhoto? {
        guard let url = try center.photoURL(of: profile) else {
            try store.remove(profile.id)
            return nil
        }
        if let record = store.record(profile.id), isFresh(record, at: url) { return cached(record) }
        return try await operations.join(profile.id) { try await self.fetch(url, of: profile.id, from: center) }
    }

    /// The photo that is on disk, however old, without asking anyone.
    public func stored(_ id: PersonID) -> CachedPhoto? {
        store.record(id).map(cached)
    }

    /// Removes a person's photo.
    ///
    /// - Throws: ``RecurseCenterError/disk(path:reason:)``.
    public func forget(_ id: PersonID) throws(RecurseCenterError) {
        try store.remove(id)
    }

    private func fetch(_ url: EndpointURL, of id: PersonID, from center: RecurseCenter) async throws -> CachedPhoto? {
        let record = store.record(id).flatMap { $0.url == url.string ? $0 : nil }
        if let record, isFresh(record, at: url) { return cached(record) }
        do {
            switch try await center.download(
                url, limits: limits, validators: record?.validators ?? Photo.Validators())
            {
            case .photo(let photo):
                return cached(try store.write(photo, of: id, from: url, at: time.now()))
            case .unchanged:
                guard let record else { throw RecurseCenterError.service(status: 304, message: nil) }
                return cached(try store.renew(record, of: id, at: time.now()))
            case .placeholder:
                try store.remove(id)
                return nil
            }
        } catch let failure as RecurseCenterError where failure.isPassing {
            guard let record else { throw failure }
            return cached(record)
        }
    }

    private func isFresh(_ record: PhotoStore.Record, at url: EndpointURL) -> Bool {
        record.url == url.string && isFresh(record)
    }

    private func isFresh(_ record: PhotoStore.Record) -> Bool {
        (0..<lifetime / .seconds(1)).contains(time.now() - record.fetchedAt)
    }

    private func cached(_ record: PhotoStore.Record) -> CachedPhoto {
        CachedPhoto(path: store.path(of: record), format: record.format, isStale: !isFresh(record))
    }
}
