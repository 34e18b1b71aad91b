#if Sandbox
import HTTPTypes
import SandboxCore

/// Who the user is, at an imitated service.
struct UserAnswers {
    let service: ImitatedService
    let server: AuthorizationServer

    func answer(_ request: IncomingRequest) -> Answer {
        if let problem = service.missingField(of: request) { return refusal("invalid_request", problem, status: 400) }
        guard let user = server.liveAccess(token(of: request))?.grant.user else {
            return refusal("invalid_token", "\(service.title) demands a valid token in \(demanded).", status: 401)
        }
        let subject = service.text("subject_pointer") ?? "/sub"
        var tree = PlacedJSON()
        if let place = service.text("name_pointer"), place != subject {
            tree.set(.string(place.lowercased().contains("mail") ? user.name : user.displayName), at: place)
        }
        tree.set(.string(user.subject), at: subject)
        return .json(tree.json)
    }

    private var demanded: String {
        if let name = service.text("authorization_header") { return "the field \(name)" }
        return "“Authorization: \(service.text("authorization_scheme") ?? "Bearer") TOKEN”"
    }

    /// The token of a request, where the description has it.
    private func token(of request: IncomingRequest) -> String? {
        if let name = service.text("authorization_header") {
            return HTTPField.Name(name).flatMap { request.headers[$0] }
        }
        let parts = request.headers[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        let scheme = (service.text("authorization_scheme") ?? "Bearer").lowercased()
        guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
        return String(parts[1])
    }

    private func refusal(_ code: String, _ detail: String, status: Int) -> Answer {
        .json(["error": .string(code), "error_description": .string(detail)], status: status)
    }
}
#endif
