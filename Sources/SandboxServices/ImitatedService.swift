#if Sandbox
public import SandboxCore

/// A service that a sandbox imitates, as its public description says.
///
/// The description is what `handshake services show NAME --json` prints. It is read with code of the sandbox's own, so that
/// a misreading by the client shows.
public struct ImitatedService: Sendable {
    /// The name that the sandbox, its faults and `handshake login` know it by.
    public let name: SandboxService.Name
    /// The name as people read it.
    public let title: String
    /// The placeholders that a sign-in gives values for, with an example of each.
    public let placeholders: [(name: String, example: String)]

    let facts: JSON
    let authorize: AddressTemplate
    let token: AddressTemplate

    /// Reads a description.
    ///
    /// - Parameter text: one JSON object.
    /// - Throws: ``ImitationError`` for a text that is no description, and for a service that cannot be imitated.
    public init(parsing text: String) throws(ImitationError) {
        guard let facts = JSON(parsing: Array(text.utf8)), case .string(let name)? = facts["name"], Self.isName(name)
        else { throw .notADescription }
        self.facts = facts
        self.name = SandboxService.Name(rawValue: name)
        title = facts["title"]?.scalarText ?? name
        if let reason = Self.obstacle(facts) { throw .notImitated(service: title, reason: reason) }
        guard let authorize = AddressTemplate(facts["authorize_url"]?.scalarText) else {
            throw .notImitated(service: title, reason: "its description has no page to sign in on (authorize_url)")
        }
        guard let token = AddressTemplate(facts["token_url"]?.scalarText) else {
            throw .notImitated(service: title, reason: "its description has no token endpoint (token_url)")
        }
        self.authorize = authorize
        self.token = token
        var placeholders: [(name: String, example: String)] = []
        if case .object(let members)? = facts["placeholders"] {
            for member in members where !member.value.has("default") {
                placeholders.append((member.name, member.value["example"]?.scalarText ?? ""))
            }
        }
        self.placeholders = placeholders
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    /// Why a service cannot be imitated; nil when it can.
    private static func obstacle(_ facts: JSON) -> String? {
        if let reason = facts["unsupported"]?.scalarText { return reason }
        let signs = ["private_key_jwt", "client_secret_jwt"].contains(facts["client_authentication"]?.scalarText ?? "")
        if signs || facts.has("signed_client_secret") { return "its clients sign what they authenticate with" }
        if facts["requires_pushed_authorization"] == .bool(true) { return "its authorization requests are pushed" }
        if let status = facts["error_status"], !(200...599).contains(status.integer ?? 0) {
            return "its error_status is no status"
        }
        return facts["requires_dpop"] == .bool(true) ? "its tokens are bound to a key" : nil
    }
}

/// Why a sandbox does not imitate a service.
public enum ImitationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text is no description of a service.
    case notADescription
    /// The service has what a sandbox cannot imitate.
    case notImitated(service: String, reason: String)

    /// What is wrong.
    public var description: String {
        switch self {
        case .notADescription: "It is not a description that “handshake services show NAME --json” prints."
        case .notImitated(let service, let reason): "The sandbox cannot imitate \(service): \(reason)."
        }
    }
}

extension ImitatedService {
    func text(_ member: String) -> String? { facts[member]?.scalarText }

    func flag(_ member: String) -> Bool { facts[member] == .bool(true) }

    func texts(_ member: String) -> [String] { facts[member]?.elements?.compactMap(\.scalarText) ?? [] }

    func table(_ member: String) -> [(name: String, value: String)] { Self.pairs(facts[member]) }

    private static func pairs(_ value: JSON?) -> [(name: String, value: String)] {
        guard case .object(let members)? = value else { return [] }
        return members.compactMap { member in member.value.scalarText.map { (member.name, $0) } }
    }

    /// How a refresh token is obtained.
    enum Offline {
        case always
        case never
        /// With all of these scopes and parameters in the authorization request.
        case asked(scopes: [String], parameters: [(name: String, value: String)])
    }

    /// Where the description does not say, there is none.
    var offline: Offline {
        let offline = facts["offline"]
        if offline?["never"] == .bool(true) { return .never }
        if offline?["always"] == .bool(true) { return .always }
        let scopes = offline?["scopes"]?.elements?.compactMap(\.scalarText) ?? []
        let parameters = Self.pairs(offline?["parameters"])
        return scopes.isEmpty && parameters.isEmpty ? .never : .asked(scopes: scopes, parameters: parameters)
    }

    /// How clients show their secret.
    enum Authentication {
        case none
        case basic
        case post
        case either
    }

    var authentication: Authentication {
        if flag("public_clients") { return .none }
        return switch text("client_authentication") {
        case "basic": .basic
        case "post": .post
        default: .either
        }
    }

    /// Whether a code verifier counts.
    var usesProofKeys: Bool { text("pkce") != "unsupported" }

    var scopeDelimiter: String { text("scope_delimiter") ?? " " }
    var scopeParameter: String { text("scope_parameter") ?? "scope" }

    /// What every request for a token or of the API carries, but for the fields that belong to the message itself.
    var requiredFields: [(name: String, value: String)] {
        table("required_headers").filter { !["accept", "content-type"].contains($0.name.lowercased()) }
    }

    /// Whether ID tokens are given and can be checked.
    var isOpenID: Bool { flag("discovers") && text("issuer") != nil }
}
#endif
