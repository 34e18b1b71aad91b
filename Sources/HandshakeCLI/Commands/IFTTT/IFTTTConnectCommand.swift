#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import IFTTTConnect
import OAuth

struct IFTTTConnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Turn a connection on in the browser, and store the user token.",
        discussion: """
            The redirect URI has to be registered at IFTTT: http://127.0.0.1/connect_callback, with a port where IFTTT wants a fixed \
            one. A user without a token is asked for an email address; without a terminal, --email gives it.
            """)

    @Option(help: "The email address of a user who has no token yet.")
    var email: String?

    @Option(help: "Open the system's browser, or print the URL.")
    var browser: LoginOptions.BrowserChoice = .system

    @Option(help: ArgumentHelp("loopback or loopback:PORT.", valueName: "redirect"))
    var redirect = "loopback"

    @Flag(
        name: .customLong("skip-configuration"),
        help: "Skip IFTTT's configuration page; the connection is then pending.")
    var skipsConfiguration = false

    @Option(help: ArgumentHelp("The language of IFTTT's pages, for example de or pt-BR.", valueName: "tag"))
    var locale: String?

    @Option(help: .timeout)
    var timeout = 300

    @OptionGroup var options: IFTTTOptions

    func run() async throws {
        let waiting = SignInWait()
        let (connection, isPending) = try await CommandDeadline.run(timeout) {
            waiting.error(
                "IFTTT did not answer within \(timeout) s.",
                command: "handshake ifttt connect \(options.connection) --timeout \(min(86_400, timeout * 4))")
        } _: {
            try await IFTTTFailure.reported { try await activate(waiting) }
        }
        if options.common.json {
            Output.result(
                JSONText.object([
                    ("account", .string(options.account)), ("connection", IFTTTShow.json(connection)),
                    ("pending", .bool(isPending)),
                ]).text)
        } else {
            let state =
                isPending
                ? "on, but does nothing until it is configured. Configure it with: handshake ifttt update" : "on"
            Output.note("\(quoted(connection.name, limit: 200)) is \(state).")
        }
    }

    private func activate(_ waiting: SignInWait) async throws -> (Connection, isPending: Bool) {
        let browser = try loopback()
        let invite = try await options.inviteCode()
        let hosts = try options.host.hosts()
        let seen = try await options.api(nil, invite: invite).connection(options.connection)
        let (tokens, client) = try await options.tokens(of: seen.primaryService.id)
        var configuration = ConnectActivation.Configuration(
            options.connection, callback: browser.callbackURL, suggestedEmail: email ?? "",
            skipsConfiguration: skipsConfiguration, locale: locale)
        configuration.addresses = ActivationAddresses(hosts)
        var environment = ConnectEnvironment(browser: browser, tokens: .redirect)
        environment.inviteCode = { invite }
        let controller = ConnectController(
            ConnectActivation(configuration), tokens: tokens, environment: environment,
            through: .init(hosts: hosts))
        let result = try await ActivationRun(
            controller: controller, email: email, timeout: .seconds(timeout), waiting: waiting
        ).result()
        let vault = try await options.common.openVault(try Settings.load())
        try await Registrations(in: vault).remember(client, as: options.account)
        let api = ConnectAPI(.stored(tokens), at: hosts)
        try await PlacesSynchronizer(of: options.account, api: api, vault: vault).noteSignIn()
        return result
    }

    private func loopback() throws -> LoopbackBrowser {
        var port: UInt16?
        if redirect != "loopback" {
            guard redirect.hasPrefix("loopback:"), let given = UInt16(redirect.dropFirst("loopback:".count)), given > 0
            else {
                throw CommandError.usage(
                    "--redirect takes loopback or loopback:PORT, not “\(quoted(redirect, limit: 80))”.")
            }
            port = given
        }
        switch browser {
        case .system: return try LoopbackBrowser(AnnouncedBrowser(), port: port)
        case .print:
            let printed = PrintingBrowser(
                print: { page in
                    Output.note(page.prompt())
                    Output.result(page.url)
                }, readRedirect: { _ in nil })
            return try LoopbackBrowser(printed, port: port)
        }
    }
}

/// One activation from its start to its end, with progress on the terminal.
struct ActivationRun {
    let controller: ConnectController
    let email: String?
    let timeout: Duration
    var waiting = SignInWait()

    /// The connection when it is on, even if it was on before.
    ///
    /// - Throws: ``CommandError``, also when the time is over; `CancellationError`.
    func result() async throws -> (Connection, isPending: Bool) {
        try await withThrowingTaskGroup(of: (Connection, isPending: Bool)?.self) { group in
            group.addTask {
                await controller.run()
                return nil
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                let error = HandshakeError.signInAbandoned(.timedOut)
                throw CommandError(
                    status: ExitStatus(error), code: error.code,
                    message:
                        "The connection was not turned on in time. Run the command again, with --timeout for more time."
                )
            }
            group.addTask { try await follow() }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func follow() async throws -> (Connection, isPending: Bool) {
        let updates = controller.updates()
        controller.send(.appeared)
        var last: ConnectActivation.State?
        var asked = false
        for await update in updates {
            switch update {
            case .activation(let activation) where Self.isNews(activation.state, after: last):
                last = activation.state
                // Sent once: after a failure, the user decides.
                if activation.state == .initial, !asked {
                    asked = true
                    controller.connect()
                } else if let on = try await react(to: activation) {
                    return on
                }
            case .outcome(.connected(let connection, _, let isPending), _): return (connection, isPending)
            case .outcome(.failed(let failure), _): throw IFTTTFailure.commandError(failure)
            case .outcome(.cancelled, _): throw HandshakeError.signInAbandoned(.closed)
            case .refused: Output.note("A callback of another sign-in attempt was ignored.")
            case .problem(let error): Output.note("The token could not be stored: \(error)")
            case .activation, .outcome: break
            }
        }
        throw CancellationError()
    }

    /// Whether a state is one to react to. The mark of a refused address ends by itself, also while the user is asked for another
    /// one: that is no further question.
    static func isNews(_ state: ConnectActivation.State, after last: ConnectActivation.State?) -> Bool {
        if case .enteringEmail(let entry) = state, case .enteringEmail? = last, !entry.isInvalid { return false }
        return state != last
    }

    private func react(to activation: ConnectActivation) async throws -> (Connection, isPending: Bool)? {
        waiting.end()
        switch activation.state {
        case .connected, .pendingConfiguration:
            // It was already on: there is no outcome to wait for.
            guard let connection = activation.connection, activation.failure == nil else { return nil }
            return (connection, activation.state == .pendingConfiguration)
        case .loadingFailed: throw IFTTTFailure.commandError(activation.failure ?? .unreachable)
        case .enteringEmail(let entry):
            waiting.begin()
            try await enter(entry)
        case .creatingAccount(let address): Output.note("IFTTT will create an account for \(address.rawValue).")
        case .goingToService:
            waiting.begin()
            Output.note("Continue in the browser. IFTTT may send you an email first; open the link in it.")
        case .connecting: Output.note("Checking the connection at IFTTT …")
        default: break
        }
        return nil
    }

    private func enter(_ entry: ConnectActivation.EmailEntry) async throws {
        guard entry.isInvalid || email == nil else { return controller.send(.confirmEmail(entry.text)) }
        guard StandardInput.isTerminal else {
            throw CommandError.usage(
                entry.isInvalid
                    ? "--email is not a valid email address."
                    : "--email is missing. Give the address of the user's IFTTT account.")
        }
        // Only a valid address is sent: otherwise the user would be told twice.
        var isWrong = entry.isInvalid
        while true {
            let question = isWrong ? "Not a valid email address. Your email address:" : "Your email address:"
            let line = try await Prompt.filledLine(question, wanted: "the address")
            if EmailAddress(rawValue: line) != nil { return controller.send(.confirmEmail(line)) }
            isWrong = true
        }
    }
}
#endif
