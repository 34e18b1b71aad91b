#if Server
import Handshake
import Hummingbird
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The `POST` by which a page of the app signs a user out: `{"token"}`, answered with what was revoked.
struct SignOutForm: Sendable {
    let reader: ContentReader
    let tokens: AntiForgeryTokens

    /// Checks that a request has the anti-forgery token of the user for the service.
    ///
    /// - Throws: ``RequestRefusal/staleToken`` for another token or none; otherwise what reading throws.
    func check(_ request: Request, of user: String, for service: Service) async throws {
        let content = try await reader.content(of: request, type: "application/json", limit: 4096)
        let given = (try? JSONValue(parsing: Array(content)))?.object?["token"]?.string ?? ""
        try await tokens.check(given, of: user, for: service.name)
    }

    /// Forgets an account whose record is damaged, and answers. Its tokens cannot be read, so they cannot be revoked.
    func forgetDamaged(
        _ user: String, of service: Service, in handshake: Handshake, adding members: JSONObject = [:]
    ) async throws -> Response {
        try await handshake.forget(user, of: service.name)
        var body = members
        body["not_revocable"] = .array([.string(RevocationRequest.TokenKind.refreshToken.rawValue)])
        return answer(nil, adding: body)
    }

    /// The answer: status 502 while the account is still there.
    ///
    /// - Parameters:
    ///   - report: nil when there was no account.
    ///   - members: what this route says beyond that.
    func answer(_ report: SignOutReport?, adding members: JSONObject = [:]) -> Response {
        let names = { (kinds: [RevocationRequest.TokenKind]?) in
            JSONValue.array((kinds ?? []).map { .string($0.rawValue) })
        }
        var body: JSONObject = [
            "revoked": names(report?.revoked), "not_revocable": names(report?.notRevocable),
            "remaining": names(report?.remaining),
        ]
        for (name, value) in members { body[name] = value }
        return .json(Data(JSONValue.object(body).json.utf8), status: report?.isForgotten ?? true ? .ok : .badGateway)
    }
}
#endif
