import HTTPTypes
import Handshake
public import OAuth

/// Imports genetic data from 23andMe and Ancestry (dossier 3.1 and 3.2). It goes into the user's account.
///
/// Both imports send the user's *password at the third party* to Sequencing.com; the service offers no other way. Tell
/// the user so, and do not store the password: this kit holds it only during one request. Users who download their data
/// and upload it on the site need no password.
///
/// An answer says only that an import has started. It has finished when the file list has its file, which
/// ``UnfinishedImports`` waits for.
public struct ThirdPartyImport: Sendable {
    private let exchange: Exchange

    public init(_ service: Sequencing) {
        exchange = service.api
    }

    /// The third party that the data comes from.
    public enum Source: String, Sendable, Hashable, CaseIterable, Codable {
        case twentyThreeAndMe = "23andMe"
        case ancestry = "Ancestry"

        /// Whether the file's type or name names this source.
        func isNamed(by file: GeneticFile) -> Bool {
            [file.type ?? "", file.name].contains { $0.lowercased().contains(rawValue.lowercased()) }
        }
    }

    /// The user's login and password at the third party.
    public struct Credentials: Sendable {
        let login: String
        let password: Secret

        /// - Throws: ``SequencingError/input(member:problem:)`` when one of them is empty.
        public init(login: String, password: Secret) throws(SequencingError) {
            guard !login.isEmpty else { throw .input(member: "login", problem: "it is empty") }
            guard !password.reveal().isEmpty else { throw .input(member: "password", problem: "it is empty") }
            self.login = login
            self.password = password
        }
    }

    /// The result of an attempt to start an import.
    public enum Outcome: Sendable, Hashable {
        /// The service now fetches the data.
        case started
        /// The third party rejects the login or the password.
        case badCredentials
        /// The answer to the security question is wrong. Start the import again.
        case badAnswer
        /// The URL does not lead to a download.
        case badURL
        /// The service or the third party failed. `code` is the service's number for the failure.
        case serverError(code: Int64)

        /// Why the import has not started, and what to do. Nil when it has.
        public var problem: String? {
            switch self {
            case .started: nil
            case .badCredentials:
                "23andMe or Ancestry rejected the login or password. Check both, then start the import again."
            case .badAnswer: "The answer to the security question is wrong. Start the import again."
            case .badURL: "The link does not lead to a download. Copy all of it from the email."
            case .serverError(let code): "The import failed at the service (error \(code)). Try again later."
            }
        }
    }

    /// The answer of 23andMe to a login.
    public enum Login: Sendable, Hashable {
        /// 23andMe asks a security question. Ask the user, then call ``ThirdPartyImport/answer(_:to:)``.
        case question(SecurityQuestion)
        case ended(Outcome)
    }

    /// A security question of 23andMe, and the session that waits for the answer.
    public struct SecurityQuestion: Sendable, Hashable {
        /// The third party's text without control characters.
        public let text: String
        let session: String
    }

    /// The answer of Ancestry to a login.
    public enum Authorization: Sendable, Hashable {
        /// Ancestry has mailed a link to the user. Ask for it, then call ``ThirdPartyImport/download(_:in:)``.
        case linkMailed(AncestrySession)
        case ended(Outcome)
    }

    /// The session at Ancestry that waits for the link.
    public struct AncestrySession: Sendable, Hashable {
        let identifier: String
    }

    /// Starts an import from 23andMe.
    ///
    /// - Throws: ``SequencingError``, `CancellationError`. Never retried.
    public func from23andMe(_ credentials: Credentials) async throws -> Login {
        try await credentials.keepingPassword { try await login(credentials) }
    }

    private func login(_ credentials: Credentials) async throws -> Login {
        let answer = try await post("/23andMe/Download", credentials.json)
        for name in ["StatusCode", "SecurityQuestion", "SessionId"] where answer.members[name] == nil {
            throw answer.wrong(name, expected: "a value or null")
        }
        switch try answer.requiredInteger("StatusCode") {
        case 0: return .ended(.started)
        case 1: return .ended(.badCredentials)
        case 2:
            return .question(
                SecurityQuestion(
                    text: quoted(
                        hidingTokens(in: try answer.filled("SecurityQuestion"), and: [credentials.password]), limit: 500
                    ),
                    session: try answer.filled("SessionId")))
        case let code: return .ended(.serverError(code: code))
        }
    }

    /// Answers 23andMe's question.
    ///
    /// - Throws: ``SequencingError/input(member:problem:)`` for an empty answer: nothing was sent, and the question can
    ///   still be answered.
    public func answer(_ text: String, to question: SecurityQuestion) async throws -> Outcome {
        guard !text.isEmpty else {
            throw SequencingError.input(member: "answer", problem: "it is empty. Answer the question")
        }
        let answer = try await post(
            "/23andMe/DownloadWithSecurity",
            .object(["SeqAnswer": .string(text), "SessionId": .string(question.session)]))
        switch try answer.requiredInteger("StatusCode") {
        case 0: return .started
        case 1: return .badAnswer
        case let code: return .serverError(code: code)
        }
    }

    /// Signs in at Ancestry, which then mails a download link to the user.
    ///
    /// - Throws: ``SequencingError``, `CancellationError`. Never retried.
    public func authorizeAncestry(_ credentials: Credentials) async throws -> Authorization {
        try await credentials.keepingPassword { try await authorize(credentials) }
    }

    private func authorize(_ credentials: Credentials) async throws -> Authorization {
        let answer = try await post("/Ancestry/Authorize", credentials.json)
        for name in ["StatusCode", "SessionId"] where answer.members[name] == nil {
            throw answer.wrong(name, expected: "a value or null")
        }
        switch try answer.requiredInteger("StatusCode") {
        case 0: return .linkMailed(AncestrySession(identifier: try answer.filled("SessionId")))
        case 1: return .ended(.badCredentials)
        case let code: return .ended(.serverError(code: code))
        }
    }

    /// Starts the import with the link that Ancestry mailed.
    ///
    /// - Throws: ``SequencingError/input(member:problem:)`` for an empty link: nothing was sent, and the session can
    ///   still be used.
    public func download(_ link: String, in session: AncestrySession) async throws -> Outcome {
        guard !link.isEmpty else {
            throw SequencingError.input(member: "url", problem: "it is empty. Paste the link from the email")
        }
        let answer = try await post(
            "/Ancestry/Download", .object(["Url": .string(link), "SessionId": .string(session.identifier)]))
        switch try answer.requiredInteger("StatusCode") {
        case 0: return .started
        case 1: return .badURL
        case let code: return .serverError(code: code)
        }
    }

    private func post(_ path: String, _ content: JSONValue) async throws -> Members {
        var operation = Exchange.Operation.post(String(path.dropFirst()), path, content)
        operation.headers[.acceptLanguage] = "en-us"
        operation.limits = TransferLimits(timeout: .seconds(120))
        return try Members(try await exchange.json(operation), answer: operation.name)
    }
}

extension ThirdPartyImport.Credentials {
    fileprivate var json: JSONValue {
        .object(["Login": .string(login), "Password": .string(password.reveal())])
    }

    /// Runs `body`, and removes the password from its errors: an answer may repeat it.
    fileprivate func keepingPassword<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch SequencingError.malformed(let answer, let member, let expected, let found) {
            // The quotation may end in the middle of the password, so the error names only the kind of value.
            let kind = found.hasPrefix("“") ? "another text" : found.contains(where: \.isLetter) ? found : "a number"
            throw SequencingError.malformed(answer: answer, member: member, expected: expected, found: kind)
        } catch SequencingError.service(let status, let code, let message) {
            let words = [code, message].map { $0.map { hidingTokens(in: $0, and: [password]) } }
            throw SequencingError.service(status: status, code: words[0], message: words[1])
        }
    }
}

extension ThirdPartyImport.Credentials: CustomReflectable {
    /// Empty: the password is a secret, and the login personal data.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Members {
    /// A text that is not empty.
    fileprivate func filled(_ name: String) throws(SequencingError) -> String {
        guard let text = lenientText(name), !text.isEmpty else {
            throw wrong(name, expected: "a text that is not empty")
        }
        return text
    }
}
