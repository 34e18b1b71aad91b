#if Sandbox
import SandboxCore

/// Parses the URLs at which the web flow and the app begin (IFTTT Connect dossier, sections 3.4 and 11.3,
/// step 1).
struct FlowRequest: Sendable {
    /// The address at which the user arrives.
    enum Entrance: Sendable {
        /// `/access/api/{id}`.
        case sdk
        /// `/connect/{id}`.
        case publicURL
        /// `/app/connections/{id}`, in place of `ifttt-handoff-v1://connections/{id}`.
        case app
        /// `/connections/{id}/edit`.
        case editPage
    }

    /// Why the flow does not begin: shown on a page, never by a redirect.
    struct Refusal: Error, Sendable {
        let detail: String
    }

    let entrance: Entrance
    let connection: Connection
    let returnURL: ReturnURL?
    let action: Attempt.Action
    let hint: Attempt.Hint?
    let skipsConfiguration: Bool
    let createsAccount: Bool
    let code: String?
    let mailSchemes: [String]

    init(_ request: IncomingRequest, _ entrance: Entrance, in state: State, now: Double) throws(Refusal) {
        let query = request.query
        guard let connection = state.connection(request.variables["id"] ?? ""),
            let partner = state.partner(of: connection)
        else { throw Refusal(detail: "No connection has this id.") }
        guard partner.isPublished || (partner.inviteCode != nil && query["invite_code"] == partner.inviteCode) else {
            throw Refusal(detail: "The service of this connection is not published. It needs an invite code.")
        }
        self.entrance = entrance
        self.connection = connection
        returnURL = try Self.returnURL(query, entrance, partner)
        action = try Self.action(query, entrance)
        skipsConfiguration = query["skip_config"] == "true"
        guard !skipsConfiguration || returnURL != nil else {
            throw Refusal(detail: "skip_config requires a redirect URI.")
        }
        hint = try Self.hint(query, entrance)
        // The public Connect URL has no parameter for it: an unknown email address makes a new account.
        createsAccount = query["sdk_create_account"] == "true" || entrance == .publicURL
        code = Self.code(query["code"], entrance, in: state, now: now)
        mailSchemes = Array(
            query.pairs.filter { $0.name == "available_email_app_schemes[]" }.map(\.value).prefix(12))
    }

    private static func returnURL(
        _ query: FormParameters, _ entrance: Entrance, _ partner: Partner
    ) throws(Refusal) -> ReturnURL? {
        let name = entrance == .publicURL ? "redirect_uri" : "sdk_return_to"
        guard let text = query[name], entrance != .editPage else {
            if entrance == .sdk || entrance == .app { throw Refusal(detail: "sdk_return_to is missing.") }
            return nil
        }
        guard let url = ReturnURL(text, registered: partner.redirectURLs) else {
            throw Refusal(detail: "The \(name) is not one that \(partner.serviceID) has registered.")
        }
        guard entrance != .publicURL || url.isPage else {
            throw Refusal(detail: "The redirect_uri must be an https URL or on the loopback interface.")
        }
        return url
    }

    private static func action(_ query: FormParameters, _ entrance: Entrance) throws(Refusal) -> Attempt.Action {
        if entrance == .editPage { return .edit }
        guard entrance == .app, let text = query["action"] else { return .activation }
        guard let action = Attempt.Action(rawValue: text) else {
            throw Refusal(detail: "The action must be activation, edit or view.")
        }
        return action
    }

    private static func hint(_ query: FormParameters, _ entrance: Entrance) throws(Refusal) -> Attempt.Hint? {
        if let username = query["username"] { return .username(username) }
        guard let email = query["email"] else {
            if entrance == .publicURL { throw Refusal(detail: "The Connect URL must have the user's email.") }
            return nil
        }
        guard EmailSyntax.isPlausible(email) else { throw Refusal(detail: "The email is not a valid email address.") }
        return .email(email)
    }

    /// The partner's code; for the public Connect URL the one behind a provisional code.
    private static func code(_ text: String?, _ entrance: Entrance, in state: State, now: Double) -> String? {
        guard let text, entrance == .publicURL else { return text }
        guard let provisional = state.provisionalCodes[text], !provisional.isUsed,
            now < provisional.createdAt + ProvisionalCode.lifetime
        else { return nil }
        return provisional.oauthCode
    }
}
#endif
