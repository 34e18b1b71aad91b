import Logging

extension PlaceEvent {
    /// Writes the event to a log, without a place and without a token.
    func write(to log: Logger) {
        switch self {
        case .recorded(_, let delay): log.debug("a crossing was recorded", metadata: ["delay": "\(delay)"])
        case .uploadAttempted: log.debug("an upload began")
        case .uploaded(_, let delay): log.debug("a crossing was uploaded", metadata: ["delay": "\(delay)"])
        case .uploadFailed(_, let error, _): log.warning("a crossing waits", metadata: ["reason": "\(error.code)"])
        case .discarded(_, let reason): log.info("a crossing was discarded", metadata: ["reason": "\(reason.rawValue)"])
        case .regionsChanged(let regions): log.debug("the areas changed", metadata: ["count": "\(regions.count)"])
        case .statusChanged(.active(let regions)): log.info("areas are monitored", metadata: ["count": "\(regions)"])
        case .statusChanged(.inactive(let missing)):
            log.info("no areas are monitored", metadata: ["missing": "\(missing.rawValue)"])
        case .signInRequired: log.warning("the user token was refused")
        case .synchronizationFailed(let error):
            log.warning("a synchronization failed", metadata: ["reason": "\(error.code)"])
        case .queueDamaged: log.error("a record of the queue cannot be read")
        }
    }
}
