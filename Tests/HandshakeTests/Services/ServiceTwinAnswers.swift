import Crypto
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization

/// What the twin's token endpoint answers.
extension ServiceTwin {
    var now: Double { time.now() }

    /// When the tokens of the twin expire; nil when unknown.
    var expiry: Double? {
        if flag("zero_expiry_is_never") { return nil }
        guard let absent = facts["absent_expiry"] else { return now + 3_600 }
        return (absent as? Int).map { now + Double($0) }
    }

    func success(isRefresh: Bool) -> ResponseMessage {
        let rotates = facts["refresh_rotates"] as? Bool ?? true
        let issued = state.withLock { state -> State in
            state.issued += 1
            state.accessToken = "access-\(state.issued)"
            if issuesRefreshTokens, !isRefresh || rotates { state.refreshToken = "refresh-\(state.issued)" }
            return state
        }
        var answer = PointerTree()
        let place = text("token_place") ?? "/access_token"
        let beside = place.prefix(upTo: place.lastIndex(of: "/") ?? place.startIndex)
        answer.set(issued.accessToken ?? "", at: place)
        if issuesRefreshTokens, !isRefresh || rotates {
            answer.set(issued.refreshToken ?? "", at: beside + "/refresh_token")
        }
        if let expiry = statedExpiry { answer.set(expiry, at: beside + "/" + (text("expiry_member") ?? "expires_in")) }
        let types = facts["token_types"] as? [String] ?? ["bearer"]
        if let type = types.first(where: { !$0.isEmpty }) { answer.set(type, at: beside + "/token_type") }
        if !scopes.isEmpty {
            let scope: Any = flag("scope_list") ? scopes : scopes.joined(separator: text("scope_delimiter") ?? " ")
            answer.set(scope, at: beside + "/scope")
        }
        if flag("ignores_id_token") {
            answer.set(text("name") == "tumblr" ? false : "not.a.token", at: beside + "/id_token")
        } else if flag("discovers") {
            answer.set(idToken(for: issued, isRefresh: isRefresh), at: beside + "/id_token")
        }
        return response(200, answer.json)
    }

    /// The expiry as the service writes it; nil when it leaves it out.
    private var statedExpiry: Any? {
        if flag("zero_expiry_is_never") { return 0 }
        if facts["absent_expiry"] != nil { return nil }
        switch text("expiry_unit") {
        case "seconds_as_text": return "3600"
        case "milliseconds_since_1970": return Int((now + 3_600) * 1_000)
        case "date_time": return ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: now + 3_600))
        default: return 3_600
        }
    }

    /// The code of the twin's error as a client should report it; nil where the service has none.
    var failureCode: String? {
        guard text("error_code_pointer") != "" else { return nil }
        return text("name") == "withings" ? "503" : "server_says_no"
    }

    /// The explanation, with the service's own code behind it where it has one.
    var failureText: String { "Not today" + (text("error_detail_pointer") == nil ? "" : " (E4711)") }

    var failure: ResponseMessage {
        var answer = PointerTree()
        if let code = failureCode {
            answer.set(text("name") == "withings" ? 503 : code, at: text("error_code_pointer") ?? "/error")
        }
        if let place = text("error_detail_pointer") { answer.set("E4711", at: place) }
        answer.set("Not today", at: text("error_text_pointer") ?? "/error_description")
        if text("name") == "slack" { answer.set(false, at: "/ok") }
        if text("name") == "gumroad" { answer.set(false, at: "/success") }
        if text("name") == "twitch" { answer.set(400, at: "/status") }
        return response(facts["error_status"] as? Int ?? 400, answer.json)
    }

    /// The answer to a refresh that the service refuses with a code, which stands where its codes are.
    func refusal(_ code: String) -> ResponseMessage {
        var answer = PointerTree()
        if text("name") == "twitch" {
            answer.set(400, at: "/status")
            answer.set("Bad Request", at: "/error")
        }
        answer.set(code, at: text("error_code_pointer") ?? "/error")
        return response(facts["error_status"] as? Int ?? 400, answer.json)
    }

    private func response(_ status: Int, _ content: Any) -> ResponseMessage {
        guard text("token_answer") == "form", let members = content as? [String: Any] else {
            return .json(status, content as? [String: Any] ?? [:])
        }
        let pairs = members.map { name, value in
            "\(name)=" + ("\(value)".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }
        return ResponseMessage(
            head: HTTPResponse(
                status: HTTPResponse.Status(code: status),
                headerFields: [.contentType: "application/x-www-form-urlencoded"]),
            content: Array(pairs.joined(separator: "&").utf8))
    }

    private func idToken(for issued: State, isRefresh: Bool) -> String {
        var claims: [String: Any] = [
            "iss": tokenIssuer ?? "", "sub": "user-1", "aud": "app", "iat": Int(now), "exp": Int(now) + 600,
            "auth_time": 1_700_000_000,
        ]
        if !isRefresh { claims["nonce"] = issued.nonce }
        if let name = text("tenant_claim") { claims[name] = Self.tenant }
        let parts = [["alg": "ES256", "kid": "one"], claims].map { (part: [String: Any]) -> String in
            Base64URL.encode(Array((try? JSONSerialization.data(withJSONObject: part)) ?? Data()))
        }
        let input = parts.joined(separator: ".")
        let signature = (try? key.signature(for: Data(input.utf8)).rawRepresentation) ?? Data()
        return "\(input).\(Base64URL.encode(Array(signature)))"
    }

    static func form(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { (part: Substring) -> String in
                part.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? "undecodable"
            }
            fields[decoded.first ?? ""] = decoded.count > 1 ? decoded[1] : ""
        }
        return fields
    }

    /// The fields of a form or of a JSON object.
    static func body(_ request: RequestMessage) -> [String: String] {
        guard case .bytes(let bytes) = request.content else { return [:] }
        if bytes.first == UInt8(ascii: "{") {
            return (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: String] ?? [:]
        }
        return form(String(decoding: bytes, as: UTF8.self))
    }
}

/// A JSON value that is built from places in it: a part that is the number 0 is the first element of a list.
struct PointerTree {
    private var children: [String: PointerTree] = [:]
    private var value: Any?

    mutating func set(_ value: Any, at pointer: some StringProtocol) {
        let parts = pointer.split(separator: "/", maxSplits: 1)
        guard let first = parts.first.map({ String($0) }) else {
            self.value = value
            return
        }
        children[first, default: PointerTree()].set(value, at: parts.count > 1 ? parts[1] : "")
    }

    var json: Any {
        if let value { return value }
        if children.keys.elementsEqual(["0"]), let only = children["0"] { return [only.json] }
        return children.mapValues(\.json)
    }
}
