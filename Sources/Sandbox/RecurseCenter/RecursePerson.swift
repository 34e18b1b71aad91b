/// One person of the Recurse Center stand-in, from which both wire shapes are made.
struct RecursePerson: Sendable {
    let id: Int
    let firstName: String
    let lastName: String
    let email: String?
    let github: String?
    let hasPhoto: Bool
    let batch: Batch?

    /// A batch that the person was part of.
    struct Batch: Sendable {
        let id: Int
        let name: String
        let shortName: String
        let alternativeName: String
        let startDate: String
        let endDate: String
    }

    private var slug: String {
        "\(id)-" + "\(firstName)-\(lastName)".lowercased().filter { $0.isASCII }
    }

    /// The legacy shape of `/people` (Recurse Center dossier, section 4.2).
    func legacy(origin: String) -> JSON {
        let image = hasPhoto ? "/assets/people/\(id)_150-0123abcd.jpg" : "/assets/people/no_photo_150.jpg"
        let stint: JSON? = batch.map {
            ["batch_id": .number($0.id), "start_date": .string($0.startDate), "end_date": .string($0.endDate)]
        }
        let named: JSON? = batch.map { ["id": .number($0.id), "name": .string($0.name)] }
        return [
            "id": .number(id), "first_name": .string(firstName), "middle_name": "", "last_name": .string(lastName),
            "email": JSON(email), "twitter": nil, "github": JSON(github),
            "batch_id": batch.map { .number($0.id) } ?? .null, "phone_number": "", "has_photo": .bool(hasPhoto),
            "interests": nil, "before_rc": nil, "during_rc": nil, "is_faculty": .bool(batch == nil),
            "is_hacker_schooler": .bool(batch != nil), "job": nil, "image": .string(origin + image),
            "batch": batch?.dated ?? .null, "pseudonym": .string("Example Pseudonym \(id)"), "current_location": nil,
            "stints": .array([stint].compactMap { $0 }), "batches": .array([named].compactMap { $0 }),
            "projects": [], "links": [], "skills": [], "bio": nil,
        ]
    }

    /// Today's shape of `/profiles` (Recurse Center dossier, section 4.3).
    func profile(origin: String) -> JSON {
        let name = "\(firstName) \(lastName)"
        let photo: JSON =
            hasPhoto
            ? .string("\(origin)/rails/active_storage/representations/redirect/BLOB\(id)/VARIANT/\(id).jpg") : .null
        var json: JSON = [
            "id": .number(id), "first_name": .string(firstName), "last_name": .string(lastName), "name": .string(name),
            "name_hl": .string(name), "slug": .string(slug), "email": JSON(email), "github": JSON(github),
            "twitter": nil, "linkedin": nil, "pronouns": nil, "zulip_id": .number(id + 1000), "phone_number": nil,
            "unformatted_phone_number": nil, "zoom_url": nil, "personal_site_url": nil, "blog_url": nil,
            "cluster_username": nil, "joy_of_computing_username": nil, "employer_role": nil, "company": nil,
            "image_path": photo,
            "current_location": [
                "id": 5_128_581, "name": "New York City, NY", "short_name": "New York City",
            ],
            "stints": .array([stint]),
        ]
        for group in Self.textGroups { json = json.adding("\(group)_match", false).adding("\(group)_hl", .null) }
        return json.adding("bio_rendered", "").adding("bio_truncated", .null).adding("results_count", 1)
    }

    private var stint: JSON {
        guard let batch else {
            return [
                "id": .number(id + 4000), "type": "employment", "title": "Facilitator", "for_half_batch": false,
                "in_progress": true, "start_date": "2019-01-07", "end_date": nil, "batch": nil,
            ]
        }
        return [
            "id": .number(id + 4000), "type": "retreat", "title": nil, "for_half_batch": false, "in_progress": false,
            "start_date": .string(batch.startDate), "end_date": .string(batch.endDate), "batch": batch.named,
        ]
    }

    private static let textGroups = ["bio", "before_rc", "during_rc", "interests", "zulip_intro", "employer_info"]
}

extension RecursePerson.Batch {
    fileprivate var named: JSON {
        [
            "id": .number(id), "name": .string(name), "short_name": .string(shortName),
            "alt_name": .string(alternativeName),
        ]
    }

    fileprivate var dated: JSON {
        [
            "id": .number(id), "name": .string(name), "start_date": .string(startDate), "end_date": .string(endDate),
        ]
    }
}
