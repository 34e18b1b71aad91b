import OAuth

extension Client {
    /// Refuses a redirect that the service is known to refuse, before anything is sent.
    ///
    /// - Parameter listening: the address of a listener on this machine; nil for the client's own redirect.
    /// - Throws: ``HandshakeError/configuration(member:problem:)``.
    func checkRedirect(listening: RedirectURI?) throws(HandshakeError) {
        guard service.refuses(listening.map(Redirect.uri) ?? redirect) else { return }
        throw .configuration(
            member: "redirect",
            problem:
                "\(service.displayName) accepts no http redirect to this machine. Give the client a redirect URI that is "
                + "registered there.")
    }
}

extension Service {
    /// Whether the service is known to refuse a redirect: one to this machine, whatever receives it there.
    package func refuses(_ redirect: Client.Redirect) -> Bool {
        guard deviations.refusesLoopbackRedirects else { return false }
        return if case .uri(let uri) = redirect { uri.kind == .loopback } else { true }
    }
}
