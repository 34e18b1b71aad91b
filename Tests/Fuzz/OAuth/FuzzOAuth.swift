import Budget
import HTTPTypes
import OAuth

/// Bytes from a hostile server, for everything in `OAuth` that reads some. The first byte selects the reader.
///
/// What fails, or takes longer than the time budget, ends the process, and the fuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = Input(start, count), let reader = readers[input.kind] else { return -1 }
    reader(input.content)
    if let timed = timed[input.kind] { Budget().check(input.kind, input.content, timed) }
    return 0
}

private let readers: [UInt8: @Sendable ([UInt8]) -> Void] = [
    UInt8(ascii: "R"): readRedirect, UInt8(ascii: "T"): readToken, UInt8(ascii: "M"): readMetadata,
    UInt8(ascii: "K"): readKeys, UInt8(ascii: "E"): readError, UInt8(ascii: "C"): readChallenge,
    UInt8(ascii: "J"): readIDToken, UInt8(ascii: "P"): readPayload, UInt8(ascii: "V"): readJSON,
]

/// What is timed: one reading, without what the reader above checks beside it. A payload has at most 64 KiB.
private let timed: [UInt8: @Sendable ([UInt8]) -> Void] = [
    UInt8(ascii: "R"): readRedirect, UInt8(ascii: "M"): readMetadata, UInt8(ascii: "K"): readKeys,
    UInt8(ascii: "C"): readChallenge, UInt8(ascii: "J"): readIDToken,
    UInt8(ascii: "T"): { bytes in
        reading { () throws(OAuthError) in _ = try refresh.response(from: response(200, bytes), now: now) }
    },
    UInt8(ascii: "E"): { bytes in
        reading { () throws(OAuthError) in _ = try refresh.response(from: response(400, bytes), now: now) }
    },
    UInt8(ascii: "V"): { bytes in _ = try? JSONValue(parsing: bytes) },
]

// Readers

private let now = 1_700_000_000.0
private let state = Secret("c3RhdGUtc3RhdGUtc3RhdGUtc3RhdGUtc3RhdGUtc3Q")
private let refreshToken = "refresh-token-of-this-session"

private let server = known {
    var server = AuthorizationServerMetadata(
        issuer: try Issuer("https://server.example.com"),
        authorizationEndpoint: try EndpointURL("https://server.example.com/authorize"),
        tokenEndpoint: try EndpointURL("https://server.example.com/token"))
    server.codeChallengeMethods = ["S256"]
    return server
}
private let request = known {
    AuthorizationRequest(
        restoring: server, clientID: "client", redirectURI: try RedirectURI("https://client.example.com/cb"),
        scopes: ["openid"], resources: [], state: state, nonce: Secret("nonce"), verifier: CodeVerifier(),
        expiresAt: now + 600, url: "https://server.example.com/authorize")
}
private let refresh = TokenRequest(
    .refreshToken(Secret(refreshToken)), at: server, clientID: "client", authentication: .none)

private func response(_ status: Int, _ content: [UInt8], _ fields: HTTPFields = [.contentType: "application/json"])
    -> ResponseMessage
{
    ResponseMessage(head: HTTPResponse(status: .init(code: status), headerFields: fields), content: content)
}

/// What a user sees of an error: bounded, on one line, without a secret.
private func check(_ error: OAuthError) {
    let text = error.description
    require(text.utf8.count < 16_384, "an error is long")
    require(!text.contains(refreshToken) && !text.contains(state.reveal()), "an error shows a secret")
    require(
        text.unicodeScalars.allSatisfy {
            $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
        }, "an error controls the terminal")
}

private func reading(_ body: () throws(OAuthError) -> Void) {
    do { try body() } catch { check(error) }
}

private func readRedirect(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        let url = String(decoding: bytes, as: UTF8.self)
        _ = try request.code(from: AuthorizationResponse(redirectURL: url), now: now)
        require(url.utf8.starts(with: "https://client.example.com/cb?".utf8), "a foreign redirect was accepted")
    }
}

private func readToken(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        let tokens = try refresh.response(from: response(200, bytes), now: now)
        require(
            tokens.accessToken.reveal().utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a token no header can carry")
        require((tokens.expiresAt ?? now) >= now, "a token expired before it was issued")
    }
    let introspection = IntrospectionRequest(
        Secret(refreshToken), kind: .refreshToken, at: server, clientID: "client", authentication: .none)
    reading { () throws(OAuthError) in _ = try introspection.introspection(from: response(200, bytes)) }
}

private func readMetadata(_ bytes: [UInt8]) {
    let request = MetadataRequest(issuer: server.issuer, location: server.tokenEndpoint)
    reading { () throws(OAuthError) in
        guard let found = try request.metadata(from: response(200, bytes)) else { return }
        require(found.issuer == server.issuer, "metadata of another issuer")
        require(found.tokenEndpoint.origin.scheme == .https, "an endpoint without TLS")
    }
}

private func readKeys(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        require(try JSONWebKeySet(parsing: bytes).count <= JSONWebKeySet.maximumCount, "too many keys")
    }
}

private func readError(_ bytes: [UInt8]) {
    for status in [200, 400, 503] {
        reading { () throws(OAuthError) in _ = try refresh.response(from: response(status, bytes), now: now) }
    }
}

private func readChallenge(_ bytes: [UInt8]) {
    var fields = HTTPFields()
    fields[values: .wwwAuthenticate] = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    fields[.retryAfter] = String(decoding: bytes, as: UTF8.self)
    let response = response(401, [], fields)
    _ = ResourceDemand(response)
    _ = ServerError(step: .resource, response)
    for challenge in AuthenticationChallenge.challenges(in: fields) ?? [] {
        require(!challenge.scheme.isEmpty, "a challenge without a scheme")
    }
}

private let keys = known {
    try JSONWebKeySet(
        parsing: Array(
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#
                .utf8))
}
private let validator = IDTokenValidator(
    issuer: server.issuer, clientID: "client", nonce: Secret("nonce"), accessToken: nil)

private func readIDToken(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        _ = try validator.claims(of: Secret(String(decoding: bytes, as: UTF8.self)), keys: keys, now: now)
        require(false, "a token without a signature was accepted")
    }
}

/// A payload of the right form whose signature is another's, and claims from a store.
private func readPayload(_ bytes: [UInt8]) {
    let header = Base64URL.encode(#"{"alg":"ES256"}"#.utf8)
    readIDToken(Array("\(header).\(Base64URL.encode(bytes)).\(String(repeating: "A", count: 86))".utf8))
    guard let members = (try? JSONValue(parsing: bytes))?.object else { return }
    reading { () throws(OAuthError) in
        let claims = try IDTokenClaims(claims: members)
        let again = (try? JSONValue(parsing: Array(claims.json.utf8)))?.object
        require(try again.map(IDTokenClaims.init(claims:)) == claims, "claims changed in the store")
    }
}

private func readJSON(_ bytes: [UInt8]) {
    guard let value = try? JSONValue(parsing: bytes) else { return }
    require((try? JSONValue(parsing: Array(value.json.utf8))) == value, "JSON changed when it was written")
}
