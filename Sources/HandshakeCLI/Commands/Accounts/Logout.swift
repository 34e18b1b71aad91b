#if CommandLine
import ArgumentParser
import Handshake
import IFTTTConnect
import Nearby
import OAuth
import RecurseCenter
import Sequencing

struct Logout: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Revoke the account's tokens where the service can, then remove the account.",
        discussion: """
            The session in your browser stays: the next sign-in may ask for no password. --end-session ends it too, at services that have \
            a page for that (OpenID Connect RP-Initiated Logout).
            """)

    @Argument(help: "The account's name; handshake accounts lists them.")
    var account: String

    @Flag(help: "Only remove the account here; the tokens stay valid until they expire.")
    var local = false

    @Flag(name: .customLong("end-session"), help: "End the session at the service too, on a page in the browser.")
    var endSession = false

    @Option(help: "With --end-session: open the system's browser at that page (the default), or print its URL.")
    var browser: LoginOptions.BrowserChoice?

    @Option(
        name: .customLong("return-to"),
        help: ArgumentHelp(
            "With --end-session: where that page sends the browser back, http://127.0.0.1:PORT/PATH as the service has registered it for that.",
            valueName: "url"))
    var returnTo: String?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        guard !local || !endSession else {
            throw CommandError.usage("--local and --end-session cannot be combined. Leave one of them out.")
        }
        guard endSession || returnTo == nil else { throw CommandError.usage("--return-to needs --end-session.") }
        guard endSession || browser == nil else { throw CommandError.usage("--browser needs --end-session.") }
        let redirect = try returnTo.map(Self.redirect)
        let settings = try Settings.load()
        let vault = try await common.existingVault(settings)
        try await forgetPlaces(in: vault)
        var people = try await forgetPeople(in: vault, settings)
        // Each account has its own client registration, which has no use after the account is removed (RFC 7592, section 2.3).
        let client = try? await Registrations(in: vault).client(named: account)
        if try await forgetUnfinished(besides: client, in: vault) { return }
        let report = local ? try await forget(in: vault) : try await signOut(in: vault, returningTo: redirect)
        if report.isForgotten {
            if let client {
                if !local { await client.unregister() }
                try await UnfinishedJobs.forget(AccountID(client, name: account), in: vault)
                try await UnfinishedImports.forget(AccountID(client, name: account), in: vault)
            }
            try await Registrations(in: vault).forget(account)
            // A watch that was running may have begun again before the account was gone.
            if people != nil { people?.add(try await NearbyVault.forgetEveryone(in: vault, settings)) }
        }
        print(report, people)
        if let failure = report.failure {
            throw Self.unfinished(account, failure)
        }
        if let failure = people?.failure { throw failure }
    }

    /// The error of a sign-out that the service has not confirmed, with the commands that end it.
    static func unfinished(_ account: String, _ failure: HandshakeError) -> CommandError {
        let word = KnownAccount.shellWord(account)
        return CommandError(
            status: ExitStatus(failure), code: failure.code,
            message: "\(failure) The account is kept, but cannot be used. Finish with: handshake logout \(word)\n"
                + "Or remove it without revoking its tokens: handshake logout \(word) --local")
    }

    /// Removes what was registered for sign-ins of this account that were not finished.
    ///
    /// - Returns: whether that is all that there is of the account.
    private func forgetUnfinished(besides client: Client?, in vault: any Vault) async throws -> Bool {
        let unfinished = try await UnfinishedRegistrations(of: account, in: vault).forget()
        if !local {
            for other in unfinished where other.id != client?.id { await other.unregister() }
        }
        let isAbsent = (try? await vault.record(VaultKey(.registration, [account])) == nil) ?? false
        guard isAbsent else { return false }
        guard !unfinished.isEmpty else { throw try await KnownAccount.absent(account, in: vault, isLeaving: true) }
        if common.json {
            print(SignOutReport(), nil)
        } else {
            Output.note("The registration for “\(account)” was removed. No sign-in was finished with it.")
        }
        return true
    }

    /// Removes what is stored about where an IFTTT user was. Runs before the account is removed, so that after a failure the same
    /// command can be run again.
    private func forgetPlaces(in vault: any Vault) async throws {
        do {
            guard try await Registrations(in: vault).client(named: account)?.service.name == Service.ifttt.name else {
                return
            }
        } catch HandshakeError.vault(.damaged) {
            // Whose account it is can no longer be found out.
            guard local else { return }
        }
        try await IFTTTFailure.reported { try await PlacesSynchronizer.forget(account, in: vault) }
    }

    /// Removes everything about people nearby when this is an account of their community; nil otherwise.
    private func forgetPeople(
        in vault: any Vault, _ settings: Settings
    ) async throws -> StoredPeople.Deletion? {
        do {
            guard try await Registrations(in: vault).client(named: account)?.service.name == Service.recurseCenter.name
            else { return nil }
        } catch HandshakeError.vault(.damaged) {
            guard local else { return nil }
            guard try await hasIntroduced(in: vault) else {
                Output.note(
                    NamedVault.given.completed(
                        "The registration of “\(account)” cannot be read. If it was your Recurse Center account, remove what is stored "
                            + "about people nearby with: handshake nearby forget --everyone"))
                return nil
            }
        }
        try await vault.remove(HubCheckIn.key(account))
        return try await NearbyVault.forgetEveryone(in: vault, settings)
    }

    /// Whether an account whose registration is damaged was one of the community: by its name, or because it said who people are.
    /// Everyone is forgotten with it, so the name of another service's account must not be enough.
    private func hasIntroduced(in vault: any Vault) async throws -> Bool {
        if account == Service.recurseCenter.name { return true }
        for kind in [VaultKey.Kind.ownNumber, .profile, .photo] {
            let keys = try await vault.keys(of: kind).keys
            if keys.contains(where: { $0.components.starts(with: [NearbyCommand.community, account]) }) { return true }
        }
        return false
    }

    private func signOut(
        in vault: any Vault, returningTo redirect: Client.Redirect?
    ) async throws -> SignOutReport {
        let known = try await KnownAccount.open(account, in: vault).account
        guard endSession else { return try await known.signOut() }
        // Shorter than the command's own timeout, which would end the command before it reports what was done.
        let wait = Duration.seconds(max(1, timeout - 5))
        return try await known.signOut(returningTo: redirect, timeout: wait) { [browser] page in
            Output.note(page.prompt())
            switch browser ?? .system {
            case .print: Output.result(page.request.shortAddress)
            case .system:
                do {
                    _ = try await SystemBrowser().show(signOut: page)
                } catch {
                    guard EndpointURL.isSafeToOpen(page.url) else { throw error }
                    Output.error(
                        "No browser could be opened. Open this URL on this machine:\n\(page.request.shortAddress)")
                }
            }
            return nil
        }
    }

    /// A listener at an address that the service knows.
    private static func redirect(_ text: String) throws -> Client.Redirect {
        // The service compares the listener's own spelling with what it has registered.
        guard let address = try? EndpointURL(text, security: .allowingInsecureLoopback),
            text == "http://127.0.0.1:\(address.origin.port)\(address.path)"
        else {
            throw StatedValue(value: text, name: "--return-to").wrong(
                "http://127.0.0.1:PORT/PATH, such as http://127.0.0.1:8765/signed-out")
        }
        return .loopback(port: UInt16(exactly: address.origin.port), path: address.path)
    }

    /// Removes the account without the service, also a damaged one.
    private func forget(in vault: any Vault) async throws -> SignOutReport {
        do {
            guard let client = try await Registrations(in: vault).client(named: account) else {
                throw try await KnownAccount.absent(account, in: vault)
            }
            try await Handshake(client, vault: vault).forget(account)
        } catch HandshakeError.vault(.damaged) {
            // The client is unreadable, but accounts can be found by their names.
            for key in try await vault.keys(of: .account).keys {
                // By bytes: names that Unicode calls equivalent are two accounts.
                guard let id = AccountID(key), id.name.utf8.elementsEqual(account.utf8) else { continue }
                try await vault.remove(key)
            }
        }
        return SignOutReport()
    }

    private func print(_ report: SignOutReport, _ people: StoredPeople.Deletion?) {
        if common.json {
            let nearby = people.map { deletion in
                JSONText.object(
                    [("people", .integer(Int64(deletion.people.count)))] + deletion.members
                        + [("unreadable_records", .integer(Int64(deletion.damaged.count)))])
            }
            Output.result(
                JSONText.object([
                    ("account", .string(account)), ("forgotten", .bool(report.isForgotten)),
                    ("nearby", nearby ?? .null),
                    ("revoked", .array(report.revoked.map { .string($0.rawValue) })),
                    ("not_revocable", .array(report.notRevocable.map { .string($0.rawValue) })),
                    ("remaining", .array(report.remaining.map { .string($0.rawValue) })),
                    ("server_session", .optional(report.serverSession?.code)),
                ]).text)
            return
        }
        if !report.revoked.isEmpty { Output.note("Revoked: \(report.revoked.map(\.words).joined(separator: ", ")).") }
        if let sentence = report.notRevocableSentence { Output.note(sentence) }
        if report.isForgotten { Output.note("The account “\(account)” was removed.") }
        // An error says it instead, where there is no other one.
        if let people, !people.isEmpty || people.failure != nil, report.failure != nil || people.failure == nil {
            Output.note(people.sentence)
        }
        if let session = report.serverSession { Output.note(session.words) }
    }
}

extension SignOutReport {
    /// Which tokens the service cannot revoke, as a sentence; nil when there are none.
    var notRevocableSentence: String? {
        guard !notRevocable.isEmpty else { return nil }
        let rest = notRevocable.count == 1 ? "It stays valid until it expires." : "They stay valid until they expire."
        return "The service cannot revoke \(notRevocable.map(\.words).joined(separator: " and ")). \(rest)"
    }
}

extension SignOutReport.ServerSession {
    /// A stable word for programs.
    fileprivate var code: String {
        switch self {
        case .unsupported: "unsupported"
        case .shown: "shown"
        case .notShown: "not_shown"
        case .ended: "ended"
        case .unconfirmed: "unconfirmed"
        }
    }

    /// What is known of the session.
    fileprivate var words: String {
        switch self {
        case .unsupported: "The service has no page that ends its session. Sign out there in your browser."
        case .shown: "Finish signing out in your browser."
        case .notShown(let error): "The service's page could not be shown: \(error) Sign out there in your browser."
        case .ended: "The service has ended its session too."
        case .unconfirmed: "You are signed out here. The service did not confirm that its session has ended."
        }
    }
}

extension RevocationRequest.TokenKind {
    /// The kind in words.
    fileprivate var words: String {
        switch self {
        case .accessToken: "the access token"
        case .refreshToken: "the refresh token"
        }
    }
}
#endif
