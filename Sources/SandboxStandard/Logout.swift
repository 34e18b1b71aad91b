#if Sandbox
public import SandboxCore

/// The page at which a session ends (OpenID Connect RP-Initiated Logout section 2), at the clients too (Front-Channel Logout).
struct EndSessionPage: Sendable {
    /// The registered `post_logout_redirect_uris` of every client.
    static let returnURIs = [
        "http://127.0.0.1/signed-out", "http://[::1]/signed-out", "com.example.app:/signed-out",
        "https://app.example.test/standard/signed-out",
    ]

    let server: AuthorizationServer
    let signer: IDTokenSigner
    let pages: Pages

    /// Ends the session of the hint and of this browser, then sends the browser back, or says so.
    func show(_ request: IncomingRequest) -> Answer {
        let parameters = request.method == "POST" ? request.form : request.query
        if let name = parameters.doubledName { return pages.refusal("The parameter \(name) came twice.") }
        // A hint that has expired serves too (OpenID Connect RP-Initiated Logout section 4).
        let hint = parameters["id_token_hint"].map { signer.claims(of: $0)?.claims }
        if case .some(.none) = hint { return pages.refusal("The hint is no ID token of this server.") }
        let audience = hint??["aud"]?.scalarText
        let clientID = parameters["client_id"] ?? audience
        if let audience, audience != clientID { return pages.refusal("The hint is another client's.") }
        if let clientID, server.client(clientID) == nil { return pages.refusal("No app has this client_id.") }
        let uri = parameters["post_logout_redirect_uri"]
        // Before the session ends: a page that refuses has no frames, and the apps would not hear of the end.
        if let uri, clientID == nil || !RegisteredRedirect.matches(uri, registered: Self.returnURIs) {
            return pages.refusal("The post_logout_redirect_uri is not registered. You are still signed in.")
        }
        let (id, session, isNew) = server.session(of: request)
        // Without a hint the user has to agree (OpenID Connect RP-Initiated Logout section 2).
        if hint == nil, !isNew, session.user != nil, parameters["confirmed"] != session.formToken {
            return question(parameters, session.formToken)
        }
        if !isNew { server.endSession(id) }
        let frames = FrontchannelFrames(of: isNew ? [] : session.signedInClients, at: server)
        guard let uri else { return done(frames, returningTo: nil) }
        let state = parameters["state"].map {
            (uri.contains("?") ? "&" : "?") + FormParameters([("state", $0)]).urlEncoded
        }
        guard frames.addresses.isEmpty else { return done(frames, returningTo: uri + (state ?? "")) }
        return .redirect(to: uri + (state ?? ""))
    }

    private struct Done {
        let frames: [String]
        let address: String?
    }

    /// The page at the end. Frames need it: a redirect would leave before they have loaded, so the user goes on by a link.
    private func done(_ frames: FrontchannelFrames, returningTo address: String?) -> Answer {
        pages.page(
            "Signed out", Self.doneTemplate.render(Done(frames: frames.addresses, address: address)),
            frames: frames.origins)
    }

    private struct Question {
        let fields: [Field]

        struct Field {
            let name: String
            let value: String
        }
    }

    private func question(_ parameters: FormParameters, _ token: String) -> Answer {
        let fields = parameters.pairs.filter { $0.name != "confirmed" } + [("confirmed", token)]
        return pages.page(
            "Sign out",
            Self.questionTemplate.render(Question(fields: fields.map { .init(name: $0.name, value: $0.value) })))
    }

    private static let doneTemplate = Template(
        """
        <h1>You are signed out</h1>
        {{#address}}<p><a href="{{.}}">Continue to the app</a></p>{{/address}}
        {{^address}}<p>You can close this page.</p>{{/address}}
        {{#frames}}<iframe src="{{.}}" title="Signing out of an app" hidden></iframe>{{/frames}}
        """)

    private static let questionTemplate = Template(
        """
        <h1>Sign out?</h1>
        <form method="post" action="end_session">
        {{#fields}}<input type="hidden" name="{{name}}" value="{{value}}">{{/fields}}
        <button type="submit">Sign out</button>
        </form>
        """)
}

extension StandardStandIn {
    /// A logout token (OpenID Connect Back-Channel Logout section 2.4), spoiled as asked.
    ///
    /// - Parameters:
    ///   - claims: in place of the usual claims; nil leaves one out.
    ///   - header: in place of the usual header members.
    func logoutToken(
        for clientID: String, subject: String?, sessionID: String?, changing claims: [String: JSON?],
        header: [String: String]
    ) -> String? {
        let now = Int(server.clock.now)
        var usual: [(String, JSON?)] = [
            ("iss", .string(server.issuer)), ("aud", .string(clientID)), ("iat", .number(now)),
            ("exp", .number(now + 120)), ("jti", .string(RandomText.base64URL(bytes: 12))),
            ("events", ["http://schemas.openid.net/event/backchannel-logout": [:]]),
            ("sub", subject.map(JSON.string)), ("sid", sessionID.map(JSON.string)),
        ]
        usual = usual.map { ($0.0, claims.keys.contains($0.0) ? claims[$0.0] ?? nil : $0.1) }
        for (name, value) in claims.sorted(by: { $0.key < $1.key }) where !usual.contains(where: { $0.0 == name }) {
            usual.append((name, value))
        }
        return signer.sign(
            usual.reduce(.object([])) { $0.adding($1.0, $1.1) }, as: .logoutToken, type: "logout+jwt", changing: header)
    }

    /// The form's `client_id`, `sub` and `sid` say for whom; `claim.NAME` is JSON or `-`, `header.NAME` is text.
    func logoutToken(_ request: IncomingRequest) -> Answer {
        guard let clientID = request.form["client_id"] else { return .text("client_id is missing.\n", status: 400) }
        var claims: [String: JSON?] = [:]
        var header: [String: String] = [:]
        for (name, value) in request.form.pairs {
            if name.hasPrefix("claim.") {
                claims.updateValue(JSON(parsing: Array(value.utf8)), forKey: String(name.dropFirst(6)))
            } else if name.hasPrefix("header.") {
                header[String(name.dropFirst(7))] = value
            }
        }
        let token = logoutToken(
            for: clientID, subject: request.form["sub"], sessionID: request.form["sid"], changing: claims,
            header: header)
        return .text(token ?? "", status: token == nil ? 500 : 200)
    }
}

extension Sandbox {
    /// Gives the standard server another signing key. The last one stays published; each one before it is gone.
    public func rotateSigningKeys() {
        standIn(StandardStandIn.self).signer.rotateKeys()
    }

    /// A logout token of the standard server. A test posts it to the app, as the server would.
    ///
    /// - Parameters:
    ///   - clientID: the client that it is for.
    ///   - subject: the user; nil leaves `sub` out.
    ///   - sessionID: the session; nil leaves `sid` out.
    ///   - claims: JSON texts in place of the usual claims; nil, or what is no JSON, leaves a claim out.
    ///   - header: texts in place of the usual header members.
    public func logoutToken(
        for clientID: String, subject: String? = nil, sessionID: String? = nil,
        changing claims: [String: String?] = [:],
        header: [String: String] = [:]
    ) -> String {
        withSignedTextFaults(.standard, "POST", "/_sandbox/logout-token") {
            standIn(StandardStandIn.self).logoutToken(
                for: clientID, subject: subject, sessionID: sessionID,
                changing: claims.mapValues { text in text.flatMap { JSON(parsing: Array($0.utf8)) } }, header: header)
                ?? ""
        }
    }
}
#endif
