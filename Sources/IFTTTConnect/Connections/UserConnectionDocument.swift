import Handshake
public import OAuth

extension UserConnection {
    /// Reads a configuration that a user wrote by hand, in the form of the service (dossier 2.9).
    ///
    /// Answers of the service are read tolerantly. This is about to replace everything that a user has, so nothing of
    /// it may be dropped: an entry that cannot be read is an error, and so is a member that this form does not have. Identifiers and
    /// types of fields, as an answer of the service has them, may stand there; an update does not send them.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` with the place.
    public init(document: JSONValue) throws(ConnectError) {
        func wrong(_ place: String, _ problem: String) -> ConnectError { .input(member: place, problem: problem) }
        guard let members = document.object, let features = members["user_features"]?.array else {
            throw wrong("user_features", "expected an object with a list of this name")
        }
        try Self.check(members, for: ["user_features"], at: "")
        for (index, feature) in features.enumerated() {
            try Self.check(feature, named: "feature_id", at: "user_features[\(index)]")
            guard feature.object?["enabled"]?.bool != nil else {
                throw wrong(
                    "user_features[\(index)].enabled", "expected true or false: whether the feature is on for the user")
            }
        }
        self.init(reading: Members(members))
    }

    private static let lists = [
        "user_fields": "field_id", "user_feature_triggers": "feature_trigger_id",
        "user_feature_queries": "feature_query_id", "user_feature_actions": "feature_action_id",
    ]

    /// What an entry may have, by the member that names it.
    private static let known: [String: Set<String>] = [
        "feature_id": Set(lists.keys).union(["id", "feature_id", "enabled"]),
        "field_id": ["field_id", "field_type", "value"],
        "feature_trigger_id": ["id", "feature_trigger_id", "user_fields"],
        "feature_query_id": ["id", "feature_query_id", "user_fields"],
        "feature_action_id": ["id", "feature_action_id", "user_fields"],
    ]

    /// Whether there is nothing but what is known: a mistyped list would be left out, and with it what the user has chosen.
    private static func check(
        _ members: JSONObject, for known: Set<String>, at place: String
    ) throws(ConnectError) {
        guard let strange = members.keys.filter({ !known.contains($0) }).min() else { return }
        throw .input(
            member: place + quoted(strange, limit: 60),
            problem: "there is no such member; known are \(known.sorted().joined(separator: ", "))")
    }

    /// Whether an entry and everything in it can be read.
    private static func check(_ entry: JSONValue, named name: String, at place: String) throws(ConnectError) {
        guard let members = entry.object, members[name]?.string != nil else {
            throw .input(member: "\(place).\(name)", problem: "expected a text")
        }
        try check(members, for: known[name] ?? [], at: place + ".")
        if name == "field_id" { _ = try FieldValue(written: members["value"] ?? .null, at: "\(place).value") }
        for (list, name) in lists.sorted(by: { $0.key < $1.key }) {
            guard let value = members[list] else { continue }
            guard let entries = value.array else {
                throw .input(member: "\(place).\(list)", problem: "expected a list")
            }
            for (index, entry) in entries.enumerated() {
                try check(entry, named: name, at: "\(place).\(list)[\(index)]")
            }
        }
    }
}
