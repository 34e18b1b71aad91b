#if Server
public import IFTTTConnect
public import OAuth

/// A webhook from IFTTT to the partner's server (dossier 2.11).
public struct ConnectWebhook: Sendable, Hashable {
    /// Identifies the webhook, the same in every delivery attempt. It is `X-Request-ID`, a digest of one longer than
    /// 256 bytes, or a digest of the content without one.
    public let requestID: String
    /// Seconds since 1970.
    public let sentAt: Double
    public let connection: ConnectionID
    /// The partner's own identifier of the user.
    public let user: String
    /// The user's time zone as IFTTT spells it. Pacific Time unless the user said otherwise.
    public var timeZone = "Pacific Time (US & Canada)"
    public let event: Event

    /// The event.
    public enum Event: Sendable, Hashable {
        /// Times are in seconds since 1970; nil when IFTTT gave none.
        case enabled(at: Double?)
        case updated(at: Double?)
        case disabled(at: Double?)
        case fired(Trigger)
        /// An event that this module does not know, with its data. It is no error.
        case other(type: String, name: String, data: JSONValue)
    }

    /// A trigger that has fired.
    public struct Trigger: Sendable, Hashable {
        /// `service.slug`.
        public let id: ComponentSlug
        public let featureID: String?
        public let userFeatureID: String?
        public let userFeatureTriggerID: String?
        /// The ingredients by name.
        public let ingredients: JSONObject

        /// Creates a trigger, for tests of a handler.
        public init(
            id: ComponentSlug, featureID: String? = nil, userFeatureID: String? = nil,
            userFeatureTriggerID: String? = nil,
            ingredients: JSONObject = [:]
        ) {
            self.id = id
            self.featureID = featureID
            self.userFeatureID = userFeatureID
            self.userFeatureTriggerID = userFeatureTriggerID
            self.ingredients = ingredients
        }
    }

    /// Creates a webhook, for tests of a handler.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - connection: the connection.
    ///   - user: the partner's own identifier of the user.
    ///   - requestID: identifies the delivery.
    ///   - sentAt: when it was sent, in seconds since 1970.
    public init(
        _ event: Event, in connection: ConnectionID, for user: String, requestID: String, sentAt: Double
    ) {
        self.event = event
        self.connection = connection
        self.user = user
        self.requestID = requestID
        self.sentAt = sentAt
    }

    /// The maximum length in bytes.
    public static let limit = 1 << 20

    /// Reads a webhook.
    ///
    /// - Parameters:
    ///   - content: the request's content.
    ///   - type: the first of the path's two last parts, such as `connection`.
    ///   - name: the second, such as `enabled`.
    ///   - requestID: identifies the delivery.
    /// - Throws: ``WebhookProblem`` for malformed content.
    init(_ content: some Sequence<UInt8>, type: String, name: String, requestID: String) throws(WebhookProblem) {
        guard let root = (try? JSONValue(parsing: Array(content)))?.object else {
            throw WebhookProblem(pointer: "", expected: "a JSON object")
        }
        guard let sentAt = root["sent_at"].flatMap(Self.seconds) else {
            throw WebhookProblem(pointer: "/sent_at", expected: "a time in milliseconds")
        }
        guard let data = root["data"]?.object else { throw WebhookProblem(pointer: "/data", expected: "an object") }
        guard let connection = data["connection_id"]?.string.flatMap(ConnectionID.init(rawValue:)) else {
            throw WebhookProblem(pointer: "/data/connection_id", expected: "a connection's identifier")
        }
        guard let user = data["user_id"]?.string, (1...1024).contains(user.utf8.count) else {
            throw WebhookProblem(pointer: "/data/user_id", expected: "the partner's identifier of a user")
        }
        self.init(
            try Self.event(type, name, data, root["event_data"]?.object ?? [:]), in: connection, for: user,
            requestID: requestID, sentAt: sentAt)
        if let zone = data["user_timezone"]?.string { timeZone = zone }
    }

    private static func event(
        _ type: String, _ name: String, _ data: JSONObject, _ details: JSONObject
    ) throws(WebhookProblem) -> Event {
        switch (type, name) {
        case ("connection", "enabled"): return .enabled(at: details["enabled_at"].flatMap(seconds))
        case ("connection", "updated"): return .updated(at: details["updated_at"].flatMap(seconds))
        case ("connection", "disabled"): return .disabled(at: details["disabled_at"].flatMap(seconds))
        case ("trigger_subscription", "fired"):
            guard let id = data["trigger_id"]?.string.flatMap(ComponentSlug.init(_:)) else {
                throw WebhookProblem(
                    pointer: "/data/trigger_id", expected: "a service and a name with a period between")
            }
            return .fired(
                Trigger(
                    id: id, featureID: data["feature_id"]?.string, userFeatureID: data["user_feature_id"]?.string,
                    userFeatureTriggerID: data["user_feature_trigger_id"]?.string,
                    ingredients: details["ingredients"]?.object ?? [:]))
        default:
            return .other(
                type: type, name: name, data: .object(["data": .object(data), "event_data": .object(details)]))
        }
    }

    /// Milliseconds as a number, or in a string that spells one as JSON does, as seconds.
    private static func seconds(_ value: JSONValue) -> Double? {
        value.lenientNumber.flatMap { $0 >= 0 ? $0 / 1000 : nil }
    }
}

/// A malformed part of a webhook.
struct WebhookProblem: Error, Sendable, Equatable {
    /// A JSON pointer (RFC 6901).
    let pointer: String
    let expected: String
}
#endif
