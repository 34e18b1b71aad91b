#if Sandbox
import HTTPTypes
import SandboxCore

/// The token endpoint of an imitated service, and its revocation endpoint.
struct TokenRequests {
    let service: ImitatedService
    let server: AuthorizationServer

    private var answers: TokenAnswers { TokenAnswers(service: service, now: server.clock.now) }

    /// Answers a token request.
    ///
    /// - Parameters:
    ///   - grantTypes: what the address is for.
    ///   - idToken: makes the ID token; nil for none.
    func answer(_ request: IncomingRequest, _ grantTypes: [String], idToken: (IssuedTokens) -> String?) -> Answer {
        do throws(OAuthFailure) {
            var parameters = try read(request)
            let client = try authenticated(request, parameters)
            guard let grantType = parameters["grant_type"], grantTypes.contains(grantType) else {
                throw OAuthFailure(
                    code: "unsupported_grant_type",
                    detail: "\(service.title) takes the grant type \(grantTypes.joined(separator: " or ")) here.")
            }
            for (name, value) in service.table("token_parameters") {
                guard let sent = parameters[name], TextTemplate(value).values(in: sent) != nil else {
                    throw .invalidRequest("\(service.title) demands the parameter \(name) of this value: \(value)")
                }
            }
            if service.flag("repeats_scope"), parameters["scope"] == nil {
                throw .invalidRequest("\(service.title) demands the scopes in token requests too.")
            }
            if !service.usesProofKeys {
                parameters = FormParameters(parameters.pairs.filter { $0.name != "code_verifier" })
            }
            if grantType == "refresh_token" { parameters = try service.refreshed(parameters) }
            let tokens = try server.exchange(parameters, by: client)
            return answers.success(tokens, idToken: idToken(tokens))
        } catch {
            return answers.failure(error, isRefresh: request.formOrJSON?["grant_type"] == "refresh_token")
        }
    }

    /// Answers a revocation request (RFC 7009).
    func revoke(_ request: IncomingRequest) -> Answer {
        do throws(OAuthFailure) {
            guard let parameters = request.formOrJSON else { throw .invalidRequest("The body is no JSON object.") }
            let client = try authenticated(request, parameters)
            guard let token = parameters["token"] else { throw .invalidRequest("The parameter token is missing.") }
            try server.revoke(token, by: client, revokesFamily: true)
            return Answer(status: 200)
        } catch {
            return answers.failure(error, isRefresh: false)
        }
    }

    /// The answer of a service whose client may not sign in on another device (RFC 8628, section 3.2).
    func refuseDevice() -> Answer {
        let detail = "The sandbox leaves out \(service.title)'s sign-in on another device."
        return answers.failure(OAuthFailure(code: "unauthorized_client", detail: detail), isRefresh: false)
    }

    /// The parameters of a body that is as the description has it.
    private func read(_ request: IncomingRequest) throws(OAuthFailure) -> FormParameters {
        if let problem = service.missingField(of: request) { throw .invalidRequest(problem) }
        let type = service.text("token_request") == "json" ? "application/json" : "application/x-www-form-urlencoded"
        guard request.mediaType == type else {
            throw .invalidRequest("\(service.title) demands token requests of the type \(type).")
        }
        guard let parameters = request.formOrJSON else {
            throw .invalidRequest("The body is not a flat JSON object.")
        }
        return parameters
    }

    private func authenticated(
        _ request: IncomingRequest, _ parameters: FormParameters
    ) throws(OAuthFailure) -> SandboxClient {
        let client = service.client
        let basic = request.basicCredentials
        let posted = parameters["client_secret"]
        guard let secret = client.secret else {
            guard basic == nil, posted == nil, parameters["client_id"] == client.id else {
                throw .invalidClient("Here the client is \(client.id), which has no secret.")
            }
            return client
        }
        switch service.authentication {
        case .basic where basic == nil:
            throw .invalidClient("\(service.title) demands the client's secret in a Basic header.")
        case .post where posted == nil:
            throw .invalidClient("\(service.title) demands the client's secret in the parameter client_secret.")
        default: break
        }
        guard basic == nil || posted == nil else {
            throw .invalidRequest("The client shows its secret twice (RFC 6749 section 2.3).")
        }
        guard let basic else {
            guard parameters["client_id"] == client.id, posted == secret else {
                throw .invalidClient("The client is not \(client.id), or its secret is missing or wrong.")
            }
            return client
        }
        let isRaw = service.text("credential_encoding") == "raw"
        let shownID = isRaw ? basic.id : PercentCoding.formDecoded(basic.id)
        let shownSecret = isRaw ? basic.secret : PercentCoding.formDecoded(basic.secret)
        guard shownID == client.id, shownSecret == secret else {
            let rule = isRaw ? "are not form-encoded" : "are form-encoded (RFC 6749 section 2.3.1)"
            throw .invalidClient("The credentials are wrong. Those of Basic \(rule) here.")
        }
        return client
    }
}

extension ImitatedService {
    /// What a request lacks of the fields that the service requires; nil for nothing.
    func missingField(of request: IncomingRequest) -> String? {
        for (name, value) in requiredFields {
            let template = TextTemplate(value)
            guard let sent = HTTPField.Name(name).flatMap({ request.headers[$0] }),
                let values = template.values(in: sent), values["client_id"] ?? Self.clientID == Self.clientID
            else { return "\(title) demands the field \(name) of this value: \(value)" }
        }
        return nil
    }
}
#endif
