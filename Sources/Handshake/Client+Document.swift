import OAuth

extension Client {
    /// Refuses the address of a client's document that is none, at a server that takes such clients (`any-server.md` 5).
    ///
    /// Another server knows the client by an identifier that it has registered, and so does one that gave it a secret: a
    /// document has no place for that.
    ///
    /// - Throws: ``HandshakeError/exchange(_:)`` with what ``OAuth/ClientDocument/check(_:)`` throws.
    func checkDocument(at server: AuthorizationServerMetadata) throws(HandshakeError) {
        guard server.acceptsClientDocuments, id.lowercased().hasPrefix("https://"), registration == nil,
            credential?.secret == nil
        else { return }
        do {
            _ = try ClientDocument.check(id)
        } catch {
            throw .exchange(error)
        }
    }
}
