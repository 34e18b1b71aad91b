#if Sandbox
extension AuthorizationServer {
    /// Authenticates a client by its id and secret.
    ///
    /// - Throws: `invalid_client` when the client is unknown, a confidential one sends no or a wrong secret, or a
    ///   public one sends any.
    package func client(id: String, secret: String?) throws(OAuthFailure) -> SandboxClient {
        guard let client = client(id) else { throw .invalidClient("The client is unknown.") }
        guard client.privateKey == nil, client.keys == nil else {
            throw .invalidClient("The client has to authenticate with its key.")
        }
        guard client.secret == secret else {
            throw .invalidClient(
                client.kind == .public ? "A public client has no secret." : "The client secret is missing or wrong.")
        }
        return client
    }
}
#endif
