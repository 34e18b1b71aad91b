import Handshake
public import OAuth

extension UserConnection {
    /// Parses a hand-written configuration, in the service's form (dossier 2.9).
    ///
    /// The service's answers are parsed tolerantly. This configuration replaces everything that the user has, so nothing may be
    /// dropped: an invalid entry or an unknown member is an error. Identifiers and types of fields, as in an answer of the
    /// service, are accepted; an update does not send them.
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

    /// The allowed members of an entry, by the member that identifies it.
    private static let known: [String: Set<String>] = [
        "feature_id": Set(lists.keys).union(["id", "feature_id", "enabled"]),
        "field_id": ["field_id", "field_type", "value"],
        "feature_trigger_id": ["id", "feature_trigger_id", "user_fields"],
        "feature_query_id": ["id", "feature_query_id", "user_fields"],
        "feature_action_id": ["id", "feature_action_id", "user_fields"],
    ]

    /// Checks for unknown members: a mistyped list would be dropped, and with it the user's choices.
    private static func check(
        _ members: JSONObject, for known: Set<String>, at place: String
    ) throws(ConnectError) {
        guard let strange = members.keys.filter({ !known.contains($0) }).min() else { return }
        throw .input(
            member: place + quoted(strange, limit: 60),
            problem: "unknown member; expected \(known.sorted().joined(separator: ", "))")
    }

    /// Checks an entry and everything in it.
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
