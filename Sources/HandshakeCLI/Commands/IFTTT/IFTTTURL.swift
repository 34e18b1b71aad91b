#if CommandLine
import ArgumentParser
import IFTTTConnect
import OAuth

struct IFTTTURL: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "url", abstract: "Print the URL that turns a connection on from an email or a web page.",
        discussion: """
            With --oauth-code-file and --service-key-file it contains a code, so that the user need not sign in to the partner: it \
            works once, within 48 hours, for that user only. Without them no request is sent.
            """)

    @Option(help: "The user's email address.")
    var email: String

    @Option(
        help: ArgumentHelp(
            "The redirect URI: registered, https or on loopback.", valueName: "url"))
    var redirect: String?

    @Flag(
        name: .customLong("skip-configuration"),
        help: "Skip IFTTT's configuration page; needs --redirect, and the connection is then pending.")
    var skipsConfiguration = false

    @Option(
        name: .customLong("service-key-file"),
        help: ArgumentHelp(
            "A file with the partner's service key, or - for a line of standard input.", valueName: "file"))
    var serviceKeyFile: String?

    @Option(
        name: .customLong("oauth-code-file"),
        help: ArgumentHelp(
            "A file with a fresh code of the partner's OAuth server for the user, or - for a line of standard input.",
            valueName: "file"))
    var oauthCodeFile: String?

    @Argument(help: "The connection's identifier, as in aB3dE5fG.", transform: IFTTTOptions.connection)
    var connection: ConnectionID

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var host: IFTTTHostOptions

    func run() async throws {
        let url = try await IFTTTFailure.reported { try await address() }
        if host.common.json {
            Output.result(JSONText.object([("url", .string(url))]).text)
        } else {
            Output.result(url)
        }
    }

    private func address() async throws -> String {
        guard let email = EmailAddress(rawValue: email) else {
            throw CommandError.usage("--email: not a valid email address.")
        }
        var url = ConnectURL(connection, email: email, at: try host.hosts())
        url.redirect = try redirect.map { try CallbackURL($0) }
        url.skipsConfiguration = skipsConfiguration
        // A code is single-use: check everything else before using it.
        _ = try url.url
        url.provisionalCode = try await provisionalCode(at: url.hosts)
        return try url.url
    }

    private func provisionalCode(at hosts: Hosts) async throws -> Secret? {
        switch (serviceKeyFile, oauthCodeFile) {
        case (nil, nil): return nil
        case (let key?, let code?):
            // In this order, when both come on standard input.
            let service = ConnectService(
                key: try await SecretLine.read(key, what: "service key", option: "--service-key-file"), at: hosts)
            return try await service.provisionalCode(
                for: try await SecretLine.read(code, what: "OAuth code", option: "--oauth-code-file"))
        default: throw CommandError.usage("--service-key-file and --oauth-code-file have to be given together.")
        }
    }
}
#endif
