import OAuth
import Testing

@testable import Handshake

@Suite("What errors say")
struct ErrorTextTests {
    /// An error, its code, and what its text has to name.
    struct Row: Sendable, CustomTestStringConvertible {
        let error: HandshakeError
        let code: String
        let names: [String]
        var testDescription: String { code }
    }

    private static func rows() throws -> [Row] {
        let issuer = try Issuer("https://op.example")
        let service = try Service(name: "op", authorizationServer: .discovered(issuer, security: .httpsOnly))
        let account = AccountID(Client(service: service, id: "app"), name: "mine")
        let rejected = ServerError(step: .token, code: "invalid_client", text: "unknown client", status: 401)
        let busy = ServerError(step: .revocation, code: nil, status: 503, retryAfter: 7)
        let redirect = try EndpointURL("https://op.example/.well-known/openid-configuration")
        func undiscovered(_ answer: ServerError) -> HandshakeError {
            let failure = MetadataFailure(location: redirect, error: .exchange(.server(answer)))
            return .undiscovered(issuer: issuer, failures: [failure])
        }
        return [
            Row(
                error: .configuration(member: "redirect", problem: "p"), code: "invalid_configuration",
                names: ["redirect"]),
            Row(
                error: .exchange(.configuration(member: "scope", problem: "p")), code: "invalid_configuration",
                names: ["scope"]),
            Row(
                error: .exchange(.server(rejected)), code: "invalid_client",
                names: ["token", "invalid_client", "401", "unknown client", "Check the client ID, the secret or key"]),
            Row(
                error: .clientForgotten(account, rejected), code: "client_forgotten",
                names: ["no longer knows this app", "mine", "unknown client", "Register the app again and sign in"]),
            Row(
                error: .exchange(
                    .server(ServerError(step: .pushedAuthorization, code: "invalid_request", status: 400))),
                code: "invalid_request",
                names: ["pushed authorization", "Check the client ID, the redirect URI and the scopes"]),
            Row(
                error: .exchange(.server(ServerError(step: .token, code: "invalid_scope", status: 400))),
                code: "invalid_scope", names: ["Request only scopes"]),
            Row(
                error: .exchange(.server(ServerError(step: .token, code: "unauthorized_client", status: 400))),
                code: "unauthorized_client", names: ["registration"]),
            Row(
                error: .exchange(.server(ServerError(step: .token, code: "invalid_grant", status: 400))),
                code: "invalid_grant", names: ["Sign in again"]),
            Row(
                error: .exchange(.server(ServerError(step: .token, code: nil, status: 404))), code: "http_404",
                names: ["Check the endpoint's URL"]),
            Row(
                error: .exchange(.server(ServerError(step: .resource, code: nil, status: 404))), code: "http_404",
                names: ["Check the address"]),
            Row(error: .exchange(.server(busy)), code: "http_503", names: ["revocation", "503", "7 seconds"]),
            Row(
                error: .exchange(.malformed(step: .keys, member: "keys", expected: "a list", found: "nothing")),
                code: "malformed_response", names: ["keys", "a list", "nothing", "Check the URLs"]),
            Row(
                error: .exchange(.redirected(step: .userInfo, status: 302)), code: "unexpected_redirect",
                names: ["userinfo", "302", "Check"]),
            Row(
                error: .exchange(.refused(Refusal(.issuer, expected: "https://a", found: "https://b"))),
                code: "issuer_mismatch",
                names: ["issuer", "https://a", "https://b", "Check that the URL is written exactly"]),
            Row(
                error: .exchange(.refused(Refusal(.tokenTime, expected: "exp after 2", found: "1"))),
                code: "id_token_time", names: ["exp after 2", "Check the clock"]),
            Row(
                error: .exchange(.refused(Refusal(.unknownKey, expected: "a", found: "b"))), code: "key_unknown",
                names: ["Try again"]),
            Row(
                error: .exchange(.refused(Refusal(.tooManyKeys, expected: "a", found: "17 for ES256"))),
                code: "too_many_keys", names: ["17 for ES256", "kid"]),
            Row(
                error: .exchange(.refused(Refusal(.signature, expected: "valid", found: "invalid"))),
                code: "signature_invalid", names: ["Sign in again", "report"]),
            Row(
                error: .exchange(.refused(Refusal(.foreignOrigin, expected: "https://a", found: "https://b"))),
                code: "foreign_origin", names: ["https://a", "https://b", "not sent"]),
            Row(
                error: .exchange(.unmatchedRedirect(problem: "it has no state")), code: "state_mismatch",
                names: ["callback", "it has no state", "Sign in again"]),
            Row(
                error: .network(.unreachable(host: "op.example", reason: "refused")), code: "unreachable",
                names: ["op.example", "Check"]),
            Row(
                error: .network(.insecure(host: "op.example", reason: "expired")), code: "tls_failed",
                names: ["op.example", "expired", "Check"]),
            Row(
                error: .network(.cut(host: "op.example", reason: "it ended")), code: "connection_cut",
                names: ["op.example", "it ended", "Try again"]),
            Row(
                error: .network(.invalid(host: "op.example", reason: "status 099")), code: "invalid_response",
                names: ["op.example", "status 099", "Check"]),
            Row(
                error: .network(.tooLarge(host: "op.example", limit: 9)), code: "response_too_large",
                names: ["op.example", "9 bytes", "allow more"]),
            Row(
                error: .network(.privateAddress(host: "op.example")), code: "private_address",
                names: ["op.example", "private network", "Check"]),
            Row(
                error: .exchange(.refused(Refusal(.movedEndpoint, expected: "https://a", found: "https://b"))),
                code: "endpoint_moved", names: ["https://a", "https://b", "sign in again"]),
            Row(
                error: .undiscovered(
                    issuer: issuer,
                    failures: [MetadataFailure(location: redirect, error: .network(.timedOut(host: "op.example")))]
                ), code: "timed_out", names: ["https://op.example", "Check", "openid-configuration"]),
            Row(
                error: undiscovered(ServerError(step: .metadata, code: nil, status: 404)), code: "http_404",
                names: ["No metadata was found", "the server's endpoints", "openid-configuration: status 404"]),
            Row(
                error: undiscovered(ServerError(step: .metadata, code: nil, status: 503, retryAfter: 30)),
                code: "http_503", names: ["could not be fetched.\n", "Retry in 30 seconds"]),
            Row(error: .vault(.locked("no key")), code: "vault_locked", names: ["vault", "no key"]),
            Row(
                error: .vault(.busy("/v/accounts")), code: "vault_busy",
                names: ["Another task or process has locked /v/accounts", "Try again"]),
            Row(
                error: .vault(.damaged(what: "the account x", reason: "r")), code: "vault_damaged",
                names: ["the account x", "left as it is", "Restore it"]),
            Row(error: .signInRequired(account, .answerLost), code: "sign_in_required", names: ["mine", "again"]),
            Row(
                error: .signInRequired(account, .notRefreshable), code: "sign_in_required",
                names: ["mine", "the access token cannot be refreshed, because there is no refresh token"]),
            Row(error: .refreshUncertain(account, nil), code: "refresh_uncertain", names: ["mine", "Try again"]),
            Row(
                error: .demanded(.scopes(["write"]), status: 403), code: "insufficient_scope",
                names: ["write", "Sign in"]),
            Row(
                error: .demanded(.stepUp(acrValues: ["gold"], maximumAge: 60), status: 401),
                code: "insufficient_user_authentication", names: ["gold", "60 seconds"]),
            Row(
                error: .resourceMoved(
                    account, resource: try EndpointURL("https://api.example/mcp"),
                    issuers: [try Issuer("https://other.example")]), code: "resource_moved",
                names: [
                    "https://api.example/mcp", "https://op.example", "https://other.example", "mine", "sign in there",
                ]),
            Row(error: .tooManyRedirects(limit: 5), code: "too_many_redirects", names: ["5", "Check"]),
            Row(error: .contentNotReplayable, code: "content_not_replayable", names: ["Send the request again"]),
            Row(error: .signInAbandoned(.denied), code: "access_denied", names: ["declined"]),
            Row(error: .signInAbandoned(.timedOut), code: "timed_out", names: ["Sign in again"]),
        ]
    }

    @Test("a reason that is a whole sentence ends with one full stop")
    func fullStops() {
        let reason = "\(OAuthError.configuration(member: "url", problem: "p"))"
        #expect(reason.hasSuffix("."))
        let errors: [HandshakeError] = [
            .vault(.locked(reason)), .vault(.damaged(what: "w", reason: reason)), .vault(.unavailable(reason)),
            .configuration(member: "m", problem: reason),
        ]
        for error in errors { #expect(!"\(error)".contains("..") && "\(error)".hasSuffix(".")) }
    }

    @Test("a problem of whole sentences is the whole text, and the member is there for programs")
    func sentences() {
        let whole = "The certificate is missing. Pass it."
        let wrong = OAuthError.configuration(member: "certificate", problem: whole)
        #expect("\(wrong)" == whole)
        let errors: [HandshakeError] = [.configuration(member: "certificate", problem: whole), .exchange(wrong)]
        for error in errors { #expect("\(error)" == whole && error.configurationMember == "certificate") }
        for (problem, sentence) in [
            ("it is not set", "“par” is not set."), ("must be auto", "“par” must be auto."),
            ("use auto instead", "par: use auto instead."),
        ] {
            #expect("\(HandshakeError.configuration(member: "par", problem: problem))" == sentence)
        }
        let digits = "42 School has no placeholder “a”."
        #expect("\(HandshakeError.configuration(member: "a", problem: digits))" == digits)
        #expect(HandshakeError.contentNotReplayable.configurationMember == nil)
    }

    @Test(
        "L3: an error has a code for programs, and a text that names the step, the host or account, the member and the cure"
    )
    func table() throws {
        for row in try Self.rows() {
            #expect(row.error.code == row.code)
            #expect(row.code.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil)
            let text = "\(row.error)"
            for name in row.names { #expect(text.contains(name), "\(row.code): “\(text)” without “\(name)”") }
        }
    }
}
