import OAuth

extension Client {
    /// Refuses a redirect that the service is known to refuse, before anything is sent.
    ///
    /// - Parameter listening: the address of a listener on this machine; nil for the client's own redirect.
    /// - Throws: ``HandshakeError/configuration(member:problem:)``.
    func checkRedirect(listening: RedirectURI?) throws(HandshakeError) {
        guard service.deviations.refusesLoopbackRedirects else { return }
        let uri: RedirectURI? =
            switch redirect {
            case .uri(let own): listening ?? own
            case .loopback: listening
            }
        guard let uri, uri.kind == .loopback else { return }
        throw .configuration(
            member: "redirect",
            problem:
                "\(service.displayName) accepts no redirect to \(uri). Give the client a redirect URI that is registered "
                + "there.")
    }
}
