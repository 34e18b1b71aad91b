import HTTPTypes
public import Handshake
import OAuth

/// A photo as downloaded.
public struct Photo: Sendable, Hashable {
    public let bytes: [UInt8]
    public let format: ImageFormat
    /// The validators of this representation.
    let validators: Validators

    /// The entity tag and date for a conditional request (RFC 9110, section 8.8).
    struct Validators: Sendable, Hashable {
        var entityTag: String?
        var lastModified: String?
    }
}

extension RecurseCenter {
    /// The default limits of a photo: 4 MiB within 20 seconds.
    public static let photoLimits = TransferLimits(maximumContentLength: 4 << 20)

    /// Fetches a person's photo; nil when there is none.
    ///
    /// No request carries a token, before or after a redirect (dossier 4.4). The format is read from the bytes, not from
    /// `Content-Type`; content that is no image is an error and is not stored (D6).
    ///
    /// - Throws: ``RecurseCenterError/photo(_:)``; ``RecurseCenterError/service(status:message:)``;
    ///   ``RecurseCenterError/account(_:)`` for the network; `CancellationError`.
    public func photo(of profile: Profile, limits: TransferLimits = RecurseCenter.photoLimits) async throws -> Photo? {
        guard let url = try photoURL(of: profile) else { return nil }
        switch try await download(url, limits: limits) {
        case .photo(let photo): return photo
        case .placeholder: return nil
        case .unchanged: throw RecurseCenterError.service(status: 304, message: nil)
        }
    }

    /// The result of a download.
    enum Download: Sendable {
        case photo(Photo)
        /// The image has not changed (status 304).
        case unchanged
        /// A redirect leads to the service's placeholder.
        case placeholder
    }

    private static let maximumRedirects = 5

    /// Downloads an image, following redirects.
    ///
    /// - Parameter validators: those of the cached image.
    func download(
        _ url: EndpointURL, limits: TransferLimits, validators: Photo.Validators = Photo.Validators()
    ) async throws -> Download {
        var headers: HTTPFields = [.accept: "image/*"]
        headers[.ifNoneMatch] = validators.entityTag
        headers[.ifModifiedSince] = validators.lastModified
        var url = url
        for _ in 0...Self.maximumRedirects {
            let request = RequestMessage(.get, url, headers: headers)
            let response = try await retrying.response(isSafe: true) {
                try await transport.send(request, limits: limits)
            }
            guard let location = Self.redirect(in: response) else { return try read(response) }
            if Placeholder.isNamed(by: location) { return .placeholder }
            url = try photoURL(location, from: url)
        }
        throw RecurseCenterError.photo(.tooManyRedirects)
    }

    private static func redirect(in response: ResponseMessage) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.head.status.code) else { return nil }
        return response.head.headerFields[.location]
    }

    private func read(_ response: ResponseMessage) throws(RecurseCenterError) -> Download {
        if response.head.status == .notModified { return .unchanged }
        guard response.head.status == .ok else {
            throw RecurseCenterError(response, pause: retrying.retryAfter(response))
        }
        guard let format = ImageFormat(response.content) else {
            let type = response.head.headerFields[.contentType].map { quoted($0, limit: 60) }
            throw .photo(.notAnImage(found: response.content.isEmpty ? "nothing" : type ?? "something else"))
        }
        let fields = response.head.headerFields
        return .photo(
            Photo(
                bytes: response.content, format: format,
                validators: Photo.Validators(entityTag: fields[.eTag], lastModified: fields[.lastModified])))
    }
}
