import Budget
import Crypto
import HTTPTypes
import OAuth

/// A key of the hostile server's own: its signatures are right, so that all that is behind them is read.
private let signer = known {
    try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 5, count: 32))
}
private let keys = known {
    let point = Base64URL.encode(signer.publicKey.rawRepresentation)
    return try JSONWebKeySet(parsing: Array(#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"\#(point)"}]}"#.utf8))
}

/// A text with this payload, signed.
private func signed(_ payload: [UInt8], type: String) -> Secret {
    let input = Base64URL.encode(#"{"alg":"EdDSA","typ":"\#(type)"}"#.utf8) + "." + Base64URL.encode(payload)
    return Secret(input + "." + Base64URL.encode(known { try signer.signature(for: Array(input.utf8)) }))
}

private let validator = IDTokenValidator(
    issuer: server.issuer, clientID: "client", nonce: Secret("nonce"), accessToken: nil)

/// Any bytes in the place of a token: none of them has the key's signature.
@Sendable func readIDToken(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        _ = try validator.claims(of: Secret(String(decoding: bytes, as: UTF8.self)), keys: keys, now: now)
        require(false, "a token without a signature was accepted")
    }
}

/// A payload that is signed, and claims from a store.
@Sendable func readClaims(_ bytes: [UInt8]) {
    reading { () throws(OAuthError) in
        let claims = try validator.claims(of: signed(bytes, type: "JWT"), keys: keys, now: now)
        require(claims.issuer.utf8.elementsEqual(server.issuer.string.utf8), "an ID token of another issuer")
        require(!claims.subject.isEmpty, "an ID token without sub")
        let payload = (try? JSONValue(parsing: bytes))?.object
        require(payload?["nonce"]?.string == "nonce", "an ID token for another request")
        require(claims.claims["events"] == nil, "a security event as an ID token")
    }
    guard let members = (try? JSONValue(parsing: bytes))?.object else { return }
    reading { () throws(OAuthError) in
        let claims = try IDTokenClaims(claims: members)
        let again = (try? JSONValue(parsing: Array(claims.json.utf8)))?.object
        require(try again.map(IDTokenClaims.init(claims:)) == claims, "claims changed in the store")
    }
}

@Sendable func readLogoutClaims(_ bytes: [UInt8]) {
    let validator = LogoutTokenValidator(issuer: server.issuer, clientID: "client")
    reading { () throws(OAuthError) in
        let token = try validator.token(signed(bytes, type: "logout+jwt"), keys: keys, now: now)
        require(token.subject != nil || token.sessionID != nil, "a logout token without sub and sid")
        require(token.expiresAt > now - 60, "a logout token that has expired")
    }
}

private let signedRequest = authorizationRequest(.jwt)

@Sendable func readResponseClaims(_ bytes: [UInt8]) {
    let url = "https://client.example.com/cb?response=" + signed(bytes, type: "JWT").reveal()
    reading(hiding: [state.reveal()]) { () throws(OAuthError) in
        let verified = try signedRequest.verified(AuthorizationResponse(redirectURL: url), with: keys, now: now)
        _ = try signedRequest.code(from: verified, now: now)
    }
}

@Sendable func readUserInfoClaims(_ bytes: [UInt8]) {
    let validator = UserInfoValidator(issuer: server.issuer, clientID: "client")
    reading { () throws(OAuthError) in
        let claims = try validator.claims(of: signed(bytes, type: "JWT"), keys: keys, now: now)
        require(
            claims["sub"]?.string?.isEmpty == false && claims["nonce"] == nil, "UserInfo without sub, or an ID token")
    }
}

@Sendable func readIntrospectionClaims(_ bytes: [UInt8]) {
    let request = IntrospectionRequest(
        Secret(refreshToken), kind: .refreshToken, at: server, clientID: "client", authentication: .none, signed: true)
    let content = Array(signed(bytes, type: "token-introspection+jwt").reveal().utf8)
    let fields: HTTPFields = [.contentType: "application/token-introspection+jwt"]
    reading(hiding: [refreshToken]) { () throws(OAuthError) in
        _ = try request.introspection(from: response(200, content, fields), keys: keys, now: now)
    }
}
