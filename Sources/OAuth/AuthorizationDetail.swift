/// One thing that a token authorizes, in the terms of an API (RFC 9396, section 2).
public struct AuthorizationDetail: Sendable, Hashable {
    /// `type`: what kind of thing it is. It decides which other members there are.
    public let type: String
    /// All members, `type` among them.
    public let members: JSONObject

    /// The maximum number of details of one request or response.
    public static let maximumCount = 64

    /// States a detail.
    ///
    /// - Parameters:
    ///   - type: what kind of thing it is, by the API's own word.
    ///   - members: the other members, such as `actions`, `locations` and the API's own.
    public init(type: String, _ members: JSONObject = [:]) {
        var members = members
        members["type"] = .string(type)
        self.type = type
        self.members = members
    }

    init?(_ members: JSONObject) {
        guard let type = members["type"]?.string, !type.isEmpty, type.utf8.count <= 1024 else { return nil }
        self.type = type
        self.members = members
    }

    /// Reads a JSON list of details, as it stands in a request.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)``.
    public static func list(parsing text: String) throws(OAuthError) -> [AuthorizationDetail] {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw wrong("it is not JSON: \(error.problem)")
        }
        guard let details = list(value), !details.isEmpty else {
            throw wrong(
                #"it has to be a list of 1 to \#(maximumCount) objects with a type, such as [{"type":"payment"}]"#)
        }
        return details
    }

    /// The details in a JSON value; nil when it is no list of objects with a type, or one that is too long.
    static func list(_ value: JSONValue) -> [AuthorizationDetail]? {
        guard let elements = value.array, elements.count <= maximumCount else { return nil }
        let details = elements.compactMap { $0.object.flatMap(AuthorizationDetail.init) }
        return details.count == elements.count ? details : nil
    }

    /// The details as a JSON list.
    package static func json(_ details: [AuthorizationDetail]) -> String {
        JSONValue.array(details.map { .object($0.members) }).json
    }

    /// Refuses types that the server does not know (RFC 9396, section 10). A server that states none may know any.
    static func check(
        _ details: [AuthorizationDetail], at server: AuthorizationServerMetadata
    ) throws(OAuthError) {
        guard details.count <= maximumCount else { throw wrong("there are more than \(maximumCount)") }
        for detail in details {
            guard !detail.type.isEmpty else { throw wrong("the type of one is empty") }
            guard let types = server.authorizationDetailsTypes else { continue }
            guard types.contains(where: { $0.isIdentical(to: detail.type) }) else {
                throw wrong(
                    "the server knows no type “\(quoted(detail.type, limit: 80))”, only "
                        + quoted(types.joined(separator: ", "), limit: 200))
            }
        }
    }

    private static func wrong(_ problem: String) -> OAuthError {
        .configuration(member: "authorization_details", problem: problem)
    }
}

extension AuthorizationDetail: Codable {
    /// Encodes the members as JSON text, which keeps the spelling of numbers.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(JSONValue.object(members).json)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let members = (try? JSONValue(parsing: Array(text.utf8)))?.object,
            let detail = AuthorizationDetail(members)
        else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "it is no authorization detail")
        }
        self = detail
    }
}

/// What a server granted of the details asked for (RFC 9396, section 7).
///
/// Servers may enrich, narrow and omit values, and no comparison of them is defined (section 6.1): types are compared, and
/// what the values mean is for the app to judge.
public enum GrantedAuthorizationDetails: Sendable, Hashable {
    /// The server did not say what it granted.
    case notTold
    /// What the server granted. `withheldTypes` were asked for and are not there, `otherTypes` were not asked for.
    case granted([AuthorizationDetail], withheldTypes: [String], otherTypes: [String])

    /// Compares what was granted with what was asked for; nil when there is neither.
    public init?(granted: [AuthorizationDetail]?, asked: [AuthorizationDetail]) {
        guard let granted else {
            guard !asked.isEmpty else { return nil }
            self = .notTold
            return
        }
        self = .granted(
            granted, withheldTypes: Self.types(of: asked, missingIn: granted),
            otherTypes: Self.types(of: granted, missingIn: asked))
    }

    /// Types are compared by their bytes, each once.
    private static func types(of details: [AuthorizationDetail], missingIn others: [AuthorizationDetail]) -> [String] {
        var types: [String] = []
        for detail in details
        where !others.contains(where: { $0.type.isIdentical(to: detail.type) })
            && !types.contains(where: { $0.isIdentical(to: detail.type) })
        {
            types.append(detail.type)
        }
        return types
    }
}
