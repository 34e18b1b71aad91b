#if Sandbox
extension Sandbox {
    /// Signs in and consents as the user, and returns the redirect URL.
    ///
    /// Runs the same checks as the pages, without HTTP and request log. Only faults of signed texts take effect.
    ///
    /// - Parameters:
    ///   - authorizationURL: an authorization URL of one of this sandbox's services.
    ///   - userName: the email address of the user; nil for the service's first one.
    /// - Returns: the redirect URL exactly as a browser would get it, even if it carries an error. For the
    ///   out-of-band redirect, where a browser shows the code, it is that URN with `code` as its query.
    /// - Throws: ``SandboxError``, for example when a browser would have been shown an error page: the app is unknown,
    ///   or the service has no authorization endpoint at this path.
    public func approve(_ authorizationURL: String, as userName: String? = nil) async throws -> String {
        try answer(authorizationURL, as: userName) { endpoint, authorization, user in
            endpoint.approved(authorization, by: user, authenticatedAt: endpoint.server.clock.now)
        }
    }

    /// Refuses consent as the user; otherwise like ``approve(_:as:)``.
    public func refuse(_ authorizationURL: String, as userName: String? = nil) async throws -> String {
        try answer(authorizationURL, as: userName) { endpoint, authorization, _ in
            endpoint.denied(authorization)
        }
    }

    private func answer(
        _ url: String, as userName: String?,
        _ decide: (AuthorizationEndpoint, PendingAuthorization, SandboxUser) -> String
    ) throws(SandboxError) -> String {
        guard let (server, standIn) = self.server(of: url) else {
            throw .notOurs(url: url)
        }
        let request = IncomingRequest(method: "GET", target: String(url.dropFirst(server.origin.count)))
        guard standIn.isAuthorizationPage(request) else {
            let page = String(url.prefix { $0 != "?" })
            throw .pageInsteadOfRedirect(status: 404, text: "There is no authorization endpoint at \(page).")
        }
        let users = server.dialect.users
        guard let user = users.first(where: { userName == nil || $0.name == userName }) else {
            throw .unknownUser(name: userName ?? "", known: users.map(\.name))
        }
        do throws(AuthorizationRefusal) {
            let authorization = try server.authorizationRequest(request)
            return withSignedTextFaults(server.dialect.name, request.method, request.target) {
                decide(AuthorizationEndpoint(server: server), authorization, user)
            }
        } catch {
            switch error {
            case .page(let detail): throw .pageInsteadOfRedirect(status: 400, text: detail)
            case .redirect(let location, _): return location
            }
        }
    }
}
#endif
