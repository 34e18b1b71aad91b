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
        let certificate = settings.choose(options.certificate, "CERTIFICATE", table.certificate)
        switch method?.choice {
        case .tls?, .selfSignedTLS?:
            let isKnown = if case .certificate? = previous { true } else { false }
            guard certificate != nil || isKnown else {
                throw CommandError.usage(
                    "\(method?.stated.name ?? "--auth") \(method?.stated.value ?? "") needs the certificate: --certificate FILE"
                )
            }
            return .certificate(isSelfSigned: method?.choice == .selfSignedTLS)
        case nil where certificate != nil && keyFile == nil && secretFile == nil && previous == nil:
            return .certificate(isSelfSigned: false)
        default: break
        }
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

    /// What a client shows beside the assertions that it makes, where the server demands that too; nil for nothing.
    ///
    /// - Parameters:
    ///   - key: the key of the assertions, which signs for the client too where that is stated.
    ///   - previous: as for ``credential(previous:)``.
    func credential(besides key: SigningKey, previous: Client.Credential?) async throws -> Client.Credential? {
        let table = settings.service(service)
        let method = try method(settings.stated(options.auth?.rawValue, "auth", "AUTH", table.auth, of: service))
        switch method?.choice {
        case .some(.none): return nil
        case .privateKeyJWT?: return .key(key)
        case .tls?, .selfSignedTLS?: return .certificate(isSelfSigned: method?.choice == .selfSignedTLS)
        default: break
        }
        guard let file = settings.choose(options.clientSecretFile, "CLIENT_SECRET_FILE", table.clientSecretFile) else {
            guard method == nil else { return try shown(previous, by: method) }
            // A client that authenticates with the key of its assertions has no other one after a change of that key.
            if case .key? = previous { return .key(key) }
            return previous
        }
        let secret = try await SecretLine.read(file, what: "client secret", option: "--client-secret-file")
        return try shown(.secret(secret, .automatic), by: method)
    }

    /// Whether options, variables or settings have what the client shows, or say that it shows nothing.
    var isStated: Bool {
        let table = settings.service(service)
        return statesSecret || settings.choose(options.key, "KEY", table.key) != nil
            || settings.choose(options.certificate, "CERTIFICATE", table.certificate) != nil
            || settings.stated(options.auth?.rawValue, "auth", "AUTH", table.auth, of: service)?.value == "none"
    }

    /// Whether options, variables or settings have a secret.
    var statesSecret: Bool {
        settings.choose(options.clientSecretFile, "CLIENT_SECRET_FILE", settings.service(service).clientSecretFile)
            != nil
    }

    /// The certificate of the client's connections; nil for none.
    ///
    /// - Parameter previous: that of the account's last sign-in, which counts where nothing is stated.
    /// - Throws: ``CommandError`` for a file that is refused.
    func certificate(previous: ClientCertificate?) throws(CommandError) -> ClientCertificate? {
        let table = settings.service(service)
        guard let path = settings.choose(options.certificate, "CERTIFICATE", table.certificate) else { return previous }
        try SecretLine.requireFile(path, what: "certificate", option: nil)
        let name = quoted(path, limit: 200)
        guard let bytes = try UserFile.secret(Settings.absolute(path)) else {
            throw CommandError.usage("The file “\(name)” with the certificate does not exist.")
        }
        do {
            return try ClientCertificate(pem: bytes)
        } catch .configuration(_, let problem), .exchange(.configuration(_, let problem)) {
            throw CommandError.usage("The certificate in “\(name)” cannot be used: \(problem).")
        } catch {
            throw CommandError.usage("The certificate in “\(name)” cannot be used: \(error)")
        }
    }

    private typealias Method = (stated: StatedValue, choice: LoginOptions.AuthenticationChoice)

    private func method(_ stated: StatedValue?) throws(CommandError) -> Method? {
        guard let stated else { return nil }
        guard let choice = LoginOptions.AuthenticationChoice(rawValue: stated.value) else {
            throw stated.wrong("none, basic, post, private-key-jwt, client-secret-jwt, tls or self-signed-tls")
        }
        return (stated, choice)
    }

    /// The credential, shown in the stated way.
    private func shown(_ credential: Client.Credential?, by method: Method?) throws(CommandError) -> Client.Credential?
    {
        guard let method else { return credential }
        switch (method.choice, credential) {
        case (.none, _), (.tls, _), (.selfSignedTLS, _): return nil
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
