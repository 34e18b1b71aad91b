/// A user is being asked on a device of their own. Source: CIBA Core, section 7.3.
public struct BackchannelAuthentication: Sendable {
    /// `auth_req_id`: what the client polls with, and what a notification names.
    public let requestID: Secret
    /// How many seconds the request counts, from 1 to 3600.
    public let lifetime: Double
    /// How many seconds lie between two polls at first, from 1 to 3600. It is 5 when the server does not say.
    public let interval: Double

    private static let maximumIDLength = 4096
    private static let maximumLifetime: Double = 3600

    init(_ answer: ResponseReader) throws(OAuthError) {
        let text = try answer.requiredString("auth_req_id")
        guard Self.isRequestID(text) else {
            throw .malformed(
                step: answer.step, member: "auth_req_id",
                expected: "at most \(Self.maximumIDLength) letters, digits, periods, hyphens and underscores",
                found: "other characters or more")
        }
        guard let lifetime = try answer.integer("expires_in"), lifetime > 0 else {
            throw answer.malformed("expires_in", expected: "a positive number of seconds")
        }
        requestID = Secret(text)
        self.lifetime = min(Double(lifetime), Self.maximumLifetime)
        interval = DevicePolling.seconds(answer["interval"]) ?? DevicePolling.defaultInterval
    }

    /// Whether a text can be an identifier (CIBA Core, section 7.3).
    static func isRequestID(_ text: String) -> Bool {
        (1...maximumIDLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
    }
}

extension BackchannelAuthentication: CustomReflectable {
    /// Without the identifier.
    public var customMirror: Mirror {
        Mirror(self, children: ["lifetime": lifetime, "interval": interval], displayStyle: .struct)
    }
}

/// A server's notice that a user has decided. Source: CIBA Core, section 10.2.
///
/// It brings no token and proves nothing of the user: the tokens are asked for as by a poll.
public struct BackchannelNotification: Sendable {
    /// `auth_req_id`: which request it is about.
    public let requestID: Secret
    /// What `Authorization` brought. It is compared with the request's own notification token.
    public let token: Secret

    /// The longest content that is read, in bytes.
    public static let maximumLength = 16_384

    /// Reads a notification; nil when it is none. Answer then with status 401.
    ///
    /// - Parameters:
    ///   - authorization: the `Authorization` field.
    ///   - content: the JSON content.
    public init?(authorization: String?, content: [UInt8]) {
        guard let authorization, authorization.utf8.count <= 2048, content.count <= Self.maximumLength,
            authorization.utf8.prefix(7).elementsEqual("Bearer ".utf8)
                || authorization.prefix(7).lowercased() == "bearer ",
            let id = (try? JSONValue(parsing: content))?.object?["auth_req_id"]?.string,
            BackchannelAuthentication.isRequestID(id)
        else { return nil }
        let text = String(decoding: authorization.utf8.dropFirst(7), as: UTF8.self)
        guard !text.isEmpty else { return nil }
        requestID = Secret(id)
        token = Secret(text)
    }

    /// Whether it is about this request and brings its token. Both are compared in constant time.
    public func answers(_ requestID: Secret, token: Secret) -> Bool {
        let isRequest = self.requestID.matches(requestID)
        let isToken = self.token.matches(token)
        return isRequest && isToken
    }
}

extension BackchannelNotification: CustomReflectable {
    /// Nothing: both members are secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
