extension ConnectController {
    /// An update of a running controller.
    public enum Update: Sendable {
        /// The activation. It can be stored, and given to a controller of the next process.
        case activation(ConnectActivation)
        /// The outcome of an attempt, with the token if there is one.
        case outcome(ConnectActivation.Outcome, UserToken?)
        /// A URL was rejected.
        case refused(RedirectRefusal)
        /// The token could not be stored or deleted; it is used from memory meanwhile.
        case problem(ConnectError)
    }
}
