/// A connection between the partner's service and one or more others (dossier 1.1).
///
/// Texts are as the service sent them: names and descriptions may contain markup, line breaks and control characters, and a
/// view must show them as text. URLs are validated (``WebAddress``).
public struct Connection: Sendable, Hashable, Codable, Identifiable {
    public let id: ConnectionID
    /// The title.
    public let name: String
    /// What it does; may be long.
    public let description: String
    /// Its page at IFTTT.
    public let url: WebAddress
    /// Whether it is on for this user.
    public let status: Status
    /// The services that it links, in the service's order. At least one of them is primary.
    public let services: [Service]
    /// The picture, when there is one.
    public let coverImage: CoverImage?
    /// The features of the connection.
    public let features: [Feature]
    /// The predecessor of features; deprecated by the service (dossier 1.6).
    public let valuePropositions: [ValueProposition]
    /// The user's configuration. Nil when the caller is unknown or has not turned the connection on.
    public let userConnection: UserConnection?

    /// The partner's own service: the first primary one.
    public let primaryService: Service

    /// The services that the partner's is connected with.
    public var worksWithServices: [Service] { services.filter { !$0.isPrimary } }

    /// The service whose icon and colour the button shows. It is the first that is not primary, otherwise the primary
    /// one.
    public var connectingService: Service { services.first { !$0.isPrimary } ?? primaryService }

    /// Whether the user has configured none of its features. It then has no effect although it may be on: a user who
    /// skipped the service's page still has to configure it. The service has no status for it (dossier 1.3; 10.2, W15).
    /// Nil without the user's configuration.
    public var isUnconfigured: Bool? {
        userConnection.map { $0.features.isEmpty && !features.isEmpty }
    }

    /// Creates a connection.
    ///
    /// - Returns: nil when none of the services is primary.
    public init?(
        id: ConnectionID, name: String, description: String, url: WebAddress, status: Status, services: [Service],
        coverImage: CoverImage? = nil, features: [Feature] = [], valuePropositions: [ValueProposition] = [],
        userConnection: UserConnection? = nil
    ) {
        guard let primary = services.first(where: \.isPrimary) else { return nil }
        self.id = id
        self.name = name
        self.description = description
        self.url = url
        self.status = status
        self.services = services
        self.coverImage = coverImage
        self.features = features
        self.valuePropositions = valuePropositions
        self.userConnection = userConnection
        primaryService = primary
    }

    private init(_ other: Connection, status: Status) {
        id = other.id
        name = other.name
        description = other.description
        url = other.url
        self.status = status
        services = other.services
        coverImage = other.coverImage
        features = other.features
        valuePropositions = other.valuePropositions
        userConnection = other.userConnection
        primaryService = other.primaryService
    }

    /// The same connection with another status, for a state that was not fetched.
    public func with(_ status: Status) -> Connection {
        status == self.status ? self : Connection(self, status: status)
    }
}

extension Connection {
    /// Whether a connection is on for the user (dossier 1.3).
    public enum Status: String, Sendable, Hashable, Codable, CaseIterable {
        /// The user never turned it on, or deleted it.
        case neverEnabled = "never_enabled"
        /// It is on.
        case enabled
        /// It was on and is off.
        case disabled
        /// No user: the request was anonymous, or the status is new.
        case unknown
    }

    /// A service of a connection (dossier 1.4).
    public struct Service: Sendable, Hashable, Codable, Identifiable {
        public let id: String
        /// The full name.
        public let name: String
        /// The name for a button.
        public let shortName: String
        /// Whether it is the partner's own.
        public let isPrimary: Bool
        /// The icon for the knob, in one colour.
        public let monochromeIconURL: WebAddress
        /// The icon in its own colours.
        public let colorIconURL: WebAddress?
        public let brandColor: BrandColor
        /// Its page at IFTTT.
        public let url: WebAddress
        /// The triggers available to developers.
        public let triggers: [Component]
        public let queries: [Component]
        public let actions: [Component]

        public init(
            id: String, name: String, shortName: String, isPrimary: Bool, monochromeIconURL: WebAddress,
            colorIconURL: WebAddress? = nil, brandColor: BrandColor, url: WebAddress, triggers: [Component] = [],
            queries: [Component] = [], actions: [Component] = []
        ) {
            self.id = id
            self.name = name
            self.shortName = shortName
            self.isPrimary = isPrimary
            self.monochromeIconURL = monochromeIconURL
            self.colorIconURL = colorIconURL
            self.brandColor = brandColor
            self.url = url
            self.triggers = triggers
            self.queries = queries
            self.actions = actions
        }
    }

    /// A trigger, query or action of a service or a feature (dossier 1.4 and 1.7).
    public struct Component: Sendable, Hashable, Codable {
        /// Its identifier: a service's own, or a feature's.
        public let id: String
        /// The component of the service, such as `exit_region_location`. Nil in a service's list.
        public let kindID: String?
        /// Its service; nil in a service's list.
        public let serviceID: String?
        public let label: String?
        public let fieldOptionsURL: WebAddress?
        /// The URL that runs it; nil when it cannot be run.
        public let runURL: WebAddress?
        public let fields: [FieldDefinition]

        public init(
            id: String, kindID: String? = nil, serviceID: String? = nil, label: String? = nil,
            fieldOptionsURL: WebAddress? = nil, runURL: WebAddress? = nil, fields: [FieldDefinition] = []
        ) {
            self.id = id
            self.kindID = kindID
            self.serviceID = serviceID
            self.label = label
            self.fieldOptionsURL = fieldOptionsURL
            self.runURL = runURL
            self.fields = fields
        }
    }

    /// A feature of a connection (dossier 1.7).
    public struct Feature: Sendable, Hashable, Codable {
        /// The identifier; nil in answers that omit it.
        public let id: String?
        public let title: String
        public let details: String?
        public let iconURL: WebAddress
        public let fieldOptionsURL: WebAddress?
        public let fields: [FieldDefinition]
        public let triggers: [Component]
        public let queries: [Component]
        public let actions: [Component]

        public init(
            id: String?, title: String, details: String? = nil, iconURL: WebAddress, fieldOptionsURL: WebAddress? = nil,
            fields: [FieldDefinition] = [], triggers: [Component] = [], queries: [Component] = [],
            actions: [Component] = []
        ) {
            self.id = id
            self.title = title
            self.details = details
            self.iconURL = iconURL
            self.fieldOptionsURL = fieldOptionsURL
            self.fields = fields
            self.triggers = triggers
            self.queries = queries
            self.actions = actions
        }
    }

    /// A reason to turn the connection on; superseded by features (dossier 1.6).
    public struct ValueProposition: Sendable, Hashable, Codable {
        public let description: String
        public let iconURL: WebAddress

        public init(description: String, iconURL: WebAddress) {
            self.description = description
            self.iconURL = iconURL
        }
    }
}
