#if Sandbox
import HTTPTypes
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an imitated service's token endpoint answers, with the members where the description has them.
struct TokenAnswers {
    let service: ImitatedService
    let now: Double

    func success(_ tokens: IssuedTokens, idToken: String?) -> Answer {
        let place = service.text("token_place") ?? "/access_token"
        let beside = String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
        var tree = PlacedJSON()
        tree.set(.string(tokens.accessToken), at: place)
        if let token = tokens.refreshToken { tree.set(.string(token), at: beside + "/refresh_token") }
        if let expiry = expiry(tokens) {
            tree.set(expiry, at: beside + "/" + (service.text("expiry_member") ?? "expires_in"))
        }
        let types = service.facts.has("token_types") ? service.texts("token_types") : ["bearer"]
        if let type = types.first(where: { !$0.isEmpty }) { tree.set(.string(type), at: beside + "/token_type") }
        let scopes = ImitatedService.shown(tokens.scope)
        if !scopes.isEmpty {
            let text = scopes.joined(separator: service.scopeDelimiter)
            tree.set(service.flag("scope_list") ? JSON(scopes) : .string(text), at: beside + "/scope")
        }
        if let idToken { tree.set(.string(idToken), at: beside + "/id_token") }
        return answer(tree.json, status: 200)
    }

    /// The expiry as the service writes it; nil where it leaves it out.
    private func expiry(_ tokens: IssuedTokens) -> JSON? {
        if service.flag("zero_expiry_is_never") { return .number(0) }
        guard service.statesExpiry else { return .none }
        let end = tokens.issuedAt + Double(tokens.lifetime)
        return switch service.text("expiry_unit") {
        case "seconds_as_text": .string(String(tokens.lifetime))
        case "milliseconds_since_1970": .number(Int(end * 1_000))
        case "date_time": .string(Date(timeIntervalSince1970: end.rounded()).ISO8601Format())
        default: .number(tokens.lifetime)
        }
    }

    /// An error in the service's words.
    ///
    /// - Parameter isRefresh: whether a refresh was asked for, of whose refusal the service may have words of its own.
    func failure(_ failure: OAuthFailure, isRefresh: Bool) -> Answer {
        let ends = isRefresh && failure.code == "invalid_grant"
        let own = ends ? service.texts("invalid_grant_codes").first : nil
        let codePlace = service.text("error_code_pointer") ?? "/error"
        let textPlace = service.text("error_text_pointer") ?? "/error_description"
        var tree = PlacedJSON()
        tree.set(.string(failure.detail), at: textPlace)
        // Where code and explanation have one place, the explanation says more, unless the code is one of the service's own.
        if !codePlace.isEmpty, codePlace != textPlace || own != nil {
            tree.set(.string(own ?? failure.code), at: codePlace)
        }
        if let place = service.text("error_detail_pointer") { tree.set("E4711", at: place) }
        return answer(tree.json, status: service.facts["error_status"]?.integer ?? failure.status)
    }

    private func answer(_ json: JSON, status: Int) -> Answer {
        guard service.text("token_answer") == "form", let pairs = json.formPairs else {
            return .uncachedJSON(json, status: status)
        }
        return Answer(
            status: status,
            headers: [.contentType: "application/x-www-form-urlencoded", .cacheControl: "no-store"],
            body: Array(FormParameters(pairs).urlEncoded.utf8))
    }
}
#endif
