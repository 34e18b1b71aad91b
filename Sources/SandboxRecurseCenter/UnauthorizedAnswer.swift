#if Sandbox
import SandboxCore

/// How the Recurse Center stand-in says "unauthorized" at its API. Source: Recurse Center dossier, sections 3 and 6.
public enum UnauthorizedAnswer: Int, Sendable, CaseIterable {
    /// As today: status 401 and `{"message":"unauthorized"}`.
    case status401 = 401
    /// As in 2014: status 200 and the same body.
    case legacy200 = 200
    /// Hidden: status 404 and `{"message":"not_found"}`.
    case maskedAs404 = 404

    var answer: Answer {
        .json(["message": self == .maskedAs404 ? "not_found" : "unauthorized"], status: rawValue)
    }
}
#endif
