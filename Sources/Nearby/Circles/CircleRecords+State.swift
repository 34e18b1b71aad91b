import Foundation
import OAuth

extension CircleRecords {
    /// What the user is in the circle.
    struct State: Sendable, Codable {
        var address: String
        var circle: String
        var service: String
        var number: UInt32
        var name: String
        var batch: String
        /// Secret.
        var bearer: String
        /// Seconds since 1970.
        var expires: Int64
        /// The private keys of the identity. Secret.
        var keys: Data
        var generation: UInt32 = 1
        /// The published identity.
        var identity = Data()
        /// The seed of what is sent in this circle. Secret. Nil before the first publication; earlier versions had one for everything.
        var seed: Data?
        /// The sequence of the last key record that was sent or may have been.
        var sequence: UInt32 = 0
        var epoch: UInt32 = 0
        /// When an epoch was the reason for a new seed last: seconds since 1970.
        var epochRenewed: Double?
        /// Before when a watch does not synchronise, although something is due: seconds since 1970.
        var retryFrom: Double?
        /// The last day whose key is published.
        var publishedUntil: UInt32 = 0
        /// The digest of that key: a seed that was renewed meanwhile is published again.
        var publishedKey: Data?
        /// When keys are published next, and when the tables are fetched next: seconds since 1970.
        var nextPublish = 0.0
        var nextSync = 0.0
        /// When the tables were fetched last.
        var synced = 0.0
        var isPaused = false
        /// From whom the user hides, at the server.
        var hidden: Set<UInt32> = []
        /// Whom the user has forgotten: they are not recognised, and not fetched again.
        var blocked: Set<UInt32> = []
        var membersTag: String?
        var keysTag: String?
        /// Waves that wait, and the day of which each person was waved at last.
        var waves: [PendingWave] = []
        var waved: [UInt32: UInt32] = [:]
        /// Waves whose answer was told.
        var answered: [AnsweredWave]?
        /// What the user was to others before a new seed or identity, newest first. Secret.
        var formerKeys: [FormerKeys]?
        /// Whether no other member can have a key of the seed.
        var isSeedUnsent: Bool?
        /// Why the last synchronisation failed, for `doctor`; nil when it did not.
        var trouble: String?
        /// Whether the server may not have the identity yet: it was rotated, and no answer came.
        var isIdentityPending: Bool?
        /// Whether the server has rejected the bearer.
        var isSignedOut: Bool?
        /// The members from whom the user hides, and those from whom the user no longer does, that the server must still be told
        /// of: in this order.
        var unsentHides: Set<UInt32>?
        var unsentUnhides: Set<UInt32>?
        /// Whether this device has fetched from whom the user hides, since it joined.
        var hasFetchedHidden: Bool?
        /// How often the user has ended a hide, since this device joined.
        var unhideCount: Int?
        /// Whether the next synchronisation fetches everything: the user no longer forgets a member.
        var mustFetchWhole: Bool?
        /// Whether the server has withdrawn all keys that were sent, or may have been.
        var isWithdrawn: Bool?
        /// Whether the tables were read with a clock that is off.
        var isClockOff: Bool?
        /// Whether the server shows the user's photo and batch, as it said last; nil before it was asked.
        var showsPhoto: Bool?
        var showsBatch: Bool?
        /// Whether the server has a photo of the user, shown or not; nil before it was asked.
        var hasPhoto: Bool?
        /// What the server must still be told of these.
        var unsentPhoto: Bool?
        var unsentBatch: Bool?
        /// Whether members can wave at the user; nil counts as true.
        var takesWaves: Bool?
        /// Whether the photos of the others are not fetched.
        var skipsPhotos: Bool?
        /// How often rows of members have come, and how often they had when all packs of photos were asked about last.
        var memberChanges: Int?
        var photosAskedAt: Int?
        /// When a table that could not be read was replaced, and its pins were lost: seconds since 1970.
        var pinsLost: Double?
        /// Whether a synchronisation has ended with that; nil where nothing was lost.
        var isLossReported: Bool?
        /// Whether a table is stored, so that one that is not there is lost; earlier versions did not note it.
        var hasTable: Bool?

        /// Whether the server must still be told that the user has paused.
        var mustWithdraw: Bool { isPaused && sequence > 0 && isWithdrawn != true }

        /// Whether the server must still be told something.
        var hasNews: Bool {
            unsentHides?.isEmpty == false || unsentUnhides?.isEmpty == false || mustWithdraw
                || isIdentityPending == true || unsentPhoto != nil || unsentBatch != nil
        }

        /// Whether this is the membership of an earlier state, and the user has decided nothing about hides since.
        func hasSameHides(as earlier: Self) -> Bool {
            (bearer, hidden, unhideCount) == (earlier.bearer, earlier.hidden, earlier.unhideCount)
        }

        /// Whether a row of a member has come since all packs of photos were asked about.
        var mustAskForPhotos: Bool { photosAskedAt != memberChanges ?? 0 }

        /// That pins were lost within a week: a watch in the background may have no reader earlier.
        func loss(at now: Double) -> CircleProblem? {
            guard let pinsLost, now - pinsLost <= Self.lossNotice else { return nil }
            return .pinsLost(circle: quoted(circle, limit: 80))
        }

        private static let lossNotice = 7 * JoinedCircle.secondsOfDay
    }
}
