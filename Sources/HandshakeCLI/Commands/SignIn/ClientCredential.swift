#if CommandLine
import Handshake
import OAuth

/// How the client of a sign-in authenticates, as options, variables and settings say.
struct ClientCredential {
    let options: LoginOptions
    let settings: Settings
    let service: String

    /// The secret or the key; nil for a public client.
    ///
    /// - Parameter previous: that of the account's last sign-in, which counts where nothing is stated.
    /// - Throws: ``CommandError`` for a file that is refused, or a method that does not fit it.
    func credential(previous: Client.Credential?) async throws -> Client.Credential? {
        let table = settings.service(service)
        let method = try method(settings.stated(options.auth?.rawValue, "auth", "AUTH", table.auth, of: service))
        // An option for one of the two takes the place of a setting for the other one.
        let secretFile =
            options.key == nil
            ? settings.choose(options.clientSecretFile, "CLIENT_SECRET_FILE", table.clientSecretFile) : nil
        let keyFile =
            options.clientSecretFile == nil ? settings.choose(options.key, "KEY", table.key) : nil
        guard keyFile == nil || secretFile == nil else {
            throw CommandError.usage(
                "“\(quoted(service, limit: 80))” has settings for a key and for a secret. Remove one of them, or choose with "
                    + "--key FILE or --client-secret-file FILE.")
        }
        if method?.choice == .some(.none) { return nil }
        if let keyFile {
            let keyID = settings.choose(options.keyID, "KEY_ID", table.keyID)
            return try shown(.key(KeyFile.read(keyFile, keyID: keyID)), by: method)
        }
        if let secretFile {
            let secret = try await SecretLine.read(secretFile, what: "client secret", option: "--client-secret-file")
            return try shown(.secret(secret, .automatic), by: method)
        }
        guard method != nil else { return previous }
        return try shown(previous, by: method)
    }

    private typealias Method = (stated: StatedValue, choice: LoginOptions.AuthenticationChoice)

    private func method(_ stated: StatedValue?) throws(CommandError) -> Method? {
        guard let stated else { return nil }
        guard let choice = LoginOptions.AuthenticationChoice(rawValue: stated.value) else {
            throw stated.wrong("none, basic, post, private-key-jwt or client-secret-jwt")
        }
        return (stated, choice)
    }

    /// The credential, shown in the stated way.
    private func shown(_ credential: Client.Credential?, by method: Method?) throws(CommandError) -> Client.Credential?
    {
        guard let method else { return credential }
        switch (method.choice, credential) {
        case (.none, _): return nil
        case (.basic, .secret(let secret, _)?): return .secret(secret, .basic)
        case (.post, .secret(let secret, _)?): return .secret(secret, .post)
        case (.clientSecretJWT, .secret(let secret, _)?): return .secret(secret, .clientSecretJWT)
        case (.privateKeyJWT, .key(let key)?): return .key(key)
        case (.privateKeyJWT, _):
            throw CommandError.usage("\(method.stated.name) private-key-jwt needs the key: --key FILE")
        case (.basic, _), (.post, _), (.clientSecretJWT, _):
            throw CommandError.usage(
                "\(method.stated.name) \(method.stated.value) needs the secret: --client-secret-file FILE")
        }
    }
}
#endif
