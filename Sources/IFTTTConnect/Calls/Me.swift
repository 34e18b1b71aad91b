import Handshake
import OAuth

/// Who calls, as the service sees it (dossier 2.7).
public struct Me: Sendable, Hashable {
    /// By what the caller is known.
    public let level: Level
    /// The partner's service; nil when it is not known.
    public let serviceID: String?
    /// The user's name at IFTTT; nil when there is no user.
    public let login: String?

    /// By what a caller is known; a word that is not known is kept.
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
