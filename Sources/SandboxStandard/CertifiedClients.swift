#if Sandbox
import SandboxCore

/// The clients that authenticate by the certificate of their connection (RFC 8705 section 2).
enum CertifiedClients {
    static let issued = "sandbox-tls"
    static let selfSigned = "sandbox-self-signed-tls"
    static let issuedCertificate = CertificateAuthority.shared.issueClient(issued)
    static let selfSignedCertificate = CertificateAuthority.selfSigned(selfSigned)
}

extension StandardStandIn {
    /// A client whose certificate is its credential; nil for any other client.
    ///
    /// - Throws: `invalid_client` without the certificate, and with another credential beside it.
    func certified(_ request: IncomingRequest, as id: String) throws(OAuthFailure) -> SandboxClient? {
        guard let client = server.client(id), let rule = client.certificateRule else { return nil }
        guard request.form["client_secret"] == nil else {
            throw .invalidRequest("The client used two authentication methods in one request.")
        }
        guard let certificate = request.certificate else {
            throw .invalidClient(
                "The client authenticates by its certificate, at the addresses of mtls_endpoint_aliases.")
        }
        let isRight =
            switch rule {
            case .issued(let name): CertificateAuthority.shared.hasIssued(certificate, to: name)
            case .registered(let thumbprint): request.certificateThumbprint == thumbprint
            }
        guard isRight else { throw .invalidClient("The certificate of the connection is not the client's.") }
        return client
    }
}
#endif
