public import Geofences
public import Handshake

/// What happened to an account's areas and crossings (dossier 6.8). It says how late, and why.
public enum PlaceEvent: Sendable, Hashable {
    /// A crossing is durable; seconds since it occurred.
    case recorded(AreaCrossing, delay: Double)
    /// Its upload began; seconds since it was recorded.
    case uploadAttempted(AreaCrossing, delay: Double)
    /// The service has it; seconds since the attempt.
    case uploaded(AreaCrossing, delay: Double)
    /// It waits for the next synchronization; seconds since the attempt.
    case uploadFailed(AreaCrossing, ConnectError, delay: Double)
    /// It is not uploaded, and why.
    case discarded(AreaCrossing, DiscardReason)
    /// These areas are to be monitored from now on.
    case regionsChanged([Geofence])
    /// Whether areas are monitored, and what is missing.
    case statusChanged(Status)
    /// The service refused the user token. The queue is kept; the next synchronization with another token uploads it.
    case signInRequired
    /// A synchronization failed, and why. What waits stays.
    case synchronizationFailed(ConnectError)
    /// A record of the queue cannot be read. It is left as it is, and the others are used;
    /// ``PlacesSynchronizer/removeDamagedRecords()`` removes it.
    case queueDamaged(VaultError)

    /// Why a crossing is not uploaded.
    public enum DiscardReason: String, Sendable, Hashable, Codable {
        /// It is older than the service would make use of.
        case expired
        /// The trigger asks for the other direction.
        case otherDirection = "other_direction"
        /// No connection of the user has the trigger any more.
        case unknownSubscription = "unknown_subscription"
        /// The user switched the connection's areas off here.
        case switchedOff = "switched_off"
        /// The connection is off.
        case disabled
        /// The service refuses this crossing alone.
        case rejected
        /// Another user has signed in since.
        case otherUser = "other_user"
    }

    /// Whether areas are monitored (dossier 6.6, Android).
    public enum Status: Sendable, Hashable {
        case active(regions: Int)
        case inactive(Missing)

        /// What is missing.
        public enum Missing: String, Sendable, Hashable, Codable {
            case connections, areas, permission
            case signIn = "sign_in"
        }
    }
}
