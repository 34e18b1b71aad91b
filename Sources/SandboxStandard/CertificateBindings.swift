#if Sandbox
import SandboxCore
import Synchronization

/// The tokens that are bound to the certificate of a connection (RFC 8705 section 3).
///
/// A class, because the endpoints and the resources share it.
final class CertificateBindings: Sendable {
    private let thumbprints = Mutex<[String: String]>([:])

    /// `x5t#S256` of the certificate that a token is bound to; nil for any other.
    func thumbprint(of token: String) -> String? {
        thumbprints.withLock { $0[token] }
    }

    /// Binds tokens to the certificate of the request that they answer; without one they stay as they are.
    func bind(_ tokens: IssuedTokens, to request: IncomingRequest) {
        guard let thumbprint = request.certificateThumbprint else { return }
        thumbprints.withLock { all in
            all[tokens.accessToken] = thumbprint
            if let token = tokens.refreshToken { all[token] = thumbprint }
        }
    }

    /// Whether a token counts on the connection of a request.
    func admit(_ token: String, on request: IncomingRequest) -> Bool {
        thumbprint(of: token).map { $0 == request.certificateThumbprint } ?? true
    }

    /// A public client's refresh token counts only on the certificate that it was issued on (RFC 8705 section 4).
    func checkRefresh(_ request: IncomingRequest, by client: SandboxClient) throws(OAuthFailure) {
        guard client.kind == .public, let token = request.form["refresh_token"], !admit(token, on: request) else {
            return
        }
        throw .invalidGrant("The refresh token is bound to another certificate.")
    }
}
#endif
