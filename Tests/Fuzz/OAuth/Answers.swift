import Budget
import HTTPTypes
import OAuth

/// A service with every deviation that reads otherwise than the standard.
let deviating = TokenRequest(
    .refreshToken(Secret(refreshToken)), at: server, clientID: "client", authentication: .none,
    deviations: {
        var deviations = TokenDeviations()
        deviations.readsForm = true
        deviations.tokenPlace = "/data/token"
        deviations.expiryMember = "expires"
        deviations.expiryUnit = .dateTime
        deviations.tokenTypes = ["", "user"]
        deviations.errorCode = "/error/code"
        deviations.errorText = "/error/text"
        return deviations
    }())
let device = DeviceAuthorizationRequest(to: server, clientID: "client", authentication: .none, scopes: ["openid"])
private let backchannel = BackchannelAuthenticationRequest(
    to: server, clientID: "client", authentication: .post(secret: Secret(refreshToken)), about: .login("ada"),
    scopes: ["openid"])
private let push = PushedAuthorizationRequest(request, authentication: .post(secret: Secret(refreshToken)))
private let api = known { try EndpointURL("https://api.example.com/mcp") }
private let registration = known {
    ClientRegistrationRequest(
        at: try EndpointURL("https://server.example.com/register"), name: "app",
        redirectURI: try RedirectURI("http://127.0.0.1:8080/cb"))
}

@Sendable func readRedirect(_ bytes: [UInt8]) {
    reading(hiding: [state.reveal()]) { () throws(OAuthError) in
        let url = String(decoding: bytes, as: UTF8.self)
        _ = try request.code(from: AuthorizationResponse(redirectURL: url), now: now)
        require(url.utf8.starts(with: "https://client.example.com/cb?".utf8), "a foreign redirect was accepted")
    }
    guard let query = AuthorizationResponse.query(ofForm: bytes) else { return }
    require(query.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a form has bytes that no address has")
}

private func check(_ tokens: TokenResponse) {
    require(
        tokens.accessToken.reveal().utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a token no header can carry")
}

@Sendable func readToken(_ bytes: [UInt8]) {
    reading(hiding: [refreshToken]) { () throws(OAuthError) in
        let tokens = try refresh.response(from: response(200, bytes), now: now)
        check(tokens)
        require((tokens.expiresAt ?? now) >= now, "a token expired before it was issued")
    }
    let introspection = IntrospectionRequest(
        Secret(refreshToken), kind: .refreshToken, at: server, clientID: "client", authentication: .none)
    reading(hiding: [refreshToken]) { () throws(OAuthError) in
        _ = try introspection.introspection(from: response(200, bytes))
    }
}

@Sendable func readDeviatingToken(_ bytes: [UInt8]) {
    for status in [200, 400] {
        reading(hiding: [refreshToken]) { () throws(OAuthError) in
            check(try deviating.response(from: response(status, bytes), now: now))
        }
    }
}

@Sendable func readMetadata(_ bytes: [UInt8]) {
    let request = MetadataRequest(issuer: server.issuer, location: server.tokenEndpoint)
    reading { () throws(OAuthError) in
        guard let found = try request.metadata(from: response(200, bytes)) else { return }
        require(found.issuer == server.issuer, "metadata of another issuer")
        require(found.tokenEndpoint.origin.scheme == .https, "an endpoint without TLS")
    }
}

@Sendable func readResource(_ bytes: [UInt8]) {
    let request = ProtectedResourceRequest(api, location: api)
    reading { () throws(OAuthError) in
        guard let found = try request.document(from: response(200, bytes)) else { return }
        require(found.identifier.origin == api.origin, "a document of another origin")
        require(found.authorizationServers.allSatisfy { $0.url.origin.scheme == .https }, "a server without TLS")
    }
}

@Sendable func readKeys(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        require(try JSONWebKeySet(parsing: bytes).count <= JSONWebKeySet.maximumCount, "too many keys")
    }
}

@Sendable func readError(_ bytes: [UInt8]) {
    for status in [200, 400, 503] {
        reading(hiding: [refreshToken]) { () throws(OAuthError) in
            _ = try refresh.response(from: response(status, bytes), now: now)
        }
    }
}

@Sendable func readChallenge(_ bytes: [UInt8]) {
    var fields = HTTPFields()
    fields[values: .wwwAuthenticate] = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    fields[.retryAfter] = String(decoding: bytes, as: UTF8.self)
    let response = response(401, [], fields)
    _ = ResourceDemand(response)
    _ = ServerError(step: .resource, response)
    for challenge in AuthenticationChallenge.challenges(in: fields) ?? [] {
        require(!challenge.scheme.isEmpty, "a challenge without a scheme")
    }
    if let location = ProtectedResourceRequest.announced(in: response, by: api).location {
        require(location.origin.scheme == .https, "a document without TLS")
    }
}

/// What a server promises before there are tokens: a code for another device, a request to a user, a reference.
@Sendable func readPromise(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        let authorization = try device.authorization(from: response(200, bytes))
        require(authorization.interval > 0 && authorization.lifetime <= 3_600, "a poll without a pause or an end")
        require(EndpointURL.isSafeToOpen(authorization.verificationURI.string), "a page that a shell would read")
    }
    reading(hiding: [refreshToken]) { () throws(OAuthError) in
        let authentication = try backchannel.authentication(from: response(200, bytes))
        require(authentication.interval > 0 && authentication.lifetime <= 3_600, "a poll without a pause or an end")
    }
    reading(hiding: [refreshToken, state.reveal()]) { () throws(OAuthError) in
        let pushed = try push.pushed(response(201, bytes))
        require(pushed.url.utf8.starts(with: "https://server.example.com/authorize?".utf8), "another page")
    }
}

@Sendable func readRegistration(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        let client = try registration.client(from: response(201, bytes))
        require(!client.id.isEmpty, "a client without an identifier")
        require(client.management?.endpoint.origin.scheme ?? .https == .https, "management without TLS")
    }
    // Mended, what is no UTF-8 would be three times as long.
    if let text = String(validating: bytes, as: UTF8.self) { _ = try? AuthorizationDetail.list(parsing: text) }
}

/// The first line is the `Authorization` field, and the rest the content.
@Sendable func readNotification(_ bytes: [UInt8]) {
    let line = bytes.prefix { $0 != 0x0A }
    let notification = BackchannelNotification(
        authorization: String(decoding: line, as: UTF8.self), content: Array(bytes.dropFirst(line.count + 1)))
    guard let notification else { return }
    require(!notification.answers(Secret("request"), token: Secret(refreshToken)), "a notification without its token")
}

@Sendable func readJSON(_ bytes: [UInt8]) {
    guard let value = try? JSONValue(parsing: bytes) else { return }
    require((try? JSONValue(parsing: Array(value.json.utf8))) == value, "JSON changed when it was written")
}

/// A key of the user's, in any of its forms. What is read can sign.
@Sendable func readKeyFile(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        let key = try SigningKey(parsing: bytes, keyID: "1")
        require(!key.algorithms.isEmpty, "a key that cannot sign")
    }
    reading { () throws(OAuthError) in _ = try ServiceAccountKey(parsing: bytes) }
}
