import Handshake
public import OAuth

extension RecurseCenter {
    /// Where a person's photo is; nil when there is none: no address, the service says so, or the address is the placeholder's.
    ///
    /// A path alone is taken at the service's origin (dossier 4.4).
    ///
    /// - Throws: ``RecurseCenterError/photo(_:)`` for what cannot be asked, such as another scheme, or plain `http:` where the
    ///   service itself is not reached by it.
    public func photoURL(of profile: Profile) throws(RecurseCenterError) -> EndpointURL? {
        guard !profile.isKnownToLackPhoto, let text = profile.photo, !Placeholder.isNamed(by: text) else { return nil }
        return try photoURL(text, from: nil)
    }

    /// Reads an address: absolute, without scheme, or a path alone.
    ///
    /// - Parameter base: where the address stood; nil is the service's API.
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

/// The picture of those who have none (dossier 4.4).
enum Placeholder {
    /// Whether an address is the placeholder's: a part of its path is called `no_photo…`, or its file `missing`.
    static func isNamed(by address: String) -> Bool {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/")
        if parts.contains(where: { $0.hasPrefix("no_photo") }) { return true }
        let file = parts.last?.prefix { $0 != "." && $0 != "-" && $0 != "_" }
        return file == "missing"
    }
}
