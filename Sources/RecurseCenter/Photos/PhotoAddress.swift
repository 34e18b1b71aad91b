import Handshake
public import OAuth

extension RecurseCenter {
    /// The URL of a person's photo. Nil without a photo: no URL, `has_photo` is false, or the URL is the placeholder's.
    ///
    /// A path is resolved at the service's origin (dossier 4.4).
    ///
    /// - Throws: ``RecurseCenterError/photo(_:)`` for a URL that may not be requested, such as another scheme, or plain `http:`
    ///   when the service itself uses https.
    public func photoURL(of profile: Profile) throws(RecurseCenterError) -> EndpointURL? {
        guard !profile.isKnownToLackPhoto, let text = profile.photo, !Placeholder.isNamed(by: text) else { return nil }
        return try photoURL(text, from: nil)
    }

    /// Parses an absolute URL, a URL without scheme, or a path.
    ///
    /// - Parameter base: the URL that contained it; nil is the service's API.
    func photoURL(_ text: String, from base: EndpointURL?) throws(RecurseCenterError) -> EndpointURL {
        let security = account.service.authorizationServer.security
        let origin = base?.origin ?? (account.service.apiRoot ?? account.service.authorizationServer.issuer.url).origin
        let whole =
            if text.hasPrefix("//") { origin.scheme.rawValue + ":" + text } else if text.hasPrefix("/") {
                origin.description + text
            } else { text }
        do {
            return try EndpointURL(String(whole.prefix { $0 != "#" }), security: security, member: "photo")
        } catch {
            throw .photo(.address("\(error)"))
        }
    }
}

/// The service's image for people without a photo (dossier 4.4).
enum Placeholder {
    /// Whether a URL is the placeholder's: a path segment begins with `no_photo`, or the file is called `missing`.
    static func isNamed(by address: String) -> Bool {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/")
        if parts.contains(where: { $0.hasPrefix("no_photo") }) { return true }
        let file = parts.last?.prefix { $0 != "." && $0 != "-" && $0 != "_" }
        return file == "missing"
    }
}
