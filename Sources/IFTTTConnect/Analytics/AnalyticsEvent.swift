import OAuth

/// An analytics event, counted only with consent (dossier 7). It identifies no person and no installation.
public struct AnalyticsEvent: Sendable, Hashable, Codable {
    package let name: Name
    /// Where it happened.
    package let location: Place?
    /// What it happened to.
    package let object: Place?
    /// The state of the object.
    package let objectStatus: String?
    /// The new state.
    package let state: String?

    package enum Name: String, Sendable, Hashable, Codable {
        case impression = "sdk.impression"
        case click = "sdk.click"
        case pageViewed = "sdk.pageviewed"
        case stateChange = "sdk.statechange"
    }

    /// A kind of place or object, and its identifier.
    package struct Place: Sendable, Hashable, Codable {
        package let type: String
        package let id: String?

        package init(type: String, id: String? = nil) {
            self.type = type
            self.id = id
        }
    }

    package init(
        _ name: Name, at location: Place? = nil, object: Place? = nil, objectStatus: String? = nil,
        state: String? = nil
    ) {
        self.name = name
        self.location = location
        self.object = object
        self.objectStatus = objectStatus
        self.state = state
    }
}

extension AnalyticsEvent {
    /// The connection was shown in the app of this name.
    public static func connectionShown(_ connection: Connection, appName: String?) -> AnalyticsEvent {
        AnalyticsEvent(
            .impression, at: Place(type: "connect_button", id: appName),
            object: Place(type: "connection", id: connection.id.rawValue), objectStatus: connection.status.wireName)
    }

    /// The email field was shown.
    public static func emailShown(_ connection: ConnectionID) -> AnalyticsEvent {
        AnalyticsEvent(.impression, at: button(connection), object: Place(type: "connection_email"))
    }

    /// An address was confirmed, valid or not.
    public static func emailConfirmed(_ connection: ConnectionID) -> AnalyticsEvent {
        AnalyticsEvent(.click, at: button(connection), object: Place(type: "connection_email"))
    }

    /// The user turned the connection on or off.
    public static func connectionClicked(_ connection: Connection) -> AnalyticsEvent {
        AnalyticsEvent(
            .click, at: button(connection.id), object: Place(type: "connection", id: connection.id.rawValue),
            objectStatus: connection.status.wireName)
    }

    /// The redirect reported that the connection is on.
    ///
    /// - Parameters:
    ///   - connection: the connection before.
    public static func turnedOn(_ connection: Connection) -> AnalyticsEvent {
        AnalyticsEvent(
            .stateChange, object: Place(type: "connection", id: connection.id.rawValue), objectStatus: "enabled",
            state: connection.status == .neverEnabled ? "created" : "enabled")
    }

    /// The progress of connecting was shown.
    public static func connectingShown(_ connection: ConnectionID) -> AnalyticsEvent {
        AnalyticsEvent(.pageViewed, at: button(connection))
    }

    /// The footer of the button was tapped.
    public static let footerClicked = AnalyticsEvent(
        .click, at: Place(type: "connect_button"), object: Place(type: "works_with_ifttt", id: "button"))

    /// The About page was shown.
    public static func aboutShown(_ connection: ConnectionID) -> AnalyticsEvent {
        AnalyticsEvent(
            .impression, at: button(connection), object: Place(type: "modal", id: "connect_information"))
    }

    /// An item of the About page was tapped. Its name is a service's name, the connection's name, `privacy_policy` or
    /// `manage`.
    public static func aboutClicked(_ connection: ConnectionID, button name: String) -> AnalyticsEvent {
        AnalyticsEvent(.click, at: button(connection), object: Place(type: "button", id: name))
    }

    private static func button(_ connection: ConnectionID) -> Place {
        Place(type: "connect_button", id: connection.rawValue)
    }
}

extension AnalyticsEvent {
    /// The members that the service knows; absent ones are omitted.
    var properties: JSONValue {
        let pairs = [
            ("location_type", location?.type), ("location_id", location?.id), ("object_type", object?.type),
            ("object_id", object?.id), ("object_status", objectStatus), ("state", state),
        ]
        return .object(
            pairs.reduce(into: [:]) { members, pair in members[pair.0] = pair.1.map(JSONValue.string) })
    }
}

extension Connection.Status {
    /// The service's spelling; nil for ``unknown``.
    var wireName: String? { self == .unknown ? nil : rawValue }
}
