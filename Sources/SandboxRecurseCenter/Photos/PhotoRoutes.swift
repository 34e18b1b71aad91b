#if Sandbox
import HTTPTypes
import SandboxCore

/// Pictures of people, and the redirects that lead to them (Recurse Center dossier, sections 4.4 and 6).
///
/// They need no token. The request log shows whether a request carried one anyway.
struct PhotoRoutes: Sendable {
    let server: AuthorizationServer

    private static let redirectPath = "/rails/active_storage/representations/redirect/{blob}/{variant}/{file}"
    private static let lastModified = "Mon, 09 Jun 2014 12:00:00 GMT"

    var routes: [Route] {
        [
            Route("GET", path: Self.redirectPath, note: "302 to the picture at another origin", answer: redirect),
            Route("GET", path: "/photos/{id}", note: "a picture of 150 by 150 pixels", answer: photo),
            Route(
                "GET", path: "/assets/people/{file}", note: "the same in old places; no_photo_150.jpg", answer: asset),
        ]
    }

    private func redirect(_ request: IncomingRequest) -> Answer {
        let prefix = "BLOB"
        guard let blob = request.variables["blob"], blob.hasPrefix(prefix), let id = Int(blob.dropFirst(prefix.count)),
            People.person(id) != nil
        else { return Access.notFound }
        return .redirect(to: "\(otherOrigin)/photos/\(id)")
    }

    private func photo(_ request: IncomingRequest) -> Answer {
        guard let id = request.variables["id"].flatMap({ Int($0) }), People.person(id) != nil else {
            return Access.notFound
        }
        return Self.image(id, for: request)
    }

    private func asset(_ request: IncomingRequest) -> Answer {
        let file = request.variables["file"] ?? ""
        if file.hasPrefix("no_photo") { return Self.image(0, for: request) }
        guard let id = Int(file.prefix { $0 != "_" }), People.person(id) != nil else {
            return Access.notFound
        }
        return Self.image(id, for: request)
    }

    /// The picture, or 304 to a client that has it. It is a PNG under every file name.
    private static func image(_ pattern: Int, for request: IncomingRequest) -> Answer {
        let tag = "\"photo-\(pattern)\""
        let isKnown =
            request.headers[.ifNoneMatch].map { $0 == tag } ?? (request.headers[.ifModifiedSince] == lastModified)
        let answer =
            isKnown
            ? Answer(status: 304)
            : Answer(status: 200, headers: [.contentType: "image/png"], body: PortraitImage.png(pattern: pattern))
        return answer.adding(.eTag, tag).adding(.lastModified, lastModified)
    }

    /// The same port under this machine's other name: another origin (RFC 6454) that needs no second listener.
    private var otherOrigin: String {
        let origin = server.origin
        for (name, other) in [
            ("//localhost:", "//127.0.0.1:"), ("//127.0.0.1:", "//localhost:"), ("//[::1]:", "//localhost:"),
        ]
        where origin.contains(name) {
            return origin.replacing(name, with: other)
        }
        return origin
    }
}
#endif
