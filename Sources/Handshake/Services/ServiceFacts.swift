import HTTPTypes
package import OAuth

/// Reads the members of a service's description, and names the one that is wrong.
struct ServiceFacts {
    let name: String
    let members: ServiceMembers
    let security: TransportSecurity

    func service() throws(HandshakeError) -> Service {
        let identity = try endpoint("userinfo_url").map { url throws(HandshakeError) in
            Service.IdentityEndpoint(
                url: url, subjectMember: try text("subject_pointer") ?? "/sub",
                nameMembers: try text("name_pointer").map { [$0] } ?? [],
                method: try choice("userinfo_method", ["GET": .get, "POST": .post]) ?? .get)
        }
        let addresses = try texts("api_origins")
        var origins: [Origin] = []
        for address in addresses { origins.append(try parsed(address, "api_origins").origin) }
        let offline = try offline()
        let scopes = try texts("default_scopes")
        _ = try flag("public_clients")
        return try Service(
            name: name, displayName: try title(), authorizationServer: try server(),
            apiRoot: try addresses.first.map { address throws(HandshakeError) in
                try parsed(address + "/", "api_origins")
            },
            apiOrigins: origins, defaultScopes: scopes + (try offline.texts("scopes")).filter { !scopes.contains($0) },
            identityEndpoint: identity, deviations: try deviations(offline: offline.map("parameters")))
    }

    private static let offlineMembers = ["always", "never", "note", "parameters", "scopes"]

    /// How a refresh token is obtained.
    private func offline() throws(HandshakeError) -> ServiceFacts {
        guard let value = members["offline"] else {
            return ServiceFacts(name: name, members: ServiceMembers([:]), security: security)
        }
        guard let offline = value.object, offline.allSatisfy({ Self.offlineMembers.contains($0.key) }) else {
            throw wrong("offline", "must be a table with some of \(Self.offlineMembers.joined(separator: ", "))")
        }
        return ServiceFacts(name: name, members: ServiceMembers(offline), security: security)
    }

    private func server() throws(HandshakeError) -> Service.AuthorizationServer {
        let issuer = try issuer()
        if let issuer, try flag("discovers") { return .discovered(issuer, security: security) }
        guard let token = try endpoint("token_url") else { throw wrong("token_url", "it is missing") }
        var server = AuthorizationServerMetadata(
            issuer: issuer ?? Issuer(originOf: token), authorizationEndpoint: try endpoint("authorize_url"),
            tokenEndpoint: token, security: security)
        server.refreshEndpoint = try endpoint("refresh_url")
        server.revocationEndpoint = try endpoint("revocation_url")
        server.deviceAuthorizationEndpoint = try endpoint("device_authorization_url")
        server.pushedAuthorizationRequestEndpoint = try endpoint("pushed_authorization_url")
        server.requiresPushedAuthorizationRequests = try flag("requires_pushed_authorization")
        server.tokenEndpointAuthMethods = try authenticationMethods()
        return .described(server)
    }

    func authenticationMethods() throws(HandshakeError) -> [String]? {
        switch try text("client_authentication") {
        case "basic": ["client_secret_basic"]
        case "post": ["client_secret_post"]
        case "private_key_jwt": ["private_key_jwt"]
        case "client_secret_jwt": ["client_secret_jwt"]
        case nil, "either": nil
        case let other?:
            throw wrong(
                "client_authentication",
                "must be basic, post, either, private_key_jwt or client_secret_jwt, not “\(quoted(other, limit: 80))”")
        }
    }

    private func deviations(offline: [String: String]) throws(HandshakeError) -> Service.Deviations {
        var deviations = Service.Deviations(
            scopeDelimiter: try text("scope_delimiter") ?? " ",
            authorizationParameters: try map("authorize_parameters"),
            credentialEncoding: try choice("credential_encoding", ["raw": .raw, "form": .formEncoded]) ?? .formEncoded)
        deviations.scopeParameter = try scopeParameter()
        deviations.offlineParameters = offline
        deviations.tokenParameters = try map("token_parameters")
        deviations.repeatsScope = try flag("repeats_scope")
        deviations.assumesS256 = try flag("assumes_s256")
        deviations.omitsResource = try flag("omits_resource")
        deviations.denialCodes = Set(try texts("denial_codes"))
        deviations.denialParameter = try denialParameter()
        deviations.hasOwnDeviceGrant = try flag("own_device_grant")
        // `https` stands for a listener that a browser reaches by TLS alone, which this package does not have.
        deviations.refusesLoopbackRedirects =
            try choice("loopback_redirects", ["yes": false, "no": true, "https": true]) ?? false
        deviations.refreshMargin = try refreshMargin()
        deviations.token = try tokenDeviations()
        if let scheme = try text("authorization_scheme") {
            deviations.authorization = .scheme(try checked(scheme, "authorization_scheme").rawName)
        }
        if let field = try text("authorization_header") {
            deviations.authorization = .field(try checked(field, "authorization_header"))
        }
        deviations.assertionAudience =
            try choice(
                "assertion_audience",
                ["issuer": .issuer, "token_endpoint": .tokenEndpoint, "endpoint": .endpoint]) ?? .issuer
        deviations.assertionType =
            try choice("assertion_type", ["JWT": "JWT", deviations.assertionType: deviations.assertionType])
            ?? deviations.assertionType
        deviations.signedSecret = try signedSecret()
        deviations.issuerTemplate = try issuerTemplate()
        deviations.requiresDPoP = try flag("requires_dpop")
        deviations.repeatedWhenPushed = Set(try texts("repeated_when_pushed"))
        deviations.revokesWholeAuthorization = try flag("revokes_whole_authorization")
        deviations.requiredHeaders = try map("required_headers")
        for (name, value) in deviations.requiredHeaders {
            _ = try checked(name, "required_headers")
            guard HTTPField.isValidValue(value) else {
                throw wrong("required_headers", "the value of “\(quoted(name, limit: 80))” cannot stand in a header")
            }
        }
        return deviations
    }

    private func signedSecret() throws(HandshakeError) -> ClientAssertion.SignedSecret? {
        let members = try map("signed_client_secret")
        guard !members.isEmpty else { return nil }
        guard let issuer = members["issuer"], let audience = members["audience"], members.count == 2,
            !issuer.isEmpty, !audience.isEmpty
        else { throw wrong("signed_client_secret", "must have exactly the members issuer and audience") }
        return ClientAssertion.SignedSecret(issuer: issuer, audience: audience)
    }

    private func tokenDeviations() throws(HandshakeError) -> TokenDeviations {
        var token = TokenDeviations()
        token.sendsJSON = try choice("token_request", ["json": true, "form": false]) ?? false
        token.readsForm = try choice("token_answer", ["form": true, "json": false]) ?? false
        token.tokenPlace = try text("token_place") ?? token.tokenPlace
        token.expiryMember = try text("expiry_member") ?? token.expiryMember
        if let unit = try text("expiry_unit"), unit != "seconds_as_text" {
            guard let unit = TokenDeviations.ExpiryUnit(rawValue: unit) else {
                throw wrong("expiry_unit", "“\(quoted(unit, limit: 80))” is not a unit")
            }
            token.expiryUnit = unit
        }
        token.zeroExpiryIsNever = try flag("zero_expiry_is_never")
        token.absentLifetime = members["absent_expiry"]?.integer.map { Int(clamping: $0) }
        token.tokenTypes = try texts("token_types")
        token.listsScopes = try flag("scope_list")
        token.errorCode = try text("error_code_pointer")
        token.errorText = try text("error_text_pointer")
        token.errorDetail = try text("error_detail_pointer")
        token.invalidGrantCodes = try invalidGrantCodes(errorCode: token.errorCode)
        token.ignoresIDToken = try flag("ignores_id_token")
        return token
    }
}

extension DiscoveredResource.Deviations {
    /// The deviations that a description of a service names.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a member of another type.
    package init(facts: JSONObject) throws(HandshakeError) {
        self.init()
        let facts = ServiceFacts(name: "", members: ServiceMembers(facts), security: .httpsOnly)
        assumesS256 = try facts.flag("assumes_s256")
        omitsResource = try facts.flag("omits_resource")
        repeatsScope = try facts.flag("repeats_scope")
        pinnedIssuers = try facts.map("pinned_issuers")
    }
}

extension ServiceFacts {
    private func wrong(_ member: String, _ problem: String) -> HandshakeError {
        .configuration(member: member.replacing("_", with: "-"), problem: problem)
    }

    func text(_ member: String) throws(HandshakeError) -> String? {
        guard let value = members[member] else { return nil }
        guard let text = value.string else { throw wrong(member, "must be text") }
        return text
    }

    /// The meaning of one of a few words, which most descriptions leave out.
    private func choice<Value>(
        _ member: String, _ words: @autoclosure () -> [String: Value]
    ) throws(HandshakeError) -> Value? {
        guard let word = try text(member) else { return nil }
        let words = words()
        guard let value = words[quoted(word, limit: 80)] else {
            throw wrong(
                member, "must be \(words.keys.sorted().joined(separator: " or ")), not “\(quoted(word, limit: 80))”")
        }
        return value
    }

    /// What the user sees in the prompt before a sign-in: one line of text that is what it looks like.
    private func title() throws(HandshakeError) -> String? {
        guard let title = try text("title") else { return nil }
        guard !title.isEmpty, title.utf8.elementsEqual(quoted(title, limit: 80).utf8) else {
            throw wrong("title", "must have 1 to 80 characters, and no control or format characters")
        }
        return title
    }

    private func scopeParameter() throws(HandshakeError) -> String {
        guard let name = try text("scope_parameter") else { return "scope" }
        let own: Set = [
            "response_type", "client_id", "redirect_uri", "state", "nonce", "code_challenge", "code_challenge_method",
        ]
        guard (1...80).contains(name.utf8.count), !own.contains(name) else {
            throw wrong("scope_parameter", "must have 1 to 80 bytes and be none of the protocol's own parameters")
        }
        return name
    }

    private func denialParameter() throws(HandshakeError) -> String? {
        guard let name = try text("denial_parameter") else { return nil }
        let own: Set = ["state", "code", "error", "error_description", "error_uri", "iss", "response"]
        guard (1...80).contains(name.utf8.count), !own.contains(name) else {
            throw wrong("denial_parameter", "must have 1 to 80 bytes and be none of the protocol's own parameters")
        }
        return name
    }

    private func invalidGrantCodes(errorCode: String?) throws(HandshakeError) -> Set<String> {
        let codes = Set(try texts("invalid_grant_codes"))
        guard !codes.isEmpty else { return [] }
        if let code = codes.intersection(ServerError.registeredCodes).min() {
            throw wrong(
                "invalid_grant_codes", "must not have “\(code)”: that code has a meaning of its own in the standards")
        }
        guard errorCode?.isEmpty != true else {
            throw wrong(
                "invalid_grant_codes",
                "must not be beside an empty “error-code-pointer”, which says that errors have no code")
        }
        return codes
    }

    private func refreshMargin() throws(HandshakeError) -> Double? {
        guard let value = members["refresh_margin"] else { return nil }
        guard let seconds = value.integer, (1...86_400).contains(seconds) else {
            throw wrong("refresh_margin", "must be a number of seconds from 1 to 86400")
        }
        return Double(seconds)
    }

    func flag(_ member: String) throws(HandshakeError) -> Bool {
        guard let value = members[member] else { return false }
        guard let flag = value.bool else { throw wrong(member, "must be true or false") }
        return flag
    }

    func texts(_ member: String) throws(HandshakeError) -> [String] {
        guard let value = members[member] else { return [] }
        guard let elements = value.array, elements.allSatisfy({ $0.string != nil }) else {
            throw wrong(member, "must be a list of texts")
        }
        return elements.compactMap(\.string)
    }

    fileprivate func map(_ member: String) throws(HandshakeError) -> [String: String] {
        guard let value = members[member] else { return [:] }
        var map: [String: String] = [:]
        for (name, value) in value.object ?? [:] { map[name] = value.string }
        guard let count = value.object?.count, count == map.count else {
            throw wrong(member, "must be a table of texts")
        }
        return map
    }

    /// A name of a header field that does not belong to the protocol.
    private func checked(_ name: String, _ member: String) throws(HandshakeError) -> HTTPField.Name {
        let own = ["authorization", "host", "content-length", "transfer-encoding", "cookie"]
        guard let field = HTTPField.Name(name), !own.contains(field.canonicalName) else {
            throw wrong(member, "“\(quoted(name, limit: 80))” cannot be used here")
        }
        return field
    }

    func endpoint(_ member: String) throws(HandshakeError) -> EndpointURL? {
        guard let address = try text(member) else { return nil }
        return try parsed(address, member)
    }

    private func parsed(_ address: String, _ member: String) throws(HandshakeError) -> EndpointURL {
        if let url = try? EndpointURL(address, security: security) { return url }
        do {
            return try EndpointURL(address, security: security, member: member.replacing("_", with: "-"))
        } catch {
            throw .exchange(error)
        }
    }

    func issuerTemplate() throws(HandshakeError) -> IssuerTemplate? {
        guard let template = try text("issuer_template") else { return nil }
        let claim = try text("tenant_claim") ?? "tid"
        do {
            return try IssuerTemplate(template, claim: claim, security: security)
        } catch {
            throw .exchange(error)
        }
    }

    func issuer() throws(HandshakeError) -> Issuer? {
        guard let text = try text("issuer") else { return nil }
        do {
            return try Issuer(text, security: security)
        } catch {
            throw .exchange(error)
        }
    }
}
