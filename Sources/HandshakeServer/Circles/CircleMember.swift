#if Server
import Circles
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A member of the service, as the service says.
public struct CircleApplicant: Sendable, Hashable {
    /// The member's number at the service.
    public var number: UInt32
    public var name: String
    /// The batch, or another group; empty for none.
    public var batch: String
    /// A JPEG image of at most ``maximumPhotoSize`` bytes; nil for none.
    ///
    /// A longer one is left out: the page on which the user joins says so, and the log of the routes says how many there are. The
    /// server has no image library, so the app shrinks photos before it hands them over.
    public var photo: [UInt8]?
    /// Whether the photo was left out because it is too long.
    private(set) var hasLargePhoto = false

    /// The maximum size of a photo in bytes: 4,096.
    public static var maximumPhotoSize: Int { PhotoPack.maximumPhotoSize }

    public init(number: UInt32, name: String, batch: String = "", photo: [UInt8]? = nil) {
        self.number = number
        self.name = name
        self.batch = batch
        self.photo = photo
    }

    /// The applicant without a photo that is too long.
    var withoutLargePhoto: CircleApplicant {
        guard let photo, photo.count > Self.maximumPhotoSize else { return self }
        var applicant = self
        (applicant.photo, applicant.hasLargePhoto) = (nil, true)
        return applicant
    }
}

/// What a circle's server stores of a member (circles dossier 4): nothing of whom the member has met.
struct CircleMember: Sendable {
    let number: UInt32
    var name = ""
    var batch = ""
    var photo: [UInt8]?
    /// Whether the service has a photo that is too long.
    var hasLargePhoto = false
    /// The public identity; nil before the member has published one.
    var identity: MemberRecord?
    /// The newest day keys; nil when there are none.
    var keys: KeyRecord?
    /// Digests of bearers, and when each expires: seconds since 1970.
    var bearers: [Data: Double] = [:]
    /// The ``MemberCircle/State/observedTime`` of the first cleaning that found each of these bearers expired.
    var expiredBearers: [Data: Double] = [:]
    /// The ``MemberCircle/State/observedTime`` of the first cleaning that found no valid bearer.
    ///
    /// Nil before one did, and after the member has joined again, or a cleaning has found a valid bearer.
    var signedOut: Double?
    /// Whom the member hides from.
    var hidden: Set<UInt32> = []
    var showsPhoto = true
    var showsBatch = true
    /// The day of joining, counted from 1970.
    var joined: UInt32 = 0
    /// When the row changed last, as a revision of the circle.
    var rowRevision: UInt64 = 0
    /// When the day keys changed last.
    var keysRevision: UInt64 = 0
    /// When the member left or was removed: seconds since 1970. What is left is a tombstone.
    ///
    /// Zero when that is not kept any more.
    var gone: Double?
    /// Whether the member was removed, so that requests get that answer and joining is refused.
    ///
    /// It lasts until the operator readmits the number.
    var isRemoved = false

    init(number: UInt32) {
        self.number = number
    }

    /// Whether others see a row.
    var hasRow: Bool { gone == nil && identity != nil }

    /// Whether others get day keys.
    var hasKeys: Bool { hasRow && keys.map { !$0.isWithdrawal } ?? false }

    /// The tombstone of a member who left or was removed.
    func tombstone(at now: Double, isRemoved: Bool, revision: UInt64) -> CircleMember {
        var left = CircleMember(number: number)
        left.gone = now
        left.isRemoved = isRemoved
        // Those of a removed member get that answer for as long as the tombstone stays.
        left.bearers = isRemoved ? bearers : [:]
        left.rowRevision = revision
        left.keysRevision = revision
        return left
    }

    /// What is kept of a removed member whose tombstone has expired, and of a removed number that had not joined.
    ///
    /// It is the number, and that it was removed.
    var forgotten: CircleMember {
        var kept = CircleMember(number: number)
        kept.gone = 0
        kept.isRemoved = true
        return kept
    }

    /// Notes which bearers have expired, and removes those that did so 30 days ago.
    ///
    /// They stay so long because a clock that was set ahead may be set back: then they are valid again.
    mutating func cleanBearers(at now: Double, observedTime: Double) {
        let expired = bearers.filter { $0.value <= now }
        signedOut = expired.count == bearers.count ? signedOut ?? observedTime : nil
        let known = expiredBearers
        expiredBearers = [:]
        for digest in expired.keys {
            let first = known[digest] ?? observedTime
            if observedTime - first > MemberCircle.retention {
                bearers[digest] = nil
            } else {
                expiredBearers[digest] = first
            }
        }
    }

    /// Whether no more than that is left, which others are not told.
    var isForgotten: Bool { isRemoved && rowRevision == 0 }
}

extension CircleMember {
    /// The record as stored.
    var stored: [UInt8] {
        var members: JSONObject = [
            "version": .number("1"), "number": .number("\(number)"), "name": .string(name), "batch": .string(batch),
            "joined": .number("\(joined)"), "row_revision": .number("\(rowRevision)"),
            "keys_revision": .number("\(keysRevision)"), "shows_photo": .bool(showsPhoto),
            "shows_batch": .bool(showsBatch), "large_photo": .bool(hasLargePhoto), "removed": .bool(isRemoved),
            "hidden": .array(hidden.sorted().map { .number("\($0)") }),
            "bearers": .array(bearers.keys.map { storedBearer($0) }),
        ]
        members["photo"] = photo.map { .string(Base64URL.encode($0)) }
        members["identity"] = identity.map { .string(Base64URL.encode($0.bytes)) }
        members["keys"] = keys.map { .string(Base64URL.encode($0.bytes)) }
        members["signed_out_observed"] = signedOut.map { .number("\($0)") }
        members["gone"] = gone.map { .number("\($0)") }
        return Array(JSONValue.object(members).json.utf8)
    }

    private func storedBearer(_ digest: Data) -> JSONValue {
        var bearer: JSONObject = ["digest": .string(Base64URL.encode(digest))]
        bearer["expires"] = bearers[digest].map { .number("\($0)") }
        bearer["expired_observed"] = expiredBearers[digest].map { .number("\($0)") }
        return .object(bearer)
    }

    /// Reads a stored record; nil when it is not one of this version.
    init?(stored contents: [UInt8]) {
        guard let members = (try? JSONValue(parsing: contents))?.object, members["version"]?.integer == 1,
            let number = members["number"]?.integer.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.init(number: number)
        func bytes(_ name: String) -> [UInt8]? {
            members[name]?.string.flatMap { Base64URL.decode($0) }.map { Array($0) }
        }
        func revision(_ name: String) -> UInt64 { members[name]?.integer.flatMap { UInt64(exactly: $0) } ?? 0 }
        name = members["name"]?.string ?? ""
        batch = members["batch"]?.string ?? ""
        joined = members["joined"]?.integer.flatMap { UInt32(exactly: $0) } ?? 0
        rowRevision = revision("row_revision")
        keysRevision = revision("keys_revision")
        showsPhoto = members["shows_photo"]?.bool ?? true
        showsBatch = members["shows_batch"]?.bool ?? true
        hasLargePhoto = members["large_photo"]?.bool ?? false
        isRemoved = members["removed"]?.bool ?? false
        photo = bytes("photo")
        identity = bytes("identity").flatMap { try? MemberRecord($0) }
        keys = bytes("keys").flatMap { try? KeyRecord($0) }
        signedOut = members["signed_out_observed"]?.double
        gone = members["gone"]?.double
        for value in members["hidden"]?.array ?? [] {
            if let number = value.integer.flatMap({ UInt32(exactly: $0) }) { hidden.insert(number) }
        }
        for value in members["bearers"]?.array ?? [] {
            guard let digest = value.object?["digest"]?.string.flatMap({ Base64URL.decode($0) }),
                let expiry = value.object?["expires"]?.double
            else { continue }
            bearers[Data(digest)] = expiry
            expiredBearers[Data(digest)] = value.object?["expired_observed"]?.double
        }
    }
}

extension JSONValue {
    /// A finite number; nil for other values.
    fileprivate var double: Double? {
        guard case .number(let spelling) = self, let value = Double(spelling), value.isFinite else { return nil }
        return value
    }
}
#endif
