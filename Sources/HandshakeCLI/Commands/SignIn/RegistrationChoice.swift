#if CommandLine
import Handshake
import OAuth

/// The client that a server registers for `login`: that of the last sign-in, of one that was not done, or a new one.
struct RegistrationChoice {
    /// The name that servers show to their users.
    private static let appName = "Handshake"

    let options: LoginOptions
    /// The redirect of options, variables or settings.
    let redirect: Client.Redirect?
    /// The client of the account's last sign-in.
    let previous: Client?
    /// Whether the server no longer knows the client that was registered there.
    let isPurged: Bool
    /// What was registered for sign-ins of this account that are not done.
    let unfinished: UnfinishedRegistrations?
    /// Where the client of the last sign-in is stored.
    let vault: any Vault

    /// The options of the same sign-in on a page here.
    var optionsInBrowser: LoginOptions { options.inBrowser(after: previous?.signsInOnDevice == true) }

    /// The client of the last sign-in, as long as it serves this one; nil when the app has to be registered again.
    ///
    /// - Parameter key: the client's own, as the user states it; nil for what it was.
    func client(of previous: Client, at found: some RegisteringServer, key: SigningKey?) async throws -> Client? {
        guard let registration = previous.registration else { return nil }
        let canRegister = found.server.registrationEndpoint != nil
        let isServed = redirect.map(registration.serves) ?? true
        guard isServed || canRegister else {
            throw CommandError.usage(
                "The app is registered at \(found.server.issuer) with the redirect URI \(registration.redirectURI), and the server "
                    + "registers no other one now. Leave out --redirect.")
        }
        // A key of the user's has to be registered too.
        let isKeyKnown = key.map { $0.thumbprint == previous.credential?.key?.thumbprint } ?? true
        if registration.isForgotten && canRegister {
            Output.note("\(found.server.issuer) no longer knows this app. Registering it again.")
        }
        guard !isPurged, !registration.isForgotten, isServed, isKeyKnown, !options.device || registration.isForDevices
        else { return nil }
        let isCurrent = registration.covers(found.scopes) && !registration.hasExpired(at: TimeSource.system.now())
        if isCurrent || !canRegister { return try found.client(of: previous, registration) }
        guard let changed = try await found.changed(previous, in: vault),
            changed.registration?.hasExpired(at: TimeSource.system.now()) == false
        else { return nil }
        return changed
    }

    /// The client of a sign-in that was not done, or a new one.
    ///
    /// - Parameters:
    ///   - scopes: what the client may ever ask for.
    ///   - key: the client's own; nil for one without.
    ///   - command: this sign-in, for the user to complete.
    ///   - browserCommand: the same with a browser.
    ///   - allow: throws where the server may not get the registration token.
    func client(
        at found: some RegisteringServer, for scopes: [String], key: SigningKey?, by command: String,
        inBrowser browserCommand: String,
        allowingToken allow: (_ file: String) throws -> Void
    ) async throws -> Client {
        if let client = try await unfinished?.client(
            at: found, redirect: redirect ?? .loopback, key: key, onDevices: options.device)
        {
            return client
        }
        // Before the app is registered for nothing.
        guard !options.device || found.server.deviceAuthorizationEndpoint != nil else {
            throw LoginOptions.noDeviceGrant(
                "\(found.server.issuer) has no sign-in on another device.", by: browserCommand)
        }
        var token: Secret?
        if let file = options.registrationTokenFile {
            try allow(file)
            token = try await SecretLine.read(file, what: "registration token", option: "--registration-token-file")
        }
        let client: Client
        do {
            client = try await found.register(
                as: Self.appName, redirect: redirect ?? .loopback, for: scopes, onDevices: options.device,
                key: key, presenting: token)
        } catch HandshakeError.exchange(.server(let error))
            where token == nil && error.step == .registration
            && ([401, 403].contains(error.status) || error.code == "access_denied")
        {
            throw CommandError(
                status: .serviceError, code: error.code ?? "http_\(error.status ?? 0)",
                message: "\(error) With one: \(command) --registration-token-file FILE\n"
                    + "Or register an app there yourself, and sign in with its identifier: "
                    + "\(command) --client-id ID")
        }
        // Before the page opens, and also when time runs out just now: the server knows the client already.
        try await Task { [unfinished] in try await unfinished?.keep(client) }.value
        return client
    }
}
#endif
