public import Handshake
import OAuth

/// A cache of photos in a vault, one for each person.
///
/// A photo is stored only when it was received completely and its bytes are an image (`recurse-center.md` D6). It is fresh for `lifetime`, then
/// revalidated (RFC 9110, section 13.1); while the service is unreachable the stale photo is returned. A new URL in the
/// profile is a new photo. Photos are encrypted records: none is a file that another program could read.
public final class PhotoCache: Sendable {
    /// A photo of the cache.
    public struct CachedPhoto: Sendable, Hashable {
        /// The image.
        public let bytes: [UInt8]
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

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - vault: where photos are stored.
    ///   - community: the namespace of the identifiers, such as `recurse-center`.
    ///   - account: the account whose user sees these photos: each account has its own.
    ///   - lifetime: how long a photo is fresh; a week.
    ///   - limits: the maximum length and duration of a download. A vault's record takes 1,008 KiB.
    ///   - time: the current time.
    public init(
        in vault: any Vault, community: String, account: String, lifetime: Duration = .seconds(7 * 86_400),
        limits: TransferLimits = RecurseCenter.photoLimits, time: TimeSource = .system
    ) {
        store = PhotoStore(vault: vault, community: community, account: account)
        self.lifetime = lifetime
        var limits = limits
        limits.maximumContentLength = min(limits.maximumContentLength, PhotoStore.maximumImageSize)
        self.limits = limits
        self.time = time
    }

    /// A person's photo; nil when there is none, which also removes the cached one. Concurrent callers share one request.
    ///
    /// - Throws: what ``RecurseCenter/photo(of:limits:)`` throws, and ``RecurseCenterError/account(_:)`` when it could not be
    ///   written, which keeps the previous photo.
    public func photo(of profile: Profile, from center: RecurseCenter) async throws -> CachedPhoto? {
        guard let url = try center.photoURL(of: profile) else {
            try await forget(profile.id)
            return nil
        }
        if let record = await store.record(profile.id), isFresh(record, at: url) { return cached(record) }
        return try await operations.join(profile.id) { try await self.fetch(url, of: profile.id, from: center) }
    }

    /// The cached photo, fresh or stale, without a request.
    public func stored(_ id: PersonID) async -> CachedPhoto? {
        await store.record(id).map(cached)
    }

    /// Removes a person's photo.
    ///
    /// - Returns: whether there was one.
    /// - Throws: ``RecurseCenterError/account(_:)``.
    @discardableResult
    public func forget(_ id: PersonID) async throws -> Bool {
        try await RecurseCenterError.placingVault { try await store.remove(id) }
    }

    private func fetch(_ url: EndpointURL, of id: PersonID, from center: RecurseCenter) async throws -> CachedPhoto? {
        let record = await store.record(id).flatMap { $0.url == url.string ? $0 : nil }
        if let record, isFresh(record, at: url) { return cached(record) }
        do {
            switch try await center.download(
                url, limits: limits, validators: record?.photo.validators ?? Photo.Validators())
            {
            case .photo(let photo):
                return try await store(PhotoStore.Record(photo: photo, url: url.string, fetchedAt: time.now()), of: id)
            case .unchanged:
                guard var record else { throw RecurseCenterError.service(status: 304, message: nil) }
                record.fetchedAt = time.now()
                return try await store(record, of: id)
            case .placeholder:
                try await forget(id)
                return nil
            }
        } catch let failure as RecurseCenterError where failure.isRetryable {
            guard let record else { throw failure }
            return cached(record)
        }
    }

    private func store(_ record: PhotoStore.Record, of id: PersonID) async throws -> CachedPhoto {
        try await RecurseCenterError.placingVault { try await store.write(record, of: id) }
        return cached(record)
    }

    private func isFresh(_ record: PhotoStore.Record, at url: EndpointURL) -> Bool {
        record.url == url.string && isFresh(record)
    }

    private func isFresh(_ record: PhotoStore.Record) -> Bool {
        (0..<lifetime / .seconds(1)).contains(time.now() - record.fetchedAt)
    }

    private func cached(_ record: PhotoStore.Record) -> CachedPhoto {
        CachedPhoto(bytes: record.photo.bytes, format: record.photo.format, isStale: !isFresh(record))
    }
}
