#if CommandLine
import OAuth

/// What a user writes of a service of their own in `config.toml`: the members of a built-in service, with hyphens.
enum OwnService {
    /// The members that describe a service beyond what ``Settings/ServiceSettings`` names.
    static let members = [
        "title", "revocation-url", "revokes-whole-authorization", "refresh-url", "device-authorization-url",
        "userinfo-url", "userinfo-method",
        "subject-pointer", "name-pointer", "api-origins", "default-scopes", "scope-delimiter",
        "scope-parameter",
        "authorize-parameters", "token-parameters", "token-request", "token-answer", "repeats-scope",
        "required-headers",
        "client-authentication", "credential-encoding", "token-place", "token-types", "expiry-member",
        "expiry-unit",
        "zero-expiry-is-never", "absent-expiry", "scope-list", "error-code-pointer",
        "error-text-pointer", "error-detail-pointer", "denial-codes", "denial-parameter", "own-device-grant",
        "refresh-margin", "invalid-grant-codes",
        "offline", "public-clients",
        "pushed-authorization-url", "requires-pushed-authorization", "repeated-when-pushed", "requires-dpop",
        "assertion-audience",
        "assertion-type", "signed-client-secret", "issuer-template", "tenant-claim", "ignores-id-token",
        "authorization-scheme",
        "authorization-header", "assumes-s256", "omits-resource", "pinned-issuers",
    ]

    /// The members of a table, as a built-in service has them.
    static func facts(in table: JSONObject) -> JSONObject {
        var facts = JSONObject()
        for name in members { facts[name.replacing("-", with: "_")] = table[name] }
        return facts
    }

    /// The setting that may be a list of tables.
    static let authorizationDetails = "authorization-details"
}
#endif
