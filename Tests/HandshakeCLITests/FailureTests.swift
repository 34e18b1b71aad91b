import Beacons
import Geofences
import Handshake
import Nearby
import OAuth
import Positions
import Radio
import Testing

@testable import HandshakeCLI

@Suite("Exit statuses")
struct FailureTests {
    @Test("each kind of error has its status and a code that stays the same")
    func statuses() throws {
        let issuer = try Issuer("https://example.test", security: .httpsOnly)
        let account = AccountID(
            Client(
                service: try Service(name: "x", authorizationServer: .discovered(issuer, security: .httpsOnly)), id: "c"
            ),
            name: "mine")
        let rows: [(any Error, Int32, String)] = [
            (HandshakeError.configuration(member: "redirect", problem: "p"), 64, "invalid_configuration"),
            (HandshakeError.signInAbandoned(.denied), 2, "access_denied"),
            (HandshakeError.signInAbandoned(.timedOut), 2, "timed_out"),
            (HandshakeError.signInRequired(account, .refreshRejected), 3, "sign_in_required"),
            (HandshakeError.demanded(.scopes(["external"]), status: 403), 4, "insufficient_scope"),
            (HandshakeError.refreshUncertain(account, nil), 6, "refresh_uncertain"),
            (HandshakeError.contentNotReplayable, 1, "content_not_replayable"),
            (HandshakeError.tooManyRedirects(limit: 5), 4, "too_many_redirects"),
            (OAuthError.unmatchedRedirect(problem: "p"), 5, "state_mismatch"),
            (VaultError.locked("l"), 7, "vault_locked"),
            (VaultError.denied(what: "w", reason: "r"), 7, "vault_denied"),
            (CommandError.usage("u"), 64, "usage"),
            (CommandError.withoutTrait("SQLite", "the vault “sqlite”", library: "libsqlite3-dev"), 64, "not_built"),
            (CommandError.timedOut("t.", retry: "--timeout 4"), 6, "timed_out"),
            (KnownAccount.absent("mine"), 3, "sign_in_required"),
        ]
        for (error, status, code) in rows {
            let report = try #require(Failure.report(of: error), "\(error)")
            #expect(report.status.rawValue == status, "\(error)")
            #expect(report.code == code, "\(error)")
            #expect(!report.message.isEmpty)
        }
        #expect(Failure.report(of: CancellationError()) == nil)
    }

    @Test("the report of a wrong configuration names the member, for --json")
    func members() throws {
        let wrong = OAuthError.configuration(member: "client_secret", problem: "The secret is missing. Pass it.")
        let errors: [any Error] = [wrong, HandshakeError.exchange(wrong)]
        for error in errors {
            let report = try #require(Failure.report(of: error))
            #expect(report.member == "client_secret" && report.message == "The secret is missing. Pass it.")
        }
        #expect(Failure.report(of: VaultError.locked("l"))?.member == nil)
    }

    @Test("the command says with which option to pass the key that a client lacks")
    func options() throws {
        let rows: [(HandshakeError, String)] = [
            (.missingKey, "private key. Pass the key: --key FILE"),
            (.missingCredential, "Pass one of them: --key FILE or --certificate FILE"),
            (.contentNotReplayable, "Send the request again."),
        ]
        for (error, ending) in rows {
            let report = try #require(Failure.report(of: error))
            #expect(report.message.hasSuffix(ending), "\(report.message)")
        }
    }

    @Test("the command says with which command to mend what a library's error tells")
    func commands() throws {
        let person = try UserNumber(36)
        let rows: [(NearbyError, String)] = [
            (.damaged(person, reason: "r"), "forget the person: handshake nearby forget 36"),
            (.otherIdentity(person), "remove the old ones first: handshake nearby unfriend 36"),
            (.keysOfMember(person), "Pair with the person instead: handshake nearby pair"),
            (.circle(.signedOut), "Join it again: handshake nearby circle join URL"),
            (.circle(.notJoined), "Join one first: handshake nearby circle join URL"),
            (.circle(.removed), "Remove it from this device: handshake nearby circle leave"),
            (.circle(.alreadyJoined), "rotate the present one: handshake nearby circle rotate"),
            (
                .circle(.refused(status: 409, code: "identity_exists", message: "m")),
                "replace the identity when you join: handshake nearby circle join URL --replace"
            ),
            (
                .circle(.wavesOff(name: "Zoë")),
                "so Zoë could not answer. Change that in its settings: handshake nearby circle settings --waves on"
            ),
            (
                .circle(.forgottenMember(person, circle: "Hub")),
                "you have forgotten number 36, so this device ignores that member of Hub. To wave after your next meeting, stop ignoring the person: handshake nearby circle unhide 36"
            ),
            (.circle(.attemptOver), "This attempt to join has expired. Start again"),
        ]
        for (error, ending) in rows { #expect(error.message.hasSuffix(ending), "\(error.message)") }
        #expect(
            RadioError.refused(operation: "o", reason: "r").message.hasSuffix(". To check it, run: handshake doctor"))
        #expect(RadioError.noBlueZ.message == RadioError.noBlueZ.description)
    }

    @Test("a radio that does not answer is a network failure, and a damaged recording is the user's to mend")
    func radio() throws {
        let rows: [(RadioError, HandshakeCLI.ExitStatus)] = [
            (.noBus(reason: "r"), .network), (.noBlueZ, .network), (.lost(reason: "r"), .network),
            (
                .noWayToScan([ScanAttempt(.monitor, .noBlueZ), ScanAttempt(.plainDiscovery, .lost(reason: "r"))]),
                .network
            ),
            (
                .noWayToScan([ScanAttempt(.monitor, .noBlueZ), ScanAttempt(.plainDiscovery, .noAdapter(named: nil))]),
                .defect
            ),
            (.noWayToScan([]), .defect), (.poweredOff(adapter: "hci0"), .defect), (.noAdapter(named: "hci7"), .usage),
            (.file(name: "f", reason: "r"), .usage),
        ]
        for (error, status) in rows { #expect(NearbyFailure.status(error) == status, "\(error)") }
    }

    @Test("a position source that does not answer is a network failure, and an invalid file is the user's to correct")
    func places() async {
        let rows: [(any Error, HandshakeCLI.ExitStatus)] = [
            (PositionsError.unreachable(source: "gpsd", reason: "r"), .network),
            (PositionsError.lost(source: "gpsd", reason: "r"), .network), (PositionsError.noFix, .network),
            (PositionsError.protocolVersion(2), .refused), (PositionsError.notAuthorized(reason: "r"), .abandoned),
            (PositionsError.unknownFormat, .usage), (GeofencesError.notJSON(line: 1), .usage),
        ]
        for (error, status) in rows {
            let failure = await #expect(throws: CommandError.self, "\(error)") {
                try await PlacesFailure.reported { throw error }
            }
            #expect(failure?.status == status, "\(error)")
        }
    }

    @Test("logout says of one token and of two what it could not revoke")
    func notRevocable() {
        var report = SignOutReport()
        #expect(report.notRevocableSentence == nil)
        report.notRevocable = [.accessToken]
        #expect(
            report.notRevocableSentence
                == "The service cannot revoke the access token. It stays valid until it expires.")
        report.notRevocable = [.accessToken, .refreshToken]
        #expect(
            report.notRevocableSentence
                == "The service cannot revoke the access token and the refresh token. They stay valid until they expire."
        )
    }

    @Test("an account that does not exist is named, with the command that helps")
    func absent() {
        // Only the name of a service can be signed in to.
        #expect(
            KnownAccount.absent("mine").message
                == "There is no account “mine”. List the accounts with: handshake accounts")
        #expect(
            KnownAccount.absent("sequencing").message
                == "There is no account “sequencing”. Sign in with: handshake login sequencing")
        #expect(
            KnownAccount.absent("githb", among: ["mine", "github"]).message
                == "There is no account “githb”. Did you mean “github”? List the accounts with: handshake accounts")
        // Who signs out wants no sign-in.
        #expect(
            KnownAccount.absent("sequencing", among: ["sequencing2"], isLeaving: true).message
                == "There is no account “sequencing”. Did you mean “sequencing2”? "
                + "List the accounts with: handshake accounts")
    }

    @Test("tokens on an earlier certificate are no session that has ended, and the command that helps is named")
    func earlierCertificate() async throws {
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://op.example"), tokenEndpoint: try EndpointURL("https://op.example/token"))
        let client = Client(service: try Service(name: "bank", authorizationServer: .described(server)), id: "app")
        let handshake = try Handshake(client, vault: MemoryVault())
        let grant = Grant(accessToken: Secret("token"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: [])
        let account = try await handshake.adopt(grant, as: "bank")
        let known = KnownAccount(account: account, client: client, handshake: handshake)
        func message(_ reason: HandshakeError.SignInReason) throws -> String {
            let error = known.advised(HandshakeError.signInRequired(account.status.id, reason))
            let advice = try #require(error as? CommandError)
            #expect(advice.status == .signInNeeded)
            return advice.message
        }
        #expect(
            try message(.certificateChanged)
                == "The tokens of “bank” are bound to an earlier certificate. Use that one, or sign in again with: "
                + "handshake login bank")
    }

    @Test("the command says that a session has ended where that is so, and not where its access token lives on")
    func endedSession() async throws {
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://op.example"), tokenEndpoint: try EndpointURL("https://op.example/token"))
        let client = Client(service: try Service(name: "bank", authorizationServer: .described(server)), id: "app")
        let handshake = try Handshake(client, vault: MemoryVault())
        func message(expiresAt: Double?, _ state: AccountStatus.State) async throws -> String {
            let grant = Grant(
                accessToken: Secret("token"), expiresAt: expiresAt, issuedAt: 0, refreshToken: nil, scopes: [])
            let account = try await handshake.adopt(grant, as: "bank")
            _ = try? await account.accessToken()
            #expect(account.status.state == state)
            let known = KnownAccount(account: account, client: client, handshake: handshake)
            let error = known.advised(HandshakeError.signInRequired(account.status.id, .notRefreshable))
            return try #require(error as? CommandError).message
        }
        let advice =
            "the access token cannot be refreshed, because there is no refresh token. "
            + "Sign in again with: handshake login bank"
        let living = try await message(expiresAt: nil, .signedIn)
        #expect(living == "“bank” needs a new sign-in: \(advice)")
        let ended = try await message(expiresAt: 3600, .ended(.notRefreshable))
        #expect(ended == "The session of “bank” has ended: \(advice)")
    }

    @Test("an account that was signed in on another device is remembered so, and signed in there again")
    func onAnotherDevice() async throws {
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://op.example"), tokenEndpoint: try EndpointURL("https://op.example/token"))
        var client = Client(service: try Service(name: "bank", authorizationServer: .described(server)), id: "app")
        client.signsInOnDevice = true
        let registrations = Registrations(in: MemoryVault())
        try await registrations.remember(client, as: "bank")
        let remembered = try #require(try await registrations.client(named: "bank"))
        #expect(remembered.signsInOnDevice)
        let handshake = try Handshake(remembered, vault: MemoryVault())
        let grant = Grant(accessToken: Secret("token"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: [])
        let account = try await handshake.adopt(grant, as: "bank")
        let known = KnownAccount(account: account, client: remembered, handshake: handshake)
        #expect(known.login() == "handshake login bank --device")
        #expect(known.login(adding: ["a"]) == "handshake login bank --device --scope a")
        client.signsInOnDevice = false
        try await registrations.remember(client, as: "bank")
        #expect(try await registrations.client(named: "bank")?.signsInOnDevice == false)
    }

    @Test("a note and a line of a result name the vault of the command line too")
    func namedVaultOfNotes() {
        let vault = NamedVault(in: ["keep", "--vault", "files:/srv/b"])
        let text = "Finish with: handshake logout work"
        let advice = "Add to each command that uses the vault: --vault files:/srv/b"
        #expect(vault.completed(text) == "\(text)\n\(advice)")
        #expect(vault.completed(text, isLine: true) == "\(text). \(advice)")
        #expect(vault.completed("\(text).", isLine: true) == "\(text). \(advice)")
        #expect(vault.completed("Nothing to do.") == "Nothing to do.")
        #expect(NamedVault(in: ["keep"]).completed(text) == text)
    }

    @Test("the vault of a command line goes into the commands of an error, and a value that may hold a secret does not")
    func namedVault() {
        func check(_ arguments: [String], _ message: String, _ advice: String?) {
            #expect(NamedVault(in: arguments).advice(for: message) == advice, "\(arguments) \(message)")
        }
        let logout = "Finish with: handshake logout work"
        let added = "Add to each command that uses the vault:"
        let given = "Give each command that uses the vault the same"
        check(["logout", "work"], logout, nil)
        check(["logout", "work", "--vault", "files:/srv/b"], logout, "\(added) --vault files:/srv/b")
        check(["nearby", "watch", "--vault", "files:/srv/b"], "Run: handshake doctor", "\(added) --vault files:/srv/b")
        check(
            ["--vault=sqlite:/srv/a b", "--vault-key", "credential:key"], logout,
            "\(added) --vault 'sqlite:/srv/a b' --vault-key credential:key")
        check(["--vault", "secret-service"], logout, "\(added) --vault secret-service")
        check(["--vault", "postgres://app:canary@h/d"], logout, "\(given) --vault as this one.")
        check(["--vault", "canary"], logout, "\(given) --vault as this one.")
        check(
            ["--vault", "files:/srv/b", "--vault-key=command:cat canary"], logout,
            "\(given) --vault and --vault-key as this one.")
        check(["--", "--vault", "files:/srv/b"], logout, nil)
        check(["--vault"], logout, nil)
        let files = ["--vault", "files:/srv/b"]
        check(files, "See: handshake vault check", "\(added) --vault files:/srv/b")
        check(files, "See: handshake services show github", nil)
        check(files, "There is no such file.", nil)
        check(files, "Copy it: handshake vault copy files:/srv/b files:DIR", nil)
        let migrate = "Run: handshake vault migrate --vault sqlite:/srv/b"
        check(["--vault", "sqlite:/srv/b"], migrate, nil)
        check(
            ["--vault", "sqlite:/srv/b", "--vault-key", "credential:key"], migrate,
            "\(added) --vault-key credential:key")
    }

    @Test("one record is not said of as if it were several")
    func numbers() {
        #expect(VaultCommand.unnamed(1) == "and 1 more record differs and was left as it is")
        #expect(VaultCommand.unnamed(2) == "and 2 more records differ and were left as they are")
        #expect(
            VaultCommand.different(1).message == "1 record is in both vaults with different contents, and was left "
                + "as it is. If FROM has the newer one, run the command again with --replace")
        #expect(VaultCommand.different(2).message.hasPrefix("2 records are in both vaults with different contents"))
        #expect(
            VaultCommand.failed(1, of: "copied", shown: 1).message
                == "1 record could not be copied. See the reasons above.")
    }

    @Test("of more failures than have their reasons shown, the error says how many have")
    func reasons() {
        let message = VaultCommand.failed(1_001, of: "read", shown: 1_000).message
        #expect(message.contains("1001") && message.contains("first 1000 "), "\(message)")
        #expect(!VaultCommand.failed(1_000, of: "read", shown: 1_000).message.contains("first"))
    }

    @Test("a mistyped name leads to the nearest one, and one that is like none to none")
    func nearest() {
        let known = ["github", "gitlab", "recurse-center", "ifttt", "\u{1B}[31mred"]
        let rows: [(String, String?)] = [
            ("githb", "github"), ("GitHub", "github"), ("gtihub", "github"), ("gitlabb", "gitlab"),
            ("recurse-centre", "recurse-center"), ("recurse_center", "recurse-center"), ("ift", nil), ("google", nil),
            ("", nil), (String(repeating: "github", count: 20), nil),
        ]
        for (typed, found) in rows { #expect(NearestName.find(typed, among: known) == found, "\(typed)") }
        #expect(NearestName.question("[31mred", among: known).contains("\u{1B}") == false)
    }

    @Test("a word that is no command is named, with the nearest command or the one that was meant")
    func unknownCommands() {
        let rows: [([String], String?)] = [
            (
                ["logn", "github"],
                "There is no command “handshake logn”. Did you mean “login”? List the commands with: handshake --help"
            ),
            (["frobnicate"], "There is no command “handshake frobnicate”. List the commands with: handshake --help"),
            (
                ["services", "github"],
                "“github” is a service, not a command. See what is known of it with: handshake services show github"
            ),
            (
                ["services", "chek", "github"],
                "There is no command “handshake services chek”. Did you mean “check”? "
                    + "List the commands with: handshake services --help"
            ),
            (["login", "githb"], nil), (["help", "logn"], nil), (["--quiet", "logn"], nil), ([], nil),
        ]
        for (arguments, message) in rows {
            #expect(UnknownCommand(in: arguments)?.message == message, "\(arguments)")
        }
    }
}
