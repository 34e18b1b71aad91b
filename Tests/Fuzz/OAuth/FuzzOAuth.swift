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
    if let timed = timed[input.kind] {
        Budget(length: lengths[input.kind] ?? 1_048_576).check(input.kind, input.content, timed)
    }
    return 0
}

private let readers: [UInt8: @Sendable ([UInt8]) -> Void] = [
    UInt8(ascii: "R"): readRedirect, UInt8(ascii: "T"): readToken, UInt8(ascii: "W"): readDeviatingToken,
    UInt8(ascii: "M"): readMetadata, UInt8(ascii: "O"): readResource, UInt8(ascii: "K"): readKeys,
    UInt8(ascii: "E"): readError, UInt8(ascii: "C"): readChallenge, UInt8(ascii: "D"): readPromise,
    UInt8(ascii: "G"): readRegistration, UInt8(ascii: "N"): readNotification,
    UInt8(ascii: "J"): readIDToken, UInt8(ascii: "P"): readClaims, UInt8(ascii: "L"): readLogoutClaims,
    UInt8(ascii: "A"): readResponseClaims, UInt8(ascii: "U"): readUserInfoClaims,
    UInt8(ascii: "I"): readIntrospectionClaims, UInt8(ascii: "F"): readKeyFile, UInt8(ascii: "V"): readJSON,
]

/// What is timed: one reading, without what the reader above checks beside it.
private let timed: [UInt8: @Sendable ([UInt8]) -> Void] = [
    UInt8(ascii: "R"): readRedirect, UInt8(ascii: "M"): readMetadata, UInt8(ascii: "O"): readResource,
    UInt8(ascii: "K"): readKeys, UInt8(ascii: "C"): readChallenge, UInt8(ascii: "G"): readRegistration,
    UInt8(ascii: "N"): readNotification, UInt8(ascii: "J"): readIDToken, UInt8(ascii: "P"): readClaims,
    UInt8(ascii: "L"): readLogoutClaims, UInt8(ascii: "A"): readResponseClaims,
    UInt8(ascii: "U"): readUserInfoClaims, UInt8(ascii: "I"): readIntrospectionClaims,
    UInt8(ascii: "F"): readKeyFile,
    UInt8(ascii: "T"): { bytes in
        reading(hiding: [refreshToken]) { () throws(OAuthError) in
            _ = try refresh.response(from: response(200, bytes), now: now)
        }
    },
    UInt8(ascii: "W"): { bytes in
        reading(hiding: [refreshToken]) { () throws(OAuthError) in
            _ = try deviating.response(from: response(200, bytes), now: now)
        }
    },
    UInt8(ascii: "E"): { bytes in
        reading(hiding: [refreshToken]) { () throws(OAuthError) in
            _ = try refresh.response(from: response(400, bytes), now: now)
        }
    },
    UInt8(ascii: "D"): { bytes in
        reading { () throws(OAuthError) in _ = try device.authorization(from: response(200, bytes)) }
    },
    UInt8(ascii: "V"): { bytes in _ = try? JSONValue(parsing: bytes) },
]

/// The longest content that a reader takes, where that is less than 1 MiB: longer ones are refused unread, and would show nothing. The transport takes
/// no more header fields than 80 KiB.
private let lengths: [UInt8: Int] = [
    UInt8(ascii: "C"): 81_920, UInt8(ascii: "M"): AuthorizationServerMetadata.maximumLength,
    UInt8(ascii: "R"): AuthorizationResponse.maximumLength, UInt8(ascii: "N"): BackchannelNotification.maximumLength,
    UInt8(ascii: "J"): 65_536, UInt8(ascii: "P"): 49_000, UInt8(ascii: "L"): 49_000, UInt8(ascii: "A"): 49_000,
    UInt8(ascii: "U"): 49_000, UInt8(ascii: "I"): 49_000, UInt8(ascii: "F"): 65_536,
]

// What the readers share

let now = 1_700_000_000.0
let state = Secret("c3RhdGUtc3RhdGUtc3RhdGUtc3RhdGUtc3RhdGUtc3Q")
let refreshToken = "refresh-token-of-this-session"

let server = known {
    var server = AuthorizationServerMetadata(
        issuer: try Issuer("https://server.example.com"),
        authorizationEndpoint: try EndpointURL("https://server.example.com/authorize"),
        tokenEndpoint: try EndpointURL("https://server.example.com/token"))
    server.codeChallengeMethods = ["S256"]
    return server
}

func authorizationRequest(_ mode: AuthorizationRequest.ResponseMode = .query) -> AuthorizationRequest {
    known {
        AuthorizationRequest(
            restoring: server, clientID: "client", redirectURI: try RedirectURI("https://client.example.com/cb"),
            scopes: ["openid"], resources: [], state: state, nonce: Secret("nonce"), verifier: CodeVerifier(),
            expiresAt: now + 600, url: "https://server.example.com/authorize", responseMode: mode)
    }
}
let request = authorizationRequest()
let refresh = TokenRequest(.refreshToken(Secret(refreshToken)), at: server, clientID: "client", authentication: .none)

func response(_ status: Int, _ content: [UInt8], _ fields: HTTPFields = [.contentType: "application/json"])
    -> ResponseMessage
{
    ResponseMessage(head: HTTPResponse(status: .init(code: status), headerFields: fields), content: content)
}

/// What a user sees of an error: bounded, on one line, without a secret of the exchange.
private func check(_ error: OAuthError, hiding secrets: [String]) {
    let text = error.description
    require(text.utf8.count < 16_384, "an error is long")
    require(!secrets.contains { text.contains($0) }, "an error shows a secret")
    require(
        text.unicodeScalars.allSatisfy {
            $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
        }, "an error controls the terminal")
}

/// Reads something of an exchange that has these secrets; a word that no exchange sent is none.
func reading(hiding secrets: [String] = [], _ body: () throws(OAuthError) -> Void) {
    do { try body() } catch { check(error, hiding: secrets) }
}
