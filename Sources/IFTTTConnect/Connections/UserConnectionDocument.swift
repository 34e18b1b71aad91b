public import OAuth

extension UserConnection {
    /// Reads a configuration that somebody wrote by hand, in the form of the service (dossier 2.9).
    ///
    /// Answers of the service are read tolerantly. This is about to replace everything that a user has, so nothing of
    /// it may be dropped: an entry that cannot be read is an error.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` with the place.
    public init(document: JSONValue) throws(ConnectError) {
        func wrong(_ place: String, _ problem: String) -> ConnectError { .input(member: place, problem: problem) }
        guard let members = document.object, let features = members["user_features"]?.array else {
            throw wrong("user_features", "expected an object with a list of this name")
        }
        for (index, feature) in features.enumerated() {
            try Self.check(feature, named: "feature_id", at: "user_features[\(index)]")
            guard feature.object?["enabled"]?.bool != nil else {
                throw wrong("user_features[\(index)].enabled", "expected true or false")
            }
        }
        self.init(reading: Members(members))
    }

    private static let lists = [
        "user_fields": "field_id", "user_feature_triggers": "feature_trigger_id",
        "user_feature_queries": "feature_query_id", "user_feature_actions": "feature_action_id",
    ]

    /// Whether an entry and everything in it can be read.
    private static func check(_ entry: JSONValue, named name: String, at place: String) throws(ConnectError) {
        guard let members = entry.object, members[name]?.string != nil else {
            throw .input(member: "\(place).\(name)", problem: "expected a text")
        }
        if name == "field_id", (members["value"] ?? .null) == .null {
            throw .input(member: "\(place).value", problem: "it is missing; leave out the field that is to have none")
        }
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
