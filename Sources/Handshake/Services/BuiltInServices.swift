public import OAuth

extension Service {
    /// Sequencing.com: genetic files and app chains (`sequencing.md` sections 0 and 1).
    ///
    /// Basic credentials go raw, scopes are divided by commas, and `mobile=1` asks for the narrow pages. Revocation and
    /// `/me`, which the service's dossier introduces, are used where the server has them.
    public static let sequencing = sequencing(
        site: EndpointURL(https: "sequencing.com", path: "/"), api: EndpointURL(https: "api.sequencing.com", path: "/"),
        security: .httpsOnly)

    /// The Recurse Center: its directory of people (`recurse-center.md` sections 1 to 4).
    ///
    /// Access tokens live two hours and a refresh token works once. A refused token may be said with any status and the
    /// message `unauthorized`.
    public static let recurseCenter = recurseCenter(
        origin: EndpointURL(https: "www.recurse.com", path: "/"), security: .httpsOnly)

    /// IFTTT: connections between services (`ifttt-connect.md` sections 0 to 2).
    ///
    /// Its user tokens come from a redirect of IFTTT's own kind or from the partner's server, never by a code that this
    /// package exchanges: an account is made by `Handshake/adopt(_:as:of:)`, and signing in by a browser is refused,
    /// because there is no authorization endpoint. A token does not expire at a known time and cannot be renewed. The
    /// client's identifier is the partner's service at IFTTT.
    public static let ifttt = ifttt(
        site: EndpointURL(https: "ifttt.com", path: "/"), api: EndpointURL(https: "connect.ifttt.com", path: "/"),
        security: .httpsOnly)

    /// A built-in service at another address, such as a sandbox: every host of the service is replaced by this one.
    ///
    /// - Throws: `OAuthError` when the address is not acceptable under `security`.
    /// - Returns: nil when no built-in service has this name.
    public static func builtIn(
        _ name: String, at baseURL: String, security: TransportSecurity = .httpsOnly
    ) throws(OAuthError) -> Service? {
        let base = try EndpointURL(baseURL, security: security, member: "base-url")
        return switch name {
        case "sequencing": sequencing(site: base, api: base, security: security)
        case "recurse-center": recurseCenter(origin: base, security: security)
        case "ifttt": ifttt(site: base, api: base, security: security)
        default: nil
        }
    }

    /// The services that one can sign in to without describing them.
    public static let builtIn: [Service] = [.sequencing, .recurseCenter]

    private static func sequencing(site: EndpointURL, api: EndpointURL, security: TransportSecurity) -> Service {
        let identity = site.at(path: "/me")
        return Service(
            checkedName: "sequencing", displayName: "Sequencing.com",
            authorizationServer: .described(
                server(
                    at: site, authorize: "/oauth2/authorize", token: "/oauth2/token", revoke: "/oauth2/revoke", security
                )),
            apiRoot: api.at(path: "/"), apiOrigins: [site.origin], defaultScopes: ["demo", "external"],
            identityEndpoint: IdentityEndpoint(
                url: identity, subjectMember: "uid", nameMembers: ["username", "email"]),
            deviations: Deviations(
                scopeDelimiter: ",", authorizationParameters: ["mobile": "1"], credentialEncoding: .raw))
    }

    private static func recurseCenter(origin: EndpointURL, security: TransportSecurity) -> Service {
        Service(
            checkedName: "recurse-center", displayName: "Recurse Center",
            authorizationServer: .described(
                server(
                    at: origin, authorize: "/oauth/authorize", token: "/oauth/token", revoke: "/oauth/revoke", security)
            ),
            apiRoot: origin.at(path: "/api/v1/"),
            identityEndpoint: IdentityEndpoint(
                url: origin.at(path: "/api/v1/profiles/me"), subjectMember: "id", nameMembers: ["name", "first_name"]),
            deviations: Deviations(unauthorizedMessages: ["unauthorized"]))
    }

    private static func ifttt(site: EndpointURL, api: EndpointURL, security: TransportSecurity) -> Service {
        Service(
            checkedName: "ifttt", displayName: "IFTTT",
            authorizationServer: .described(
                AuthorizationServerMetadata(
                    issuer: Issuer(originOf: site), tokenEndpoint: api.at(path: "/v2/user_token"), security: security)),
            apiRoot: api.at(path: "/v2/"),
            identityEndpoint: IdentityEndpoint(
                url: api.at(path: "/v2/me"), subjectMember: "user_login", nameMembers: ["user_login"]),
            deviations: Deviations())
    }

    private static func server(
        at origin: EndpointURL, authorize: String, token: String, revoke: String, _ security: TransportSecurity
    ) -> AuthorizationServerMetadata {
        var server = AuthorizationServerMetadata(
            issuer: Issuer(originOf: origin), authorizationEndpoint: origin.at(path: authorize),
            tokenEndpoint: origin.at(path: token), security: security)
        server.revocationEndpoint = origin.at(path: revoke)
        return server
    }
}
