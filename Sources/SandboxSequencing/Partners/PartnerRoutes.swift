#if Sandbox
import SandboxCore

/// The two routes by which other servers push to the API (Sequencing dossier, sections 5.11 and 6).
///
/// Their answers are not documented; here they are those of the partner interface: `{"status":0}`, or `status` 1 and
/// `error`.
struct PartnerRoutes: Sendable {
    /// The value of `apiKey` in a query that stands in for a token.
    static let apiKey = "sandbox-partner-key"

    let access: Access

    var routes: [Route] {
        [
            Route(
                "POST", path: "/UserAlertNotify", note: "a notice on the site; Bearer", answer: access.answering(notify)
            ),
            Route(
                "POST", path: "/v1/TpUpdateExternalJob", note: "a partner's job result; Bearer or apiKey=\(Self.apiKey)"
            ) { [access] request in
                do throws(APIRefusal) {
                    if request.query["apiKey"] != Self.apiKey { _ = try access.caller(request) }
                    return try Self.update(try Access.object(request))
                } catch {
                    return error.answer
                }
            },
        ]
    }

    private func notify(
        _ request: IncomingRequest, _ caller: Access.Caller
    ) throws(APIRefusal) -> Answer {
        let notice = try Access.object(request)
        guard case .bool? = notice["SendOnSite"], let text = notice["PlainTextBody"]?.scalarText, !text.isEmpty else {
            return Self.failure("SendOnSite or PlainTextBody is missing.")
        }
        return .json(["status": 0])
    }

    /// `status` is 0 while running and 1 when completed; then `completionStatus` is one of 0 to 3.
    private static func update(_ result: JSON) throws(APIRefusal) -> Answer {
        guard result["sequencingJobId"]?.scalarText != nil else { return failure("sequencingJobId is missing.") }
        switch (result["status"]?.integer, result["completionStatus"]?.integer) {
        case (0, nil), (1, 0), (1, 1), (1, 2), (1, 3): return .json(["status": 0])
        case (0, _): return failure("A running job has no completionStatus.")
        case (1, _): return failure("completionStatus is not one of 0 to 3.")
        default: return failure("status is not 0 or 1.")
        }
    }

    private static func failure(_ text: String) -> Answer {
        .json(["status": 1, "error": .string(text)])
    }
}
#endif
