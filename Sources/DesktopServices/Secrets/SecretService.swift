#if Desktop
public import DBus

/// The keeper of secrets of the user's session: gnome-keyring, KWallet and others (Secret Service API 0.2; beacons dossier
/// 10.3).
///
/// A value is one session with the service, which lives as long as its connection and is worth nothing on another one. When
/// the service is restarted, open a new session.
public struct SecretService: Sendable {
    /// How secrets travel to the service.
    public enum Transfer: Sendable, Hashable {
        /// Encrypted with a key that was agreed for this session.
        case encrypted
        /// As they are, to a service that knows nothing better. A connection of this package is always a Unix socket of
        /// this machine, and the bus is run by the same user or by root: nobody else can listen.
        case plain
    }

    /// Whether the service may ask the user, and how long the answer is waited for.
    public enum Prompting: Sendable, Hashable {
        /// What is locked stays locked.
        case never
        /// A prompt that is not answered in time is dismissed; on a machine without a display nobody can answer it.
        case upTo(Duration)
    }

    /// What became of a search for one secret.
    public enum Lookup: Sendable {
        case found(SecretValue)
        /// There is no such item.
        case absent
        /// There is one, but the user did not unlock it.
        case locked
        /// Nothing can be kept here: the service has no default collection.
        case noCollection
    }

    /// What became of a change.
    public enum Change: Sendable, Hashable {
        case done
        /// There was nothing to delete.
        case absent
        /// The collection or item is locked and the user did not unlock it. Nothing was changed.
        case locked
        /// The service has no default collection.
        case noCollection
    }

    /// How secrets travel in this session.
    public var transfer: Transfer { key == nil ? .plain : .encrypted }

    let service: RemoteObject
    let prompting: Prompting
    private let session: ObjectPath
    private let key: SessionKey?
    private let random: @Sendable (Int) -> [UInt8]

    static let name: BusName = "org.freedesktop.secrets"
    static let interface: InterfaceName = "org.freedesktop.Secret.Service"
    static let none: ObjectPath = "/"

    /// Opens a session, encrypted where the service can.
    ///
    /// - Parameters:
    ///   - connection: A connection to the session's bus.
    ///   - prompting: Whether the user may be asked; a minute when it is not given.
    ///   - random: Gives so many random bytes, for keys.
    /// - Throws: ``DesktopServicesError/noSecretService``, ``DesktopServicesError/bus(_:)`` or
    ///   ``DesktopServicesError/malformed(answer:problem:)``
    public static func open(
        on connection: Connection, prompting: Prompting = .upTo(.seconds(60)),
        random: @escaping @Sendable (Int) -> [UInt8] = systemRandom
    ) async throws -> SecretService {
        let service = connection.object("/org/freedesktop/secrets", of: name)
        return try await DesktopServicesError.placing(absent: .noSecretService) {
            let agreement = KeyAgreement(random: random(KeyAgreement.privateKeyLength))
            do {
                let (answer, session) = try await service.call(
                    "OpenSession", in: interface,
                    [KeyAgreement.algorithm.value, .variant(.bytes(agreement.publicKey))]
                ).read(Value.self, ObjectPath.self)
                let key = try agreement.sharedKey(with: try answer.read([UInt8].self))
                return SecretService(service, prompting, session, key, random)
            } catch DBusError.remote(let error) where error.name == .notSupported {
                let (_, session) = try await service.call("OpenSession", in: interface, ["plain", .variant("")])
                    .read(Value.self, ObjectPath.self)
                return SecretService(service, prompting, session, nil, random)
            }
        }
    }

    private init(
        _ service: RemoteObject, _ prompting: Prompting, _ session: ObjectPath, _ key: SessionKey?,
        _ random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.service = service
        self.prompting = prompting
        self.session = session
        self.key = key
        self.random = random
    }

    /// Random bytes of the operating system.
    public static let systemRandom: @Sendable (Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in .random(in: 0 ... .max, using: &generator) }
    }

    // MARK: Secrets on the wire

    /// A secret as the interface takes it: session, parameters, value and content type.
    func sealed(_ secret: SecretValue) throws(DesktopServicesError) -> Value {
        let vector = key == nil ? [] : random(16)
        let value = try key.map { key throws(DesktopServicesError) in try key.seal(secret.reveal(), vector: vector) }
        return .structure([
            .objectPath(session), .bytes(vector), .bytes(value ?? secret.reveal()), "application/octet-stream",
        ])
    }

    /// Reads a secret that the service sent.
    func opened(_ value: Value) throws -> SecretValue {
        guard case .structure(let fields) = value else {
            throw DesktopServicesError.malformed(answer: "GetSecrets", problem: "a secret is no structure")
        }
        let (session, vector, sealed) = try fields.read(ObjectPath.self, [UInt8].self, [UInt8].self)
        guard session == self.session else {
            throw DesktopServicesError.malformed(answer: "GetSecrets", problem: "a secret is of another session")
        }
        guard let key else { return SecretValue(sealed) }
        return SecretValue(try key.open(sealed, vector: vector))
    }

    /// The secrets of items that are unlocked.
    func secrets(of items: [ObjectPath]) async throws -> [SecretValue] {
        let answer = try await service.call("GetSecrets", in: Self.interface, [items.value, .objectPath(session)])
        guard case .dictionary(let entries, key: .objectPath, value: _)? = answer.first else {
            throw DesktopServicesError.malformed(answer: "GetSecrets", problem: "it is no dictionary")
        }
        return try entries.map { try opened($0.value) }
    }
}
#endif
