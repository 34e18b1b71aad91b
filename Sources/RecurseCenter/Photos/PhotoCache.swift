public import Handshake
import OAuth

/// A cache of photos on disk, one for each person.
///
/// A photo is stored only when it was received completely and its bytes are an image (D6). It is fresh for `lifetime`, then
/// revalidated (RFC 9110, section 13.1); while the service is unreachable the stale photo is returned. A new URL in the
/// profile is a new photo. Only the owner can read the files.
public final class PhotoCache: Sendable {
    /// A photo on disk.
    public struct CachedPhoto: Sendable, Hashable {
        /// The file; its extension matches the image's format.
        public let path: String
        public let format: ImageFormat
        /// Whether the photo is older than the cache's lifetime. It is returned because the service could not be
        /// reached.
        public let isStale: Bool
    }

    /// How long a photo is fresh.
    public let lifetime: Duration

    private let store: PhotoStore
    private let time: TimeSource
    private let limits: TransferLimits
    private let operations = SharedOperations<PersonID, CachedPhoto?>()

    /// Opens a cache.
    ///
    /// - Parameters:
    ///   - folder: where photos are stored; created when missing.
    ///   - lifetime: how long a photo is fresh; a week.
    ///   - limits: the maximum length and duration of a download.
    ///   - time: the current time.
    /// - Throws: ``RecurseCenterError/disk(path:reason:)``.
    public init(
        folder: String, lifetime: Duration = .seconds(7 * 86_400), limits: TransferLimits = RecurseCenter.photoLimits,
        time: TimeSource = .system
    ) throws(RecurseCenterError) {
        store = PhotoStore(folder: try CacheFolder(folder, failure: RecurseCenterError.disk))
        self.lifetime = lifetime
        self.limits = limits
        self.time = time
    }

    /// A person's photo; nil when there is none, which also removes the cached one. Concurrent callers share one request.
    ///
    /// - Throws: what ``RecurseCenter/photo(of:limits:)`` throws, and ``RecurseCenterError/disk(path:reason:)`` when it could
    ///   not be written, which keeps the previous photo.
    public func photo(of profile: Profile, from center: RecurseCenter) async throws -> CachedPhoto? {
        guard let url = try center.photoURL(of: profile) else {
            try store.remove(profile.id)
            return nil
        }
        if let record = store.record(profile.id), isFresh(record, at: url) { return cached(record) }
        return try await operations.join(profile.id) { try await self.fetch(url, of: profile.id, from: center) }
    }

    /// The cached photo, fresh or stale, without a request.
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
                return cached(try store.revalidate(record, of: id, at: time.now()))
            case .placeholder:
                try store.remove(id)
                return nil
            }
        } catch let failure as RecurseCenterError where failure.isRetryable {
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
