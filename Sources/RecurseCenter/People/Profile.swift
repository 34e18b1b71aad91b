import Handshake
public import OAuth

/// A person at the Recurse Center, read from either shape (dossier 4.2 and 4.3).
public struct Profile: Sendable, Hashable, Identifiable {
    public let id: PersonID
    public let firstName: String
    public let lastName: String
    /// The full name; made of first and last name when the service omits it.
    public let name: String
    public let slug: String?
    public let email: String?
    public let github: String?
    public let pronouns: String?
    public let zulipID: Int64?
    public let company: String?
    public let location: Location?
    /// The person's stays, in the service's order.
    public let stints: [Stint]
    /// The photo's URL or path, as the service sends it. See ``RecurseCenter/photoURL(of:)``.
    public let photo: String?
    /// Whether the service states that there is no photo (`has_photo`, dossier 4.4).
    public let isKnownToLackPhoto: Bool
    /// The total number of results of the search that returned this profile.
    public let resultsCount: Int64?
    /// All members of the answer.
    public let members: JSONObject

    /// Reads a person. Only `id` is required; other members may be absent, null or of another type.
    ///
    /// - Throws: ``RecurseCenterError/malformed(answer:member:expected:found:)``.
    public init(_ value: JSONValue) throws(RecurseCenterError) {
        try self.init(Members(value, answer: "profiles"))
    }

    init(_ members: Members) throws(RecurseCenterError) {
        guard let id = members.integer("id").flatMap({ PersonID($0) }) else {
            throw members.wrong("id", expected: "a positive number")
        }
        self.id = id
        firstName = members.text("first_name") ?? ""
        lastName = members.text("last_name") ?? ""
        let parts = [firstName, lastName].filter { !$0.isEmpty }.joined(separator: " ")
        name = members.text("name") ?? (parts.isEmpty ? id.description : parts)
        slug = members.text("slug")
        email = members.text("email")
        github = members.text("github")
        pronouns = members.text("pronouns")
        zulipID = members.integer("zulip_id")
        company = members.object("company")?.text("name")
        location = members.object("current_location").flatMap { try? Location($0) }
        stints = Self.stints(members)
        photo = members.text("image_path") ?? members.text("image")
        isKnownToLackPhoto = members["has_photo"]?.bool == false
        resultsCount = members.integer("results_count")
        self.members = members.members
    }

    /// Reads the stays. Only the representation of 2014 has `batch_id`.
    private static func stints(_ members: Members) -> [Stint] {
        guard members.members["batch_id"] != nil || members.members["batches"] != nil || members.members["batch"] != nil
        else { return members.elements("stints").map { Stint($0) } }
        let main = members.object("batch").flatMap { try? Batch($0) }
        let others = members.elements("batches").compactMap { try? Batch($0) }
        let stays = members.elements("stints").map { Stint(legacy: $0, batches: [main].compactMap(\.self) + others) }
        if stays.contains(where: { $0.batch != nil }) { return stays }
        return stays + [main].compactMap(\.self).map { Stint(staying: $0, from: $0.startDate, to: $0.endDate) }
    }

    public static func == (one: Profile, other: Profile) -> Bool {
        one.id == other.id && one.members == other.members
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension Profile {
    /// The label of the person's batch (dossier 4.3). It is the batch of the stay in progress, else of the latest stay;
    /// else the stay's title, else its kind; empty without stays.
    public var batchLabel: String {
        let ordered = stints.sorted { one, other in
            if one.isInProgress != other.isInProgress { return one.isInProgress }
            guard let start = one.startDate else { return false }
            return other.startDate.map { start > $0 } ?? true
        }
        if let batch = ordered.lazy.compactMap(\.batch).first { return batch.label }
        guard let stint = ordered.first else { return "" }
        return stint.title ?? stint.kind.rawValue.prefix(1).uppercased() + stint.kind.rawValue.dropFirst()
    }
}

extension RecurseCenter {
    /// A person's profile.
    ///
    /// - Throws: ``RecurseCenterError/unknownPerson(_:)`` when there is no such person;
    ///   ``RecurseCenterError/malformed(answer:member:expected:found:)`` for a malformed answer;
    ///   ``RecurseCenterError/account(_:)``; `CancellationError`.
    public func profile(_ reference: ProfileReference) async throws -> Profile {
        let path = (shape == .profiles ? "profiles/" : "people/") + (try reference.segment)
        guard let answer = try await api.json(.get(path)) else {
            throw RecurseCenterError.unknownPerson(reference)
        }
        let profile = try Profile(Members(answer, answer: path))
        if case .id(let id) = reference, profile.id != id {
            throw RecurseCenterError.malformed(
                answer: path, member: "id", expected: id.description, found: profile.id.description)
        }
        return profile
    }
}
