import HTTPTypes
import OAuth

extension Account {
    /// Reads the document that an API's refusal announces, and stops when it names other servers than the account's
    /// (`any-server.md` 5).
    ///
    /// Nothing of the account is sent. A document that cannot be read leaves the refusal as it is. Only accounts of an
    /// API that named its server itself are asked for: any other client has its server from the app.
    ///
    /// - Parameter secrets: what the API knows of the account, which no address that it names may repeat.
    /// - Throws: ``HandshakeError/resourceMoved(_:resource:issuers:)``; `CancellationError`.
    // Not inlined, so that a request that is not refused holds no memory for it.
    @inline(never)
    func checkServer(announcedIn refusal: ResponseMessage, hiding secrets: [Secret]) async throws {
        guard let resource = confinement, [401, 403].contains(refusal.head.status.code),
            let location = ProtectedResourceRequest.announced(in: refusal, by: resource).location
        else { return }
        let request = ProtectedResourceRequest(resource, location: location, isAnnounced: true)
        let document: ProtectedResource?
        do {
            document = try await environment.resourceDocument(request)
        } catch is HandshakeError {
            return
        }
        let servers = document?.authorizationServers ?? []
        guard !servers.isEmpty, !servers.contains(where: isOwnServer) else { return }
        let issuers = document?.servers(hiding: secrets) ?? []
        guard !issuers.isEmpty else { return }
        throw HandshakeError.resourceMoved(id, resource: resource, issuers: issuers)
    }

    /// Whether an API means the account's server by a listed address, which may be pinned, or spelled with another slash.
    private func isOwnServer(_ listed: Issuer) -> Bool {
        let own = client.service.authorizationServer.issuer
        let spellings = [own, own.withOtherSlash].compactMap(\.self)
        let pinned = client.service.deviations.pinnedIssuers[listed.string]
        return spellings.contains(listed) || spellings.contains { $0.string == pinned }
    }
}

extension Environment {
    /// What an API's document says, asked for once for all who ask concurrently; nil when there is none.
    func resourceDocument(_ request: ProtectedResourceRequest) async throws -> ProtectedResource? {
        try await resourceDocuments.join([request.resource, request.location]) {
            try await self.exchange({ request.message }, request.document)
        }
    }
}
