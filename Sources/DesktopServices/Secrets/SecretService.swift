#if Desktop
package import DBus

/// A session with the Secret Service: gnome-keyring, KWallet and others (Secret Service API 0.2; beacons dossier 10.3).
///
/// A session lives as long as its connection and cannot be used on another one. When the service restarts, open a new
/// session.
package struct SecretService: Sendable {
    /// How secrets travel on the bus.
    package enum Transfer: Sendable, Hashable {
        /// Encrypted with the session key.
        case encrypted
        /// In plain, for a service without encryption. Connections of this package are Unix sockets on this machine, and the
        /// bus is run by the same user or by root, so no other user can listen.
        case plain
    }

    /// Whether the service may prompt the user, and for how long.
    package enum Prompting: Sendable, Hashable {
        /// Locked items stay locked.
        case never
        /// Dismisses a prompt that is not answered in time; without a display, no user can answer it.
        case upTo(Duration)
    }

    /// The result of a look-up.
    package enum Lookup: Sendable {
        case found(SecretValue)
        /// There is no such item.
        case absent
        /// There is one, or there may be one, but the keyring is locked and the user did not unlock it.
        case locked
        /// The service has no default collection, so it stores nothing.
        case noCollection
    }

    /// The result of a change.
    package enum Change: Sendable, Hashable {
        case done
        /// There was nothing to delete.
        case absent
        /// The collection or item is locked and the user did not unlock it. Nothing changed.
        case locked
        /// The service has no default collection.
        case noCollection
    }

    /// How secrets travel in this session.
    package var transfer: Transfer { key == nil ? .plain : .encrypted }

    let service: RemoteObject
    let prompting: Prompting
    private let session: ObjectPath
    private let key: SessionKey?
    private let random: @Sendable (Int) -> [UInt8]

    static let name: BusName = "org.freedesktop.secrets"
    static let interface: InterfaceName = "org.freedesktop.Secret.Service"
    static let none: ObjectPath = "/"

    /// Opens a session; encrypted where the service supports it.
    ///
    /// - Parameters:
    ///   - connection: A connection to the session bus.
    ///   - prompting: Whether the user may be prompted; by default for a minute.
    ///   - random: Returns that many random bytes, for keys.
    /// - Throws: ``DesktopServicesError/noSecretService``, ``DesktopServicesError/bus(_:)`` or
    ///   ``DesktopServicesError/malformed(answer:problem:)``
    package static func open(
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
    package static let systemRandom: @Sendable (Int) -> [UInt8] = { count in
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
            throw DesktopServicesError.malformed(answer: "GetSecrets", problem: "a secret is not a structure")
        }
        let (session, vector, sealed) = try fields.read(ObjectPath.self, [UInt8].self, [UInt8].self)
        guard session == self.session else {
            throw DesktopServicesError.malformed(answer: "GetSecrets", problem: "a secret belongs to another session")
        }
        guard let key else { return SecretValue(sealed) }
        return SecretValue(try key.open(sealed, vector: vector))
    }

    /// The secrets of unlocked items.
    func secrets(of items: [ObjectPath]) async throws -> [SecretValue] {
        let answer = try await service.call("GetSecrets", in: Self.interface, [items.value, .objectPath(session)])
        guard case .dictionary(let entries, key: .objectPath, value: _)? = answer.first else {
            throw DesktopServicesError.malformed(answer: "GetSecrets", problem: "it is not a dictionary")
        }
        return try entries.map { try opened($0.value) }
    }
}
#endif
