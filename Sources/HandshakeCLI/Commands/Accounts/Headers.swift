#if CommandLine
import ArgumentParser
import HTTPTypes
import Handshake
import OAuth

struct Headers: BoundedCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case json, lines
    }

    static let configuration = CommandConfiguration(
        commandName: "headers",
        abstract: "Print the header fields that authorize another program's request.",
        discussion: """
            With --for, an address that is none of the service's is refused with status 5, so that no other server receives the \
            token. A token that is bound to a key (DPoP) needs a proof for each request, which no field that is printed here can be: \
            such an account is refused with status 64. With a token that is bound to a certificate the other program needs that \
            certificate for its connections.
            """)

    @Argument(help: "The account's name; handshake accounts lists them.")
    var account: String

    @Option(
        name: .customLong("for"), help: ArgumentHelp("The URL of the request.", valueName: "url"))
    var address: String?

    @Option(help: "One JSON object, or one field a line.")
    var format: Format = .lines

    @Flag(help: "Print them on a terminal too, without asking.")
    var show = false

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let known = try await common.existingAccount(account)
        guard !known.account.status.isBound else { throw CommandError.usage(known.boundTokenNote) }
        if let address { try check(address, of: known.account) }
        try await SecretDisplay.confirm("the access token", isWanted: show)
        let fields = try await known.use { try await $0.authorizationFields(for: address) }
        if let note = known.certificateNote { Output.note(NamedVault.given.completed(note, isLine: true)) }
        if common.json || format == .json {
            Output.result(JSONText.object(fields.map { ($0.name.rawName, .string($0.value)) }).text)
        } else {
            for field in fields { Output.result("\(field.name.rawName): \(field.value)") }
        }
    }

    /// Refuses an invalid address, with an error that names the option.
    private func check(_ address: String, of account: Account) throws {
        do {
            _ = try account.resolve(address)
        } catch {
            switch error {
            case .configuration(_, let problem):
                throw CommandError.usage(
                    "\(problem): handshake headers \(KnownAccount.shellWord(self.account)) --for https://…")
            case .exchange(.configuration(_, let problem)):
                // What follows may hold a secret.
                let shown = String(address.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
                throw StatedValue(value: shown, name: "--for").wrong(
                    "an https address, or a path below the service's API", because: problem)
            default: throw error
            }
        }
    }
}
#endif
