#if Sandbox
/// Authorization requests and responses as signed texts.
package protocol SignedMessages: Sendable {
    /// The types of `authorization_details` that are known (RFC 9396 section 10).
    var detailTypes: [String] { get }

    /// The parameters in a request object (RFC 9101 section 6).
    ///
    /// - Throws: `invalid_request_object` when it is not the client's, not for this server, or not of the right form.
    func parameters(
        ofRequestObject text: String, of client: SandboxClient, at server: AuthorizationServer
    ) throws(OAuthFailure) -> FormParameters

    /// Claims as a signed text; nil if the key fails to sign.
    func sign(_ claims: JSON) -> String?
}

extension AuthorizationServer {
    /// The parameters of a request whose client may have signed them. Beside a signed text nothing counts (RFC 9101 section
    /// 6.3).
    package func unsigned(_ parameters: FormParameters, of client: SandboxClient) throws(OAuthFailure) -> FormParameters
    {
        guard let text = parameters["request"] else {
            guard !client.signsRequests else {
                throw OAuthFailure(
                    code: "invalid_request", detail: "This client has to sign its authorization requests (RFC 9101).")
            }
            return parameters
        }
        guard let signedMessages else {
            throw OAuthFailure(code: "request_not_supported", detail: "Signed requests are not supported here.")
        }
        return try signedMessages.parameters(ofRequestObject: text, of: client, at: self)
    }

    /// The known `authorization_details` of a request (RFC 9396 section 5).
    func authorizationDetails(_ text: String?) throws(OAuthFailure) -> JSON? {
        guard let text else { return nil }
        guard let signedMessages, let details = JSON(parsing: Array(text.utf8)), let elements = details.elements,
            !elements.isEmpty,
            elements.allSatisfy({ detail in
                guard case .string(let type)? = detail["type"] else { return false }
                return signedMessages.detailTypes.contains(type)
            })
        else {
            throw OAuthFailure(
                code: "invalid_authorization_details", detail: "authorization_details is no list of known types.")
        }
        return details
    }

    /// Whether the browser posts responses of a mode (OAuth 2.0 Form Post Response Mode).
    func isPosted(responseMode mode: String?) -> Bool { mode == "form_post" || mode == "form_post.jwt" }

    /// Whether responses of a mode are signed (JARM section 2.3); nil for a mode that is not known.
    func isSigned(responseMode mode: String?) -> Bool? {
        switch mode {
        case nil, "query", "form_post": false
        case "jwt", "query.jwt", "form_post.jwt": signedMessages == nil ? nil : true
        default: nil
        }
    }
}
#endif
