#if Sandbox
import SandboxCore

/// Everything that the IFTTT stand-in knows (IFTTT Connect dossier, section 11.1).
struct State: Sendable {
    /// Which user connection: one a user and connection.
    struct Key: Sendable, Hashable {
        let login: String
        let connectionID: String
    }

    var identifiers: Identifiers
    var services: [String: Service] = [:]
    var partners: [String: Partner] = [:]
    /// In the order in which they are listed.
    var connections: [Connection] = []
    /// In the order in which they were made.
    var accounts: [Account] = []
    var links: [Link] = []
    var userConnections: [Key: UserConnection] = [:]
    var userTokens: [String: UserToken] = [:]
    var provisionalCodes: [String: ProvisionalCode] = [:]
    var logs = Logs()
    var web = WebState()

    func connection(_ id: String) -> Connection? {
        connections.first { $0.id == id }
    }

    func partner(of connection: Connection) -> Partner? {
        partners[connection.ownerID]
    }

    /// The services of a connection, the primary one first.
    func services(of connection: Connection) -> [Service] {
        connection.serviceIDs.compactMap { services[$0] }
    }

    func account(login: String) -> Account? {
        accounts.first { $0.login == login }
    }

    /// Addresses differ by more than case only (the local part is compared without case too, as people type it).
    func account(email: String) -> Account? {
        accounts.first { $0.email.lowercased() == email.lowercased() }
    }

    func link(serviceID: String, partnerUserID: String) -> Link? {
        links.first { $0.serviceID == serviceID && $0.partnerUserID == partnerUserID }
    }

    func link(serviceID: String, login: String) -> Link? {
        links.first { $0.serviceID == serviceID && $0.login == login }
    }

    func userConnection(_ login: String, _ connection: Connection) -> UserConnection? {
        userConnections[Key(login: login, connectionID: connection.id)]
    }

    /// `user_status` of a user who is known (section 1.3).
    func status(_ login: String, _ connection: Connection) -> String {
        guard let own = userConnection(login, connection) else { return "never_enabled" }
        return own.isEnabled ? "enabled" : "disabled"
    }

    /// The document of a connection as this user sees it; nil for an anonymous caller.
    func document(of connection: Connection, for login: String?, origin: String) -> JSON {
        let document = ConnectionDocument(
            connection: connection, services: services(of: connection), origin: origin)
        guard let login else { return document.json(status: nil, userConnection: nil) }
        let own = userConnection(login, connection)
        return document.json(
            status: status(login, connection), userConnection: own?.isEnabled == true ? own : nil)
    }

    /// The user's token for a service: the living one, else a new one.
    mutating func userToken(login: String, serviceID: String) -> String {
        let living = userTokens.filter {
            $0.value.login == login && $0.value.serviceID == serviceID && !$0.value.isRevoked
        }
        if let token = living.keys.min() { return token }
        let token = identifiers.word("utk")
        userTokens[token] = UserToken(login: login, serviceID: serviceID)
        return token
    }
}

extension State {
    /// Writes down a webhook about a user's connection and hands it over for delivery.
    ///
    /// - Parameter member: `enabled_at`, `updated_at` or `disabled_at`.
    mutating func webhook(
        _ event: ConnectionEvent, login: String, connection: Connection, at now: Double
    ) -> Webhook? {
        let stamp = Self.milliseconds(now)
        let eventData = JSON.object([JSON.Member(name: "\(event.rawValue)_at", value: .string(String(stamp)))])
        return webhook(
            "connection/\(event.rawValue)", login: login, connection: connection, data: [], eventData: eventData,
            at: now)
    }

    enum ConnectionEvent: String, Sendable {
        case enabled, updated, disabled
    }

    /// The webhook of a trigger that fired for one configuration.
    mutating func triggerWebhook(
        _ capability: Capability, _ own: UserFeature, login: String, connection: Connection,
        ingredients: JSON, at now: Double
    ) -> Webhook? {
        let subscription = own.capabilities.first { $0.capabilityID == capability.id }
        let data = [
            JSON.Member(name: "trigger_id", value: .string(capability.slug)),
            JSON.Member(name: "feature_id", value: .string(own.featureID)),
            JSON.Member(name: "user_feature_id", value: .string(own.id)),
            JSON.Member(name: "user_feature_trigger_id", value: JSON(subscription?.id)),
        ]
        return webhook(
            "trigger_subscription/fired", login: login, connection: connection, data: data,
            eventData: ["ingredients": ingredients], at: now)
    }

    private mutating func webhook(
        _ event: String, login: String, connection: Connection, data: [JSON.Member], eventData: JSON,
        at now: Double
    ) -> Webhook? {
        guard let partner = partner(of: connection), let link = link(serviceID: partner.serviceID, login: login)
        else { return nil }
        let common = [
            JSON.Member(name: "connection_id", value: .string(connection.id)),
            JSON.Member(name: "user_id", value: .string(link.partnerUserID)),
            JSON.Member(name: "user_timezone", value: "Pacific Time (US & Canada)"),
        ]
        let hook = Webhook(
            requestID: identifiers.uuid(), serviceID: partner.serviceID, event: event,
            body: [
                "sent_at": .number(Self.milliseconds(now)), "data": .object(common + data), "event_data": eventData,
            ],
            prefix: partner.webhookPrefix)
        logs.add(webhook: hook)
        return hook
    }

    static func milliseconds(_ seconds: Double) -> Int {
        Int(seconds * 1000)
    }
}
#endif
