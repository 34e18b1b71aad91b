#if CommandLine
import Foundation
import OAuth

extension Settings {
    /// The settings file, `config.toml`.
    struct File: Decodable {
        var vault: String?
        var vaultKey: String?
        var services: [String: ServiceSettings]?

        enum CodingKeys: String, CodingKey {
            case vaultKey = "vault-key"
            case vault, services
        }
    }

    /// What `login` otherwise takes from options, one table a service: `[services.recurse-center]`.
    struct ServiceSettings: Decodable {
        var issuer: String?
        var baseURL: String?
        var preset: String?
        var authorizeURL: String?
        var tokenURL: String?
        var clientID: String?
        var clientSecretFile: String?
        var key: String?
        var keyID: String?
        var par: String?
        var dpop: String?
        var auth: String?
        var redirect: String?
        var scope: [String]?
        var resource: [String]?
        var browser: String?
        var certificate: String?
        var requestObject: Bool?
        var responseMode: String?
        var fapi2: Bool?
        var retryLostRefreshes: Bool?
        /// `id_token_signed_response_alg` and its relatives: what the client is registered with.
        var idTokenAlgorithm: String?
        var userInfoAlgorithm: String?
        var responseAlgorithm: String?
        /// What to authorize in detail, as JSON; written as a text or as a list of tables, and read apart.
        var authorizationDetails: String?
        /// The values of the service's placeholders.
        var set: [String: String]?
        /// What describes a service of the user's own; read apart, because its values differ in type.
        var facts = JSONObject()

        enum CodingKeys: String, CodingKey, CaseIterable {
            case issuer
            case baseURL = "base-url"
            case authorizeURL = "authorize-url"
            case tokenURL = "token-url"
            case clientID = "client-id"
            case clientSecretFile = "client-secret-file"
            case keyID = "key-id"
            case requestObject = "request-object"
            case responseMode = "response-mode"
            case retryLostRefreshes = "retry-lost-refreshes"
            case idTokenAlgorithm = "id-token-algorithm"
            case userInfoAlgorithm = "userinfo-algorithm"
            case responseAlgorithm = "response-algorithm"
            case preset, key, par, dpop, auth, redirect, scope, resource, browser, set, certificate, fapi2
        }

        /// The description of a service of the user's own at these addresses.
        func description(issuer: String?, authorize: String?, token: String?) -> JSONObject {
            var facts = facts
            facts["issuer"] = issuer.map { .string($0) }
            facts["authorize_url"] = authorize.map { .string($0) }
            facts["token_url"] = token.map { .string($0) }
            facts["discovers"] = .bool(token == nil)
            return facts
        }
    }
}

extension Settings.File {
    /// The longest settings file that is read, in bytes.
    static let sizeLimit = 1 << 18

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - bytes: the file, which may hold anything.
    ///   - path: what errors call it.
    /// - Throws: ``CommandError`` that names the file and the place.
    init(_ bytes: [UInt8], path: String) throws(CommandError) {
        let path = quoted(path, limit: 4096)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw CommandError.usage("“\(path)” is not text in UTF-8. Correct the file.")
        }
        let table: JSONObject
        do {
            table = try TOMLReader.members(of: bytes)
        } catch {
            throw CommandError.usage("“\(path)” is not valid TOML, line \(error.line): \(error.problem).")
        }
        do {
            try Self.check(table, path: path)
            self = try JSONDecoder().decode(Settings.File.self, from: Data(JSONValue.object(table).json.utf8))
            for (name, service) in table["services"]?.object ?? [:] {
                let members = service.object ?? [:]
                services?[name]?.authorizationDetails = members[OwnService.authorizationDetails].map {
                    $0.string ?? $0.json
                }
                services?[name]?.facts = OwnService.facts(in: members)
            }
        } catch let error as DecodingError {
            throw CommandError.usage("“\(path)”: \(quoted(Self.describe(error), limit: 400)).")
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError.usage("“\(path)” cannot be read: \(quoted("\(error)", limit: 400))")
        }
    }

    /// A misspelt setting would otherwise be ignored without a word.
    private static func check(_ table: JSONObject, path: String) throws(CommandError) {
        func refuse(_ names: [String], known: [String], all: String, in place: String) throws(CommandError) {
            for name in names where !known.contains(name) {
                let advice =
                    NearestName.find(name, among: known).map { "Did you mean “\($0)”?" } ?? "The settings are \(all)."
                throw CommandError.usage(
                    "“\(path)”: \(place)“\(quoted(name, limit: 80))” is not a setting. \(advice)")
            }
        }
        try refuse(table.keys, known: ["vault", "vault-key", "services"], all: "vault, vault-key and services", in: "")
        guard let services = table["services"]?.object else { return }
        // Swift takes spellings that Unicode calls equivalent for one name, and would drop one of two tables.
        var names: Set<String> = []
        for name in services.keys {
            guard names.insert(name).inserted else {
                throw CommandError.usage(
                    "“\(path)”: there are two tables [services.\(quoted(name, limit: 80))], whose names look the same and differ "
                        + "in their bytes (Unicode normalization). Rename or remove one of them.")
            }
            guard let service = services[name]?.object else {
                throw CommandError.usage(
                    "“\(path)”: “services.\(quoted(name, limit: 80))” has to be a table, [services.\(quoted(name, limit: 80))]."
                )
            }
            try refuse(
                service.keys,
                known: Settings.ServiceSettings.CodingKeys.allCases.map(\.rawValue) + OwnService.members
                    + [OwnService.authorizationDetails],
                all: "the options of handshake login, and the members in Documentation/Services.md",
                in: "in [services.\(quoted(name, limit: 80))], ")
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            "“\(context.codingPath.map(\.stringValue).joined(separator: "."))” has to be \(word(for: type))"
        case .keyNotFound(let key, _): "“\(key.stringValue)” is missing"
        case .dataCorrupted: "it cannot be understood"
        @unknown default: "it cannot be understood"
        }
    }

    private static func word(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "text in quotation marks"
        case is Bool.Type: "true or false"
        case is [Any].Type: "a list, [\"a\", \"b\"]"
        case is [String: Any].Type: "a table"
        default: "of another type"
        }
    }
}
#endif
