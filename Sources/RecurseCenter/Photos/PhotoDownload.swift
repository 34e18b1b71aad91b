import HTTPTypes
public import Handshake
import OAuth

/// A photo as it came.
public struct Photo: Sendable, Hashable {
    public let bytes: [UInt8]
    public let format: ImageFormat
    /// By what the service knows this very picture again.
    let validators: Validators

    /// What a later request can ask by whether the picture has changed (RFC 9110, section 8.8).
    struct Validators: Sendable, Hashable {
        var entityTag: String?
        var lastModified: String?
    }
}

extension RecurseCenter {
    /// The longest photo that is read unless stated otherwise: 4 MiB, within 20 seconds.
    public static let photoLimits = TransferLimits(maximumContentLength: 4 << 20)

    /// Fetches a person's photo; nil when there is none.
    ///
    /// The request carries no token, neither at first nor behind a redirect, wherever it leads (dossier 4.4). What comes is a
    /// picture by its bytes, whatever the service calls it; anything else is an error and nothing is kept (D6).
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

    /// How a download ended.
    enum Download: Sendable {
        case photo(Photo)
        /// The picture that the validators describe is still the right one.
        case unchanged
        /// A redirect led to the picture of those who have none.
        case placeholder
    }

    private static let mostRedirects = 5

    /// Follows an address to a picture.
    ///
    /// - Parameter validators: those of the picture that is there already.
    func download(
        _ url: EndpointURL, limits: TransferLimits, validators: Photo.Validators = Photo.Validators()
    ) async throws -> Download {
        var headers: HTTPFields = [.accept: "image/*"]
        headers[.ifNoneMatch] = validators.entityTag
        headers[.ifModifiedSince] = validators.lastModified
        var url = url
        for _ in 0...Self.mostRedirects {
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
            throw RecurseCenterError(response, pause: retrying.wish(in: response))
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
