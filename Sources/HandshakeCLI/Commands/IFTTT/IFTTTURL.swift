import ArgumentParser
import IFTTTConnect
import OAuth

struct IFTTTURL: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "url", abstract: "Print the address that turns a connection on from a mail or a web page.",
        discussion: """
            With --oauth-code-file and --service-key-file it holds a code, so that the user need not sign in to the partner: it works \
            once, within 48 hours, and is for that user alone. Without them nothing is asked of IFTTT.
            """)

    @Option(help: "The user's email address.")
    var email: String

    @Option(
        help: ArgumentHelp(
            "Where the user comes back: a registered address, https or on loopback.", valueName: "url"))
    var redirect: String?

    @Flag(
        name: .customLong("skip-configuration"),
        help: "Leave IFTTT's configuration page out; needs --redirect, and the connection is then pending.")
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
            throw CommandError.usage("--email is no email address")
        }
        var url = ConnectURL(connection, email: email, at: try host.hosts())
        url.redirect = try redirect.map { try ReturnAddress($0) }
        url.skipsConfiguration = skipsConfiguration
        // A code works once: whatever else is wrong is better known before it is used up.
        _ = try url.url
        url.provisionalCode = try await provisionalCode(at: url.hosts)
        return try url.url
    }

    private func provisionalCode(at hosts: Hosts) async throws -> Secret? {
        switch (serviceKeyFile, oauthCodeFile) {
        case (nil, nil): return nil
        case (let key?, let code?):
            // In this order, when both come on standard input.
            let service = ConnectService(key: try await SecretLine.read(key, what: "service key"), at: hosts)
            return try await service.provisionalCode(for: try await SecretLine.read(code, what: "OAuth code"))
        default: throw CommandError.usage("--service-key-file and --oauth-code-file belong together")
        }
    }
}
