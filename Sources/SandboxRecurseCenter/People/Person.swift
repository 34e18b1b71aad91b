#if Sandbox
import SandboxCore

/// One person of the Recurse Center stand-in, from which both wire shapes are made.
struct Person: Sendable {
    /// Which picture there is of a person.
    enum Photo: Sendable {
        /// One of their own, behind a redirect.
        case own
        /// One of their own, at an address without scheme and host.
        case hostRelative
        /// The stand-in for those who have none.
        case placeholder
        /// Nothing at all in today's shape; the legacy shape still names the placeholder.
        case none
    }

    let id: Int
    let firstName: String
    let lastName: String
    var email: String?
    var github: String?
    var photo = Photo.own
    var location: Location?
    var company: String?
    var stints: [Stint] = []

    var name: String { "\(firstName) \(lastName)" }

    /// The stay that counts most: the latest one with a batch.
    private var batch: Batch? {
        stints.filter { $0.batch != nil }.max { $0.startDate < $1.startDate }?.batch
    }

    private var slug: String {
        "\(id)-" + "\(firstName)-\(lastName)".lowercased().filter { $0.isASCII && ($0.isLetter || $0 == "-") }
    }
}

extension Person {
    /// The legacy shape of `/people` (Recurse Center dossier, section 4.2).
    func legacy(origin: String) -> JSON {
        let hasPhoto = photo == .own || photo == .hostRelative
        let image = hasPhoto ? "/assets/people/\(id)_150-0123abcd.jpg" : "/assets/people/no_photo_150.jpg"
        let batches = stints.compactMap(\.batch)
        let stays = stints.compactMap { stint -> JSON? in
            stint.batch.map { batch in
                [
                    "batch_id": .number(batch.id), "start_date": .string(stint.startDate),
                    "end_date": JSON(stint.endDate),
                ]
            }
        }
        return [
            "id": .number(id), "first_name": .string(firstName), "middle_name": "", "last_name": .string(lastName),
            "email": JSON(email), "twitter": nil, "github": JSON(github),
            "batch_id": batch.map { .number($0.id) } ?? .null, "phone_number": "", "has_photo": .bool(hasPhoto),
            "interests": nil, "before_rc": nil, "during_rc": nil,
            "is_faculty": .bool(stints.contains { $0.kind == .employment }),
            "is_hacker_schooler": .bool(batch != nil), "job": nil, "image": .string(origin + image),
            "batch": batch?.legacy ?? .null, "pseudonym": .string("Example Pseudonym \(id)"), "current_location": nil,
            "stints": .array(stays),
            "batches": .array(batches.map { ["id": .number($0.id), "name": .string($0.name)] }),
            "projects": [["title": "Handshake", "description": "", "url": "https://example.test/"]],
            "links": [["title": "Home", "url": "https://example.test/"]], "skills": ["Swift"], "bio": nil,
        ]
    }

    /// Today's shape of `/profiles` (Recurse Center dossier, section 4.3).
    func profile(origin: String, resultsCount: Int = 1) -> JSON {
        let photoAddress: JSON =
            switch photo {
            case .own: .string("\(origin)/rails/active_storage/representations/redirect/BLOB\(id)/VARIANT/\(id).jpg")
            case .hostRelative: .string("/assets/people/\(id)_150.jpg")
            case .placeholder: .string("\(origin)/assets/people/no_photo_150.jpg")
            case .none: .null
            }
        var json: JSON = [
            "id": .number(id), "first_name": .string(firstName), "last_name": .string(lastName), "name": .string(name),
            "name_hl": .string(name), "slug": .string(slug), "email": JSON(email), "github": JSON(github),
            "twitter": nil, "linkedin": nil, "pronouns": "they/them", "zulip_id": .number(id + 1000),
            "phone_number": nil, "unformatted_phone_number": nil, "zoom_url": nil, "personal_site_url": nil,
            "blog_url": nil, "cluster_username": nil, "joy_of_computing_username": nil, "employer_role": nil,
            "company": company.map { ["id": .number(id + 2000), "name": .string($0)] } ?? .null,
            "image_path": photoAddress, "current_location": location?.embedded ?? .null,
            "stints": .array(stints.enumerated().map { $1.json(id: id + 4000 + $0) }),
        ]
        for group in Self.textGroups { json = json.adding("\(group)_match", false).adding("\(group)_hl", .null) }
        return json.adding("bio_rendered", "").adding("bio_truncated", .null)
            .adding("results_count", .number(resultsCount))
    }

    private static let textGroups = ["bio", "before_rc", "during_rc", "interests", "zulip_intro", "employer_info"]
}
#endif
