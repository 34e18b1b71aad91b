import OAuth

/// A parsed redirect to a callback, not matched with an attempt yet (dossier 3.7).
///
/// Only ``CallbackURL/redirect(from:)`` creates one.
public struct ActivationRedirect: Sendable, Equatable {
    /// The state; nil when it is missing.
    let state: String?
    let nextStep: NextStep

    enum NextStep: Sendable, Equatable {
        /// The connection is on; with the token if there is one.
        case complete(UserToken?)
        case accountCreationFailed
        /// Another error, with the service's error type if there is one.
        case failed(String?)
        case configurationCancelled
        /// An unknown step, or none.
        case unknown(String?)

        init(_ values: [String: String]) {
            let step = values["next_step"]
            switch step {
            case "complete":
                let text = values["user_token"] ?? ""
                if text.isEmpty {
                    self = .complete(nil)
                } else if let token = UserToken(Secret(text)) {
                    self = .complete(token)
                } else {
                    // The service would not send an invalid token.
                    self = .unknown(step)
                }
            case "error":
                let type = values["error_type"]
                self = type == "account_creation" ? .accountCreationFailed : .failed(type)
            case "user_cancelled_configuration": self = .configurationCancelled
            default: self = .unknown(step)
            }
        }
    }
}

/// Why a URL was rejected as the redirect of an activation. Nothing has changed.
public enum RedirectRefusal: String, Error, Sendable, Hashable, Codable {
    /// It is not this kit's callback: the app handles it (dossier 5).
    case foreign
    /// It cannot be decoded, or a parameter is duplicated.
    case unreadable
    /// It has no state: it was not made for this attempt.
    case stateMissing = "state_missing"
    /// Its state belongs to another attempt, of this button or another one.
    case otherAttempt = "other_attempt"
    /// No attempt is pending. The redirect was used before, or the user was not sent anywhere.
    case noPendingAttempt = "no_pending_attempt"
}
