#if Sandbox
import SandboxCore

/// An issuer with a path at the standard server's origin, with clients, keys and tokens of its own.
struct Tenant: Sendable {
    /// Where its metadata are (RFC 8414 sections 3.1 and 5, OpenID Connect Discovery section 4).
    enum Place: Sendable {
        /// The well-known name of RFC 8414, then the path.
        case oauth
        /// The well-known name of OpenID, then the path.
        case openIDBeforePath
        /// The path, then the well-known name of OpenID.
        case openIDAfterPath
    }

    let prefix: String
    /// What follows the prefix in the issuer: a slash or nothing.
    var issuerSuffix = ""
    let places: [Place]
    /// Whether its responses name the issuer of the origin itself, as a hostile neighbour does (RFC 9207 section 1).
    var borrowsIssuer = false

    static let all = [
        Tenant(prefix: "/tenant1", places: [.oauth, .openIDBeforePath, .openIDAfterPath]),
        Tenant(prefix: "/tenant2", issuerSuffix: "/", places: [.openIDAfterPath]),
        Tenant(prefix: "/tenant3", places: [.openIDBeforePath]), Tenant(prefix: "/tenant4", places: [.oauth]),
        Tenant(prefix: "/neighbour", places: [.oauth, .openIDAfterPath], borrowsIssuer: true),
    ]

    func discovery(of server: AuthorizationServer) -> [Route] {
        places.map { place in
            let path =
                switch place {
                case .oauth: "/.well-known/oauth-authorization-server" + prefix
                case .openIDBeforePath: "/.well-known/openid-configuration" + prefix
                case .openIDAfterPath: prefix + "/.well-known/openid-configuration"
                }
            return Route("GET", path: path, note: borrowsIssuer ? "metadata of a hostile neighbour" : "metadata") { _ in
                .json(ServerMetadata.json(server))
            }
        }
    }
}

/// A client that is named by the address of its own document (draft-ietf-oauth-client-id-metadata-document-01).
///
/// The sandbox has the document at a path of its own and knows it: it fetches nothing.
enum DocumentedClient {
    static let id = "https://app.example.test/oauth/client.json"
    static let path = "/oauth/client.json"
    static let redirects = ["http://127.0.0.1/callback", "http://[::1]/callback"]

    static var document: JSON {
        [
            "client_id": .string(id), "client_name": "An app with a document", "redirect_uris": JSON(redirects),
            "response_types": ["code"], "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none", "application_type": "native",
        ]
    }
}
#endif
