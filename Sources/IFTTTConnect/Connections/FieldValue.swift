public import Geofences
public import OAuth

/// The type of a field, in the service's spelling (dossier 1.9). Unknown ones are preserved.
public struct FieldType: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let text = FieldType(rawValue: "TEXT_FIELD")
    public static let textArea = FieldType(rawValue: "TEXT_AREA")
    public static let select = FieldType(rawValue: "COLLECTION_SELECT")
    public static let doubleSelect = FieldType(rawValue: "DOUBLE_COLLECTION_SELECT")
    public static let checkboxes = FieldType(rawValue: "CHECKBOX_MULTI")
    public static let point = FieldType(rawValue: "LOCATION_POINT")
    public static let area = FieldType(rawValue: "LOCATION_RADIUS")
    public static let enteringArea = FieldType(rawValue: "LOCATION_ENTER")
    public static let leavingArea = FieldType(rawValue: "LOCATION_EXIT")
    public static let crossingArea = FieldType(rawValue: "LOCATION_ENTER_OR_EXIT")
    /// The other spelling of ``crossingArea``.
    public static let crossingAreaDocumented = FieldType(rawValue: "LOCATION_ENTER_AND_EXIT")

    /// The crossings that a field of this type reports; nil when it is no geofence.
    ///
    /// Accepts both spellings of the two-way type.
    public var crossings: Set<RegionCrossing.Kind>? {
        switch self {
        case .enteringArea: [.enter]
        case .leavingArea: [.exit]
        case .crossingArea, .crossingAreaDocumented: [.enter, .exit]
        default: nil
        }
    }
}

/// A field of a trigger, query, action or feature (dossier 1.9).
public struct FieldDefinition: Sendable, Hashable, Codable {
    public let id: String
    public let label: String?
    public let type: FieldType
    public let isRequired: Bool
    public let isHidden: Bool
    /// The default value; nil when there is none.
    public let defaultValue: FieldValue?

    public init(
        id: String, label: String? = nil, type: FieldType, isRequired: Bool = false, isHidden: Bool = false,
        defaultValue: FieldValue? = nil
    ) {
        self.id = id
        self.label = label
        self.type = type
        self.isRequired = isRequired
        self.isHidden = isHidden
        self.defaultValue = defaultValue
    }
}

/// The value of a field; unknown forms are preserved (dossier 1.9).
public enum FieldValue: Sendable, Hashable {
    case text(String)
    /// One of the options that the service offers.
    case option(Option)
    case options([Option])
    case location(LocationValue)
    /// A value of another form, preserved.
    case other(JSONValue)

    /// An option of a list.
    public struct Option: Sendable, Hashable, Codable {
        /// The group's title.
        public let group: String?
        public let label: String?
        /// The opaque value that is stored and sent.
        public let value: String

        public init(group: String? = nil, label: String? = nil, value: String) {
            self.group = group
            self.label = label
            self.value = value
        }
    }
}

/// A place: a point, or an area with a radius (dossier 1.9).
public struct LocationValue: Sendable, Hashable, Codable {
    /// Degrees north, −90 to 90.
    public let latitude: Double
    /// Degrees east, −180 to 180.
    public let longitude: Double
    /// Metres; nil for a point.
    public let radius: Double?
    public let address: String?
    public let description: String?
    /// The zoom level of a map.
    public let zoom: Double?

    /// Creates a location.
    ///
    /// - Returns: nil when the latitude, longitude or radius is out of range. A radius is above 0.
    public init?(
        latitude: Double, longitude: Double, radius: Double? = nil, address: String? = nil, description: String? = nil,
        zoom: Double? = nil
    ) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude),
            radius.map({ $0 > 0 && $0.isFinite }) ?? true, zoom?.isFinite ?? true
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        self.radius = radius
        self.address = address
        self.description = description
        self.zoom = zoom
    }
}
