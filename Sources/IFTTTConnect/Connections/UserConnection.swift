/// How a user has configured a connection (dossier 1.8).
public struct UserConnection: Sendable, Hashable, Codable {
    /// The configurations, in the service's order. A feature can occur several times.
    public let features: [UserFeature]

    public init(features: [UserFeature]) {
        self.features = features
    }

    /// One configuration of a feature.
    public struct UserFeature: Sendable, Hashable, Codable {
        /// The `user_feature_id` of run, perform and test. Nil for one that is not stored yet.
        public let id: String?
        public let featureID: String
        public let isEnabled: Bool
        public let fields: [UserField]
        public let triggers: [UserComponent]
        public let queries: [UserComponent]
        public let actions: [UserComponent]

        public init(
            id: String? = nil, featureID: String, isEnabled: Bool = true, fields: [UserField] = [],
            triggers: [UserComponent] = [], queries: [UserComponent] = [], actions: [UserComponent] = []
        ) {
            self.id = id
            self.featureID = featureID
            self.isEnabled = isEnabled
            self.fields = fields
            self.triggers = triggers
            self.queries = queries
            self.actions = actions
        }
    }

    /// The user's configuration of a feature's trigger, query or action.
    public struct UserComponent: Sendable, Hashable, Codable {
        /// For a trigger: its subscription, as in location events and webhooks.
        public let id: String?
        /// The feature's trigger, query or action.
        public let componentID: String
        public let fields: [UserField]

        public init(id: String? = nil, componentID: String, fields: [UserField] = []) {
            self.id = id
            self.componentID = componentID
            self.fields = fields
        }
    }

    /// The user's value of a field.
    public struct UserField: Sendable, Hashable, Codable {
        public let id: String
        public let type: FieldType?
        public let value: FieldValue

        public init(id: String, type: FieldType? = nil, value: FieldValue) {
            self.id = id
            self.type = type
            self.value = value
        }
    }
}
