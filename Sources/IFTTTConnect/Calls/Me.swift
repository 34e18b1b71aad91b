import Handshake
import OAuth

/// The caller, as the service sees it (dossier 2.7).
public struct Me: Sendable, Hashable {
    /// How the caller is authenticated.
    public let level: Level
    /// The partner's service; nil when unknown.
    public let serviceID: String?
    /// The user's IFTTT name; nil without a user.
    public let login: String?

    /// How a caller is authenticated; unknown values are preserved.
    public struct Level: RawRepresentable, Sendable, Hashable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let none = Level(rawValue: "none")
        public static let user = Level(rawValue: "user")
        /// A service key.
        public static let service = Level(rawValue: "channel")
    }

    init(_ value: JSONValue) throws(ConnectError) {
        let members = try Members(value, answer: "me")
        level = Level(rawValue: try members.requiredText("authentication_level"))
        serviceID = try members.optionalText("service_id")
        login = try members.optionalText("user_login").flatMap { $0.isEmpty ? nil : $0 }
    }
}
