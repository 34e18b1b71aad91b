public import OAuth

extension Service {
    /// Sequencing.com: genetic files and app chains (`sequencing.md` sections 0 and 1).
    ///
    /// Basic credentials go raw, scopes are divided by commas, and `mobile=1` asks for the narrow pages. It says
    /// who the user is only to a request with the access token in its URL (section 1.9). Revocation, which the dossier introduces,
    /// is used where the server has it.
    public static let sequencing: Service = {
        let site = EndpointURL(https: "sequencing.com", path: "/")
        return Service(
            checkedName: "sequencing", displayName: "Sequencing.com",
            authorizationServer: .described(
                server(at: site, authorize: "/oauth2/authorize", token: "/oauth2/token", revoke: "/oauth2/revoke")),
            apiRoot: EndpointURL(https: "api.sequencing.com", path: "/"), apiOrigins: [site.origin],
            defaultScopes: ["demo", "external"],
            identityEndpoint: IdentityEndpoint(
                url: site.at(path: "/indexApi.php", query: "q=js/custom_oauth2_server/custom-token-info/"),
                subjectMember: "uid", nameMembers: ["username", "email"], tokenPlacement: .endOfURL),
            deviations: Deviations(
                scopeDelimiter: ",", authorizationParameters: ["mobile": "1"], credentialEncoding: .raw))
    }()

    /// The Recurse Center's directory of people (`recurse-center.md` sections 1 to 4).
    ///
    /// Access tokens live two hours and a refresh token works once. A refused token may be said with any status and the
    /// message `unauthorized`.
    public static let recurseCenter = makeRecurseCenter(ownProfile: "profiles/me")

    /// The Recurse Center as it was in 2014, at an origin of your own.
    ///
    /// It was Hacker School then (`recurse-center.md` section 1). For servers and sandboxes that have people under `/people` and no `/profiles`: the old host may no longer answer. `RecurseCenter`
    /// asks an account of this service for people in that representation.
    ///
    /// - Parameter base: the origin of the server.
    public static func hackerSchool(at base: EndpointURL) -> Service {
        makeRecurseCenter(ownProfile: "people/me").at(base)
    }

    private static func makeRecurseCenter(ownProfile path: String) -> Service {
        let origin = EndpointURL(https: "www.recurse.com", path: "/")
        return Service(
            checkedName: "recurse-center", displayName: "Recurse Center",
            authorizationServer: .described(
                server(at: origin, authorize: "/oauth/authorize", token: "/oauth/token", revoke: "/oauth/revoke")),
            apiRoot: origin.at(path: "/api/v1/"),
            identityEndpoint: IdentityEndpoint(
                url: origin.at(path: "/api/v1/" + path), subjectMember: "id", nameMembers: ["name", "first_name"]),
            deviations: Deviations(unauthorizedMessages: ["unauthorized"]))
    }

    /// IFTTT: connections between services (`ifttt-connect.md` sections 0 to 2).
    ///
    /// Its user tokens come from a redirect of IFTTT's own kind or from the partner's server, never by a code that this
    /// package exchanges: an account is made by `Handshake/adopt(_:as:of:)`, and signing in by a browser is refused,
    /// because there is no authorization endpoint. A token does not expire at a known time and cannot be refreshed. The
    /// client's identifier is the partner's service at IFTTT.
    public static let ifttt: Service = {
        let api = EndpointURL(https: "connect.ifttt.com", path: "/")
        return Service(
            checkedName: "ifttt", displayName: "IFTTT",
            authorizationServer: .described(
                AuthorizationServerMetadata(
                    issuer: Issuer(originOf: EndpointURL(https: "ifttt.com", path: "/")),
                    tokenEndpoint: api.at(path: "/v2/user_token"))),
            apiRoot: api.at(path: "/v2/"),
            identityEndpoint: IdentityEndpoint(
                url: api.at(path: "/v2/me"), subjectMember: "user_login", nameMembers: ["user_login"]),
            deviations: Deviations())
    }()

    /// The services that users sign in to and whose API this package has a library for.
    public static let builtIn: [Service] = [.sequencing, .recurseCenter]

    private static func server(
        at origin: EndpointURL, authorize: String, token: String, revoke: String
    ) -> AuthorizationServerMetadata {
        var server = AuthorizationServerMetadata(
            issuer: Issuer(originOf: origin), authorizationEndpoint: origin.at(path: authorize),
            tokenEndpoint: origin.at(path: token))
        server.revocationEndpoint = origin.at(path: revoke)
        return server
    }
}
