#if CommandLine
import Handshake
import OAuth

/// An account that an earlier `login` made, found by its name.
struct KnownAccount {
    let account: Account
    let client: Client
    let handshake: Handshake

    /// Opens the account.
    ///
    /// - Throws: ``CommandError`` with status 3 when there is none, and with its cure when its record is damaged.
    static func open(_ name: String, in vault: any Vault) async throws -> KnownAccount {
        try await naming(name) { try await find(name, in: vault) }
    }

    /// Opens the account.
    ///
    /// - Throws: ``CommandError`` with status 3 when there is none; ``HandshakeError/vault(_:)``.
    static func find(_ name: String, in vault: any Vault) async throws -> KnownAccount {
        guard let client = try await Registrations(in: vault).client(named: name) else {
            throw try await absent(name, in: vault)
        }
        let handshake = try Handshake(client, vault: vault)
        guard let account = try await handshake.account(name) else { throw try await absent(name, in: vault) }
        return KnownAccount(account: account, client: client, handshake: handshake)
    }

    /// Runs a body; the error of a damaged record says how to remove the account.
    static func naming<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch HandshakeError.vault(let error) {
            throw curable(error, of: name)
        }
    }

    /// The error with its cure, if it has one.
    static func curable(_ error: VaultError, of name: String) -> any Error {
        guard case .damaged = error else { return error }
        return CommandError(
            status: .vault, code: error.code,
            message:
                "\(error)\nOr remove the account with: handshake logout \(shellWord(name)) --local\nThen sign in again."
        )
    }

    /// Uses the account. When that fails or is interrupted, a running refresh is completed before the process ends.
    func use<Result>(_ body: (Account) async throws -> Result) async throws -> Result {
        do {
            return try await body(account)
        } catch {
            await handshake.finishRefreshes()
            throw advised(error)
        }
    }

    /// Whether the server may give ID tokens: it has keys to check them with, or is not known.
    var hasIDTokens: Bool {
        let server: AuthorizationServerMetadata? =
            switch client.service.authorizationServer {
            case .described(let server): server
            case .discovered: account.status.server
            }
        return server.map { $0.keysEndpoint != nil } ?? true && !client.service.deviations.token.ignoresIDToken
    }

    /// The command that signs in to this account again, and asks for these scopes too.
    ///
    /// - Parameter demands: parameters of the authorization request, each `NAME=VALUE`.
    func login(adding scopes: [String] = [], asking demands: [String] = []) -> String {
        let name = account.status.id.name
        let service = client.service.name
        // Without an ID token the API alone judges: what a command demands would be refused (D8).
        let isIdentified =
            account.status.isWithoutUser
            ? (client.scopes + scopes).contains("openid") && !client.service.deviations.token.ignoresIDToken
            : account.status.identity != nil
        let asked = isIdentified ? demands : unproven(demands)
        let replaced = isIdentified || demands.isEmpty ? demands : demands + ["max_age="]
        let isContext = asked.contains { $0.hasPrefix("acr_values=") }
        let unwanted = client.options.requiresAuthenticationContext ? " --no-require-acr" : ""
        let demand = !isContext ? "" : isIdentified ? " --require-acr" : unwanted
        let device = client.signsInOnDevice ? " --device" : ""
        // Only a user can be authenticated in another way.
        let grant = !demands.isEmpty && account.status.isWithoutUser ? " --grant authorization-code" : ""
        return Self.login(name, at: service) + device
            + (client.id == PersonalToken.clientID ? " --token-file FILE" : "")
            + (scopes.isEmpty ? [] : client.scopes + scopes.filter { !client.scopes.contains($0) })
            .map { " --scope \(Self.shellWord($0))" }.joined()
            + parameters(with: asked, besides: replaced).map { " --param \(Self.shellWord($0))" }.joined()
            + demand + grant
    }

    /// The command that signs in to this account again for what an API has demanded.
    private func login(for demand: ResourceDemand) -> String {
        login(
            adding: demand.demandedScopes,
            asking: demand.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
    }

    /// The command that signs in to an account again.
    static func login(_ name: String, at service: String) -> String {
        "handshake login \(shellWord(service))" + (name == service ? "" : " --account \(shellWord(name))")
    }

    /// The parameters of the last sign-in that are for a page. What went to the token endpoint is not.
    private var pageParameters: [String: String] { account.status.isWithoutUser ? [:] : client.parameters }

    /// The parameters that ask for what is demanded, and demand no proof of it: a new authentication in place of its age.
    private func unproven(_ demands: [String]) -> [String] {
        let deviations = client.service.deviations
        // Where the service sets this parameter itself, it cannot be stated.
        let isOwn = deviations.authorizationParameters["prompt"] != nil
        // A refresh token may be given with consent only.
        let prompt = pageParameters["prompt"] ?? deviations.offlineParameters["prompt"] ?? ""
        let again = prompt.split(separator: " ").contains("consent") ? "prompt=login consent" : "prompt=login"
        return demands.compactMap { $0.hasPrefix("max_age=") ? (isOwn ? nil : again) : $0 }
    }

    /// The parameters of the last sign-in with those that are asked for, which take the place of those that are demanded.
    private func parameters(with asked: [String], besides demands: [String]) -> [String] {
        guard !demands.isEmpty else { return [] }
        let names = (asked + demands).map { $0.prefix { $0 != "=" } }
        let kept = pageParameters.filter { !names.contains($0.key[...]) }
        return kept.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } + asked
    }

    /// What an API demands of the user's sign-in, as a sentence.
    private func question(_ demand: ResourceDemand) -> String {
        guard case .stepUp(let values, let age, let scopes) = demand else { return "The API requires a new sign-in." }
        let more = scopes.filter { !client.scopes.contains($0) }.map { "“\($0)”" }.joined(separator: ", ")
        let asked = more.isEmpty ? "" : " It asks for more: \(more)."
        guard !values.isEmpty || (age ?? 0) > 0 else { return "The API requires a new sign-in." + asked }
        return "The API requires a sign-in"
            + (values.isEmpty ? "" : " with \(values.map { "“\($0)”" }.joined(separator: " or "))")
            + (age.map { $0 == 0 ? ", made now." : " that is at most \($0) s old." } ?? ".") + asked
    }

    /// Asks a user at a terminal for what an API has demanded; nil when there is no terminal, when no sign-in satisfies the
    /// API, or when the user declines.
    ///
    /// - Throws: what the sign-in and the vault throw.
    func steppedUp(_ error: any Error, in vault: any Vault, timeout: Duration) async throws -> KnownAccount? {
        guard StandardInput.isTerminal, !Output.isQuiet, !Output.isJSON,
            case HandshakeError.demanded(let demand, _) = error, client.id != PersonalToken.clientID,
            !client.signsInOnDevice
        else { return nil }
        let question: String
        let wider = client.scopes + demand.demandedScopes.filter { !client.scopes.contains($0) }
        switch demand {
        case .scopes(let scopes) where !scopes.isEmpty:
            let names = scopes.map { "“\($0)”" }.joined(separator: ", ")
            question = "The API requires the scope \(names), which this account does not have."
        case .stepUp: question = self.question(demand)
        case .scopes, .freshToken, .boundToken: return nil
        }
        let answer = try await Prompt.line(
            "\(question)\nSign in again in the browser now? The time counts in --timeout. [y/N]", wanted: "an answer")
        guard ["y", "yes"].contains(answer.lowercased().filter { !$0.isWhitespace }) else { return nil }
        let again: Account
        do {
            again = try await handshake.signIn(
                again: account, for: demand, through: AnnouncedBrowser(), timeout: timeout)
        } catch HandshakeError.exchange(.server(let error)) where error.code == "invalid_scope" {
            guard try await registersMore(for: wider, in: vault) else { throw HandshakeError.exchange(.server(error)) }
            throw CommandError(
                status: .serviceError, code: "invalid_scope",
                message: "\(error) The app is registered there for fewer scopes. A new sign-in registers it for all of "
                    + "them. Sign in again with: \(login(for: demand))")
        }
        guard wider != client.scopes else { return KnownAccount(account: again, client: client, handshake: handshake) }
        // Otherwise the next sign-in of this account would ask for less.
        let known = try await Registrations(in: vault).remember(wider, of: client, as: again.status.id.name)
        return KnownAccount(account: again, client: known, handshake: handshake)
    }

    /// Whether a new sign-in would register the app for more: it is not registered for all of these scopes yet.
    func registersMore(for scopes: [String], in vault: any Vault) async throws -> Bool {
        // The step-up, or another process, may have widened the registration since the client was read.
        let stored = try await Registrations(in: vault).client(named: account.status.id.name)
        return (stored ?? client).registration.map { !$0.covers(scopes) } ?? false
    }

    /// A word for a command that the user may copy. What a shell could take for more than text is quoted: a service chose it.
    static func shellWord(_ text: String) -> String {
        guard !text.isEmpty else { return "''" }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-._:/@%+=,".utf8.contains(byte)
            }
        }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// The settings that say which client this is, and how it authenticates.
    private var clientSettings: [String] {
        if client.assertion != nil, client.credential == nil { return ["client-id", "key", "key-id"] }
        return switch client.credential {
        case nil: ["client-id"]
        case .secret?: ["client-id", "client-secret-file", "auth"]
        case .key?: ["client-id", "key", "key-id", "auth"]
        case .certificate?: ["client-id", "certificate", "auth"]
        }
    }

    /// Why a token that is bound to a key authorizes no other program, and what does.
    var boundTokenNote: String {
        "The token of “\(account.status.id.name)” is bound to a key (DPoP): each request needs a proof by that key. "
            + sendAdvice
    }

    /// What another program needs beside a token that is bound to a certificate, and what does without; nil for any other token.
    var certificateNote: String? {
        guard account.status.isBoundToCertificate, !account.status.isBound else { return nil }
        return "The token of “\(account.status.id.name)” is bound to the client's certificate: it is of no use on "
            + "connections without that certificate. \(sendAdvice)"
    }

    private var sendAdvice: String {
        "Send it with: handshake request GET URL --account \(Self.shellWord(account.status.id.name))"
    }

    /// The error with the command that cures it, when a sign-in does.
    func advised(_ error: any Error) -> any Error {
        guard let error = error as? HandshakeError else { return error }
        switch error {
        case .signInRequired(let id, .signingOut):
            return CommandError(
                status: .signInNeeded, code: error.code,
                message: "The sign-out of “\(id.name)” is not finished. Finish it with: handshake logout "
                    + Self.shellWord(id.name))
        case .signInRequired(let id, .certificateChanged):
            return CommandError(
                status: .signInNeeded, code: error.code,
                message: "The tokens of “\(id.name)” are bound to an earlier certificate. Use that one, or sign in "
                    + "again with: \(login())")
        case .signInRequired(_, let reason):
            // An access token may live on where it was refused once, or does not live for as long as was asked for.
            let subject =
                account.status.state == .signedIn
                ? "“\(account.status.id.name)” needs a new sign-in"
                : "The session of “\(account.status.id.name)” has ended"
            return CommandError(
                status: .signInNeeded, code: error.code,
                message: "\(subject): \(reason.text). Sign in again with: \(login())")
        case .clientForgotten:
            return CommandError(
                status: .signInNeeded, code: error.code,
                message: "\(client.service.authorizationServer.issuer) no longer knows the app that it registered for "
                    + "“\(account.status.id.name)”. To register it again, sign in again with: \(login())")
        case .resourceMoved(_, let resource, let issuers):
            let api = Self.shellWord(resource.string)
            let server = issuers.prefix(1).map { " --issuer \(Self.shellWord($0.string))" }.joined()
            return CommandError(
                status: .signInNeeded, code: error.code,
                message: "\(resource) no longer belongs to \(client.service.authorizationServer.issuer): it names "
                    + "\(issuers.shown) as its server. Nothing of “\(account.status.id.name)” was sent there. If you trust "
                    + "that server, sign in there with: \(login()) --resource \(api)\(server)")
        case .exchange(.server(let answer))
        where answer.step == .token && answer.isUnknownClient && client.registration == nil:
            let settings = clientSettings.map { "“\($0)”" }.joined(separator: ", ")
            return CommandError(
                status: ExitStatus(error), code: error.code,
                message: "\(error) Correct \(settings) in the settings of “\(client.service.name)” or as options of "
                    + "login, and sign in again with: \(login())")
        case .demanded(.scopes(let scopes), _) where !scopes.isEmpty:
            let names = scopes.map { "“\($0)”" }.joined(separator: ", ")
            return CommandError(
                status: .serviceError, code: error.code,
                message: "The token lacks the scope \(names). Sign in again with: \(login(for: .scopes(scopes)))")
        case .demanded(let wanted, _) where client.id != PersonalToken.clientID && !wanted.parameters.isEmpty:
            return CommandError(
                status: .serviceError, code: error.code,
                message: "\(question(wanted)) Sign in again with: \(login(for: wanted))")
        case .demanded(.boundToken, _):
            return CommandError(
                status: .serviceError, code: error.code,
                message:
                    "The API takes only tokens that are bound to a key (DPoP). Sign in again with: \(login()) --dpop")
        case .exchange(.refused(let refusal)) where refusal.check == .foreignOrigin && client.confinement == nil:
            return CommandError(
                status: .refused, code: error.code,
                message: "\(error) To send it there, sign in again with: \(login()) --api-origin \(refusal.found)")
        default: return error
        }
    }
}
#endif
