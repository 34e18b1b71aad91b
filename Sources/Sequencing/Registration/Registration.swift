import HTTPTypes
public import Handshake
public import OAuth

/// Creates an account at Sequencing.com, or resets a password (dossier 2). No sign-in is needed.
///
/// The service sends a link by mail, by which the user completes it. No password passes through the app.
public struct Registration: Sendable {
    private let proof: ClientProof
    private let exchange: Exchange

    /// How the service identifies the app; the wire calls either value `client_id`.
    public enum ClientProof: Sendable {
        /// The client's identifier.
        case identifier(String)
        /// The client's secret, as the service's own apps used to send it. Only for a server without an identifier,
        /// never in an app: every user of the app could read the secret.
        case legacySecret(Secret)
    }

    /// The result of a request.
    public enum Outcome: Sendable, Hashable {
        /// The service accepted the address; the user finds the rest in the mailbox.
        case mailSent
        /// The service rejected the request. `messages` are its texts without control characters: one, or one for each field.
        case refused(code: Int64, messages: [String])
    }

    /// Creates a client of the registration.
    public init(
        _ proof: ClientProof, at hosts: Sequencing.Hosts = .production, transport: any Transport = .platform,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.proof = proof
        exchange = Exchange(send: { try await transport.send($0, limits: $1) }, host: hosts.site, clock: clock)
    }

    /// Creates an account. Never retried.
    ///
    /// - Throws: ``SequencingError``, `CancellationError`.
    public func register(_ email: Sequencing.EmailAddress) async throws -> Outcome {
        try await ask("seq_register", for: email)
    }

    /// Requests a password reset. Never retried.
    ///
    /// - Throws: ``SequencingError``, `CancellationError`.
    public func resetPassword(_ email: Sequencing.EmailAddress) async throws -> Outcome {
        try await ask("seq_new_pass", for: email)
    }

    private func ask(_ name: String, for email: Sequencing.EmailAddress) async throws -> Outcome {
        let client =
            switch proof {
            case .identifier(let identifier): identifier
            case .legacySecret(let secret): secret.reveal()
            }
        var operation = Exchange.Operation.post(
            name, "/indexApi.php?q=sequencing/public/webservice/user/\(name).json",
            .object(["client_id": .string(client), "email": .string(email.string)]))
        operation.headers[.acceptLanguage] = "en-us"
        // These statuses have content, too (dossier 2.3).
        operation.accepted = { $0.kind == .successful || $0.code == 301 || $0.code == 302 }
        return try Outcome(try await exchange.json(operation), answer: name)
    }
}

extension Registration.Outcome {
    /// Parses an answer (dossier 2.3): `status` 0, or `status` 1 with a code and a text or an object of texts.
    init(_ value: JSONValue, answer: String) throws(SequencingError) {
        let members = try Members(value, answer: answer)
        switch try members.requiredInteger("status") {
        case 0: self = .mailSent
        case 1:
            self = .refused(code: try members.requiredInteger("errorCode"), messages: try Self.messages(members))
        default: throw members.wrong("status", expected: "0 or 1")
        }
    }

    private static func messages(_ members: Members) throws(SequencingError) -> [String] {
        let texts: [String]
        switch members["errorMessage"] {
        case .string(let text): texts = [text]
        case .object(let fields):
            texts = fields.sorted { $0.key < $1.key }.compactMap(\.value.string)
            guard texts.count == fields.count, !texts.isEmpty else {
                throw members.wrong("errorMessage", expected: "a text for each field")
            }
        default: throw members.wrong("errorMessage", expected: "a text or an object of texts")
        }
        return texts.map { quoted($0, limit: 500) }
    }
}
