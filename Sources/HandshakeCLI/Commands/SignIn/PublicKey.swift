#if CommandLine
import ArgumentParser
import OAuth

struct PublicKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public-key",
        abstract: "Print the public half of a client's key.",
        discussion: """
            The result is a key set (JWKS), as services take it when an app is registered. It holds nothing secret. The key is \
            called by its name, or by its thumbprint when it has none.
            """)

    @Argument(help: ArgumentHelp("The file with the private key: PEM or JWK.", valueName: "file"))
    var file: String

    @Option(
        name: .customLong("key-id"),
        help: ArgumentHelp("The name of the key; of a key set, the key to print.", valueName: "id"))
    var keyID: String?

    @Flag(help: "Print errors as JSON too; the result always is.")
    var json = false

    func run() throws {
        Output.result(try KeyFile.read(file, keyID: keyID).publicKeySet)
    }
}
#endif
