import OAuth

/// What a redirect says (dossier 3.7).
struct ActivationRedirect: Sendable, Equatable {
    /// The state that came back; nil when none did.
    let state: String?
    let nextStep: NextStep

    enum NextStep: Sendable, Equatable {
        /// The connection is on; the token where one came along.
        case complete(UserToken?)
        case accountCreationFailed
        /// The service's own word for another error; nil when it gave none.
        case failed(String?)
        case configurationCancelled
        /// A step that is not known, or none.
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
                    // What cannot be a token was not made by the service.
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

/// Why a URL was not taken for the answer to an activation. Nothing has changed.
public enum RedirectRefusal: String, Error, Sendable, Hashable, Codable {
    /// It goes to another address: it is not this kit's to handle (dossier 5).
    case foreign
    /// It cannot be decoded, or says something twice.
    case unreadable
    /// It carries no state: its maker does not know this attempt.
    case stateMissing = "state_missing"
    /// Its state is another attempt's: an earlier one of this button, or another button's.
    case otherAttempt = "other_attempt"
    /// No attempt is pending: it was used before, or the user has not been sent anywhere.
    case noPendingAttempt = "no_pending_attempt"
}
