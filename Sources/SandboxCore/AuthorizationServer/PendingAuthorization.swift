#if Sandbox
/// A valid authorization request (RFC 6749 section 4.1.1).
package struct PendingAuthorization: Sendable {
    package let client: SandboxClient
    package let redirectURI: String
    package let state: String?
    package let scope: [String]
    package let challenge: String?
    package let nonce: String?
    let prompt: Set<String>
    let maximumAge: Double?
    let loginHint: String?
    let wantsStrongAuthentication: Bool
    /// `dpop_jkt`: the thumbprint of the key that the code is for (RFC 9449 section 10).
    let keyThumbprint: String?
    /// `authorization_details` (RFC 9396 section 2); nil for none.
    let authorizationDetails: JSON?
    /// The APIs that the tokens shall be for (RFC 8707), as far as the server knows them.
    let resources: [String]
    /// Whether the response is one signed text (JARM section 2.3).
    let isResponseSigned: Bool
    /// Whether a page posts the response (OAuth 2.0 Form Post Response Mode).
    let isResponsePosted: Bool
    /// Path and query, to return to after the sign-in.
    package let target: String

    /// The authentication context class that stands for "signed in just now, strongly" (RFC 9470).
    package static let strongContextClass = "urn:sandbox:acr:strong"
    /// The redirect URI that means "show the code instead" (Recurse Center dossier, section 2.1).
    package static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"
}

/// Why an authorization request is rejected.
enum AuthorizationRefusal: Error, Sendable {
    /// The client or the redirect cannot be trusted: the error is shown on a page (RFC 6749 section 4.1.2.1).
    case page(detail: String)
    /// The error is sent to the client in a redirect, or posted by a page.
    case redirect(to: String, isPosted: Bool)
}

extension AuthorizationServer {
    /// Parses an authorization request.
    func authorizationRequest(_ request: IncomingRequest) throws(AuthorizationRefusal) -> PendingAuthorization {
        let pushed = try parameters(of: request.query)
        if dialect.refusesDoubledParameters, let name = pushed.doubledName,
            ["client_id", "redirect_uri"].contains(name)
        {
            throw .page(detail: "The parameter \(name) is duplicated.")
        }
        guard let clientID = pushed["client_id"], let client = client(clientID) else {
            throw .page(detail: "No app with this client_id is registered here.")
        }
        let query: FormParameters
        do throws(OAuthFailure) {
            // What was pushed was read then (RFC 9126 section 3).
            query = request.query["request_uri"] == nil ? try unsigned(pushed, of: client) : pushed
        } catch {
            // Nothing of a request that is not the client's own is trusted, its redirect_uri least of all.
            throw .page(detail: "\(error.code): \(error.detail)")
        }
        guard let redirectURI = query["redirect_uri"],
            RegisteredRedirect.matches(redirectURI, registered: client.redirectURIs)
        else {
            throw .page(detail: "The redirect_uri is not one that \(client.id) has registered.")
        }
        do throws(OAuthFailure) {
            return try checked(query, client: client, redirectURI: redirectURI, target: request.target)
        } catch {
            throw .redirect(
                to: response(
                    to: redirectURI, state: query["state"],
                    [("error", error.code), ("error_description", error.detail)],
                    signedFor: isSigned(responseMode: query["response_mode"]) == true ? client : nil),
                isPosted: isPosted(responseMode: query["response_mode"]))
        }
    }

    /// Checks a request that came from the client instead of a browser (RFC 9126 section 2.3).
    func check(_ parameters: FormParameters, of client: SandboxClient) throws(OAuthFailure) {
        guard let redirectURI = parameters["redirect_uri"],
            RegisteredRedirect.matches(redirectURI, registered: client.redirectURIs)
        else { throw .invalidRequest("The redirect_uri is not one that the client has registered.") }
        _ = try checked(parameters, client: client, redirectURI: redirectURI, target: "")
    }

    /// The URL of an authorization response (RFC 6749 section 4.1.2, RFC 9207 section 2, JARM section 2.3.1).
    ///
    /// - Parameter client: whom a signed response is for; nil for a plain one.
    func response(
        to redirectURI: String, state: String?, _ members: [(name: String, value: String)],
        signedFor client: SandboxClient? = nil
    ) -> String {
        var pairs = members
        if let state { pairs.append(("state", state)) }
        if let client, let signedMessages {
            var claims: JSON = [
                "iss": .string(issuer), "aud": .string(client.id), "exp": .number(Int(clock.now) + 300),
                "iat": .number(Int(clock.now)),
            ]
            for (name, value) in pairs { claims = claims.adding(name, .string(value)) }
            let text = FormParameters([("response", signedMessages.sign(claims) ?? "")]).urlEncoded
            return redirectURI + (redirectURI.contains("?") ? "&" : "?") + text
        }
        if dialect.namesIssuer { pairs.append(("iss", issuerInResponses)) }
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + FormParameters(pairs).urlEncoded
    }

    private func checked(
        _ sent: FormParameters, client: SandboxClient, redirectURI: String, target: String
    ) throws(OAuthFailure) -> PendingAuthorization {
        if dialect.refusesDoubledParameters, let name = sent.doubledName {
            throw .invalidRequest("The parameter \(name) is duplicated.")
        }
        let query = try dialect.reading(sent)
        guard let responseType = query["response_type"] else { throw .invalidRequest("response_type is missing.") }
        guard responseType == "code" else {
            throw OAuthFailure(code: "unsupported_response_type", detail: "Only the response type code is supported.")
        }
        guard client.grantTypes.contains("authorization_code") else { throw .unauthorizedClient }
        guard let isResponseSigned = isSigned(responseMode: query["response_mode"]) else {
            throw .invalidRequest("response_mode is not one that is known here.")
        }
        let contextClasses = query["acr_values"]?.split(separator: " ").map(String.init) ?? []
        return PendingAuthorization(
            client: client, redirectURI: redirectURI, state: query["state"],
            scope: try scope(query["scope"], of: client), challenge: try proofKey(query, client: client),
            nonce: query["nonce"], prompt: Set(query["prompt"]?.split(separator: " ").map(String.init) ?? []),
            maximumAge: query["max_age"].flatMap { Double($0) }, loginHint: query["login_hint"],
            wantsStrongAuthentication: contextClasses.contains(PendingAuthorization.strongContextClass),
            keyThumbprint: try keyThumbprint(query),
            authorizationDetails: try authorizationDetails(query["authorization_details"]),
            resources: try knownResources(in: query), isResponseSigned: isResponseSigned,
            isResponsePosted: isPosted(responseMode: query["response_mode"]),
            target: target)
    }

    /// RFC 9449 section 10.
    private func keyThumbprint(_ query: FormParameters) throws(OAuthFailure) -> String? {
        guard let thumbprint = query["dpop_jkt"] else { return nil }
        guard Self.isHash(thumbprint) else { throw .invalidRequest("dpop_jkt must be 43 characters of base64url.") }
        return thumbprint
    }

    /// Whether a text can be a SHA-256 in base64url.
    private static func isHash(_ text: String) -> Bool {
        text.utf8.count == 43 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
    }

    /// RFC 7636 section 4.3, S256 only.
    private func proofKey(_ query: FormParameters, client: SandboxClient) throws(OAuthFailure) -> String? {
        guard let challenge = query["code_challenge"] else {
            if dialect.demandsProofKeyOfEveryone || client.kind == .public {
                throw .invalidRequest("code_challenge is missing; this client must use PKCE.")
            }
            return nil
        }
        guard query["code_challenge_method"] == "S256" else {
            throw .invalidRequest("code_challenge_method must be S256.")
        }
        guard Self.isHash(challenge) else {
            throw .invalidRequest("code_challenge must be 43 characters of the base64url alphabet.")
        }
        return challenge
    }
}
#endif
