import HTTPTypes
import TestFixtures
import Testing

@testable import OAuth

/// The parties that these tests speak of: the names of RFC 6749's own examples.
enum Example {
    static let now: Double = 1_300_819_380
    static let clientID = "s6BhdRkqt3"
    static let clientSecret = "gX1fBat3bV"

    static func issuer(_ string: String = "https://server.example.com") throws -> Issuer {
        try Issuer(string)
    }

    static func server(
        _ string: String = "https://server.example.com", announcesIssuer: Bool = false
    ) throws -> AuthorizationServerMetadata {
        let issuer = try Issuer(string)
        var server = AuthorizationServerMetadata(
            issuer: issuer, authorizationEndpoint: try EndpointURL(string + "/authorize"),
            tokenEndpoint: try EndpointURL(string + "/token"))
        server.revocationEndpoint = try EndpointURL(string + "/revoke")
        server.introspectionEndpoint = try EndpointURL(string + "/introspect")
        server.announcesIssuerInResponse = announcesIssuer
        return server
    }

    static func request(
        to server: AuthorizationServerMetadata? = nil, redirectURI: String = "https://client.example.com/cb",
        scopes: [String] = ["openid", "profile"], options: AuthorizationRequest.Options = .init(),
        random: RandomSource = .system
    ) throws -> AuthorizationRequest {
        try AuthorizationRequest(
            to: try server ?? Example.server(), clientID: clientID, redirectURI: try RedirectURI(redirectURI),
            scopes: scopes,
            options: options, now: now, random: random)
    }

    static func response(_ status: Int, _ content: String = "", fields: HTTPFields = [.contentType: "application/json"])
        -> ResponseMessage
    {
        ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: fields), content: Array(content.utf8))
    }

    /// Pseudo-random bytes, the same in every run.
    static func seeded(_ seed: UInt64) -> RandomSource {
        RandomSource { count in
            var generator = SplitMix64(seed: seed)
            return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
    }
}

extension RequestMessage {
    /// The form's pairs as they stand on the wire.
    var form: [String] {
        guard case .bytes(let bytes) = content else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "&").map(String.init)
    }
}

extension AuthorizationRequest {
    /// The pairs in the address's query as they stand there.
    var queryPairs: [String] {
        url.split(separator: "?", maxSplits: 1).last.map { $0.split(separator: "&").map(String.init) } ?? []
    }

    /// Reads and checks a redirect URL.
    func code(from redirectURL: String, now: Double) throws(OAuthError) -> AuthorizationCode {
        try code(from: AuthorizationResponse(redirectURL: redirectURL), now: now)
    }

    /// The redirect that a server would send back.
    func redirect(_ parameters: String) -> String {
        redirectURI.string + "?" + parameters + "&state=" + state.reveal()
    }
}

/// What a failed exchange says, in one line: its code, and the member when it names one.
func failure(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let error as OAuthError {
        switch error {
        case .malformed(_, let member, _, _): return "malformed \(member)"
        case .configuration(let member, _): return "configuration \(member)"
        case .unmatchedRedirect: return "unmatched"
        case .redirected(let step, let status, _): return "redirected \(step.rawValue) \(status)"
        case .refused, .server: return error.code
        }
    } catch {
        return "\(error)"
    }
}

/// The error that a server stated, when that is how the exchange ended.
func serverError(_ body: () throws -> Void) -> ServerError? {
    do {
        try body()
        return nil
    } catch {
        guard case .server(let stated)? = error as? OAuthError else { return nil }
        return stated
    }
}

/// The refusal with which an exchange was stopped, when that is how it ended.
func refusal(_ body: () throws -> Void) -> Refusal? {
    do {
        try body()
        return nil
    } catch {
        guard case .refused(let refusal)? = error as? OAuthError else { return nil }
        return refusal
    }
}
