import Crypto

/// The messages of a pairing (circles dossier 5).
enum PairingMessage: Sendable, Hashable {
    /// M1, in the QR code: a commitment to the key and nonce of the device that shows it.
    case offer(session: [UInt8], commitment: [UInt8])
    /// M2: the key and nonce of the device that scanned.
    case join(session: [UInt8], key: [UInt8], nonce: [UInt8])
    /// M3: what M1 committed to.
    case reveal(session: [UInt8], key: [UInt8], nonce: [UInt8])
    /// M4: the card of the device that showed the code, sealed.
    case offererCard(session: [UInt8], sealed: [UInt8])
    /// M5: the card of the device that scanned, sealed.
    case joinerCard(session: [UInt8], sealed: [UInt8])
    /// The other device cancelled.
    case cancel(session: [UInt8])

    static let sessionLength = 16
    static let keyLength = 32
    static let nonceLength = 16
    static let tagLength = 16
    static let maximumCard = 1_400

    /// Parses a message.
    ///
    /// - Throws: ``CircleError/malformed(_:)``.
    init(_ bytes: [UInt8]) throws(CircleError) {
        var reader = ByteReader(bytes)
        guard let kind = reader.number(UInt8.self), let session = reader.bytes(Self.sessionLength) else {
            throw .malformed(.pairingMessage)
        }
        switch kind {
        case 1:
            guard let commitment = reader.bytes(32), reader.rest == 0 else { throw .malformed(.pairingMessage) }
            self = .offer(session: session, commitment: commitment)
        case 2, 3:
            guard let key = reader.bytes(Self.keyLength), let nonce = reader.bytes(Self.nonceLength), reader.rest == 0
            else { throw .malformed(.pairingMessage) }
            self =
                kind == 2
                ? .join(session: session, key: key, nonce: nonce) : .reveal(session: session, key: key, nonce: nonce)
        case 4, 5:
            guard reader.rest > Self.tagLength, reader.rest <= Self.maximumCard + Self.tagLength,
                let sealed = reader.bytes(reader.rest)
            else { throw .malformed(.pairingMessage) }
            self =
                kind == 4
                ? .offererCard(session: session, sealed: sealed) : .joinerCard(session: session, sealed: sealed)
        case 6 where reader.rest == 0: self = .cancel(session: session)
        default: throw .malformed(.pairingMessage)
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .offer(let session, let commitment): [1] + session + commitment
        case .join(let session, let key, let nonce): [2] + session + key + nonce
        case .reveal(let session, let key, let nonce): [3] + session + key + nonce
        case .offererCard(let session, let sealed): [4] + session + sealed
        case .joinerCard(let session, let sealed): [5] + session + sealed
        case .cancel(let session): [6] + session
        }
    }

    var session: [UInt8] {
        switch self {
        case .offer(let session, _), .join(let session, _, _), .reveal(let session, _, _),
            .offererCard(let session, _), .joinerCard(let session, _), .cancel(let session):
            session
        }
    }
}

/// What both devices derive from the messages.
struct PairingSecrets: Sendable {
    /// X: the digest of M1, M2 and M3.
    let transcript: [UInt8]
    private let secret: SymmetricKey

    /// - Throws: ``CircleError/weakKey`` for a key with which every peer agrees on the same secret.
    init(
        _ own: Curve25519.KeyAgreement.PrivateKey, _ other: [UInt8], _ messages: [PairingMessage]
    ) throws(CircleError) {
        self.init(shared: try SharedSecretBytes.agree(own, other), messages)
    }

    init(shared: SymmetricKey, _ messages: [PairingMessage]) {
        transcript = Array(
            SHA256.hash(data: ("SH2 pair transcript\0" as StaticString).label + messages.flatMap(\.bytes)))
        secret = SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: shared, salt: transcript))
    }

    /// The six digits that both users compare.
    var digits: String {
        let number = expand("SH2 pair sas", 8).withUnsafeBytes { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    var scope: CircleScope { CircleScope(pairingTranscript: transcript) }

    /// Seals a card of the device that showed the code, or of the one that scanned it.
    func seal(_ card: [UInt8], fromOfferer: Bool) throws -> [UInt8] {
        let box = try ChaChaPoly.seal(
            card, using: key(fromOfferer), nonce: nonce(), authenticating: associated(fromOfferer))
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// - Throws: ``CircleError/sealed``.
    func open(_ sealed: [UInt8], fromOfferer: Bool) throws(CircleError) -> [UInt8] {
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: nonce(), ciphertext: sealed.dropLast(PairingMessage.tagLength),
                tag: sealed.suffix(PairingMessage.tagLength))
            return Array(try ChaChaPoly.open(box, using: key(fromOfferer), authenticating: associated(fromOfferer)))
        } catch {
            throw .sealed
        }
    }

    /// Each key seals one message, so the nonce is 0.
    private func nonce() throws -> ChaChaPoly.Nonce { try ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12)) }

    private func key(_ fromOfferer: Bool) -> SymmetricKey { expand(fromOfferer ? "SH2 pair a2b" : "SH2 pair b2a", 32) }

    private func associated(_ fromOfferer: Bool) -> [UInt8] { [fromOfferer ? 4 : 5] + transcript }

    private func expand(_ label: StaticString, _ count: Int) -> SymmetricKey {
        HKDF<SHA256>.expand(pseudoRandomKey: secret, info: label.label, outputByteCount: count)
    }
}

/// An X25519 agreement as bytes.
enum SharedSecretBytes {
    /// - Throws: ``CircleError/weakKey`` where the result is zero: the other key is of small order.
    static func agree(
        _ own: Curve25519.KeyAgreement.PrivateKey, _ other: [UInt8]
    ) throws(CircleError) -> SymmetricKey {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: other),
            let secret = try? own.sharedSecretFromKeyAgreement(with: key)
        else { throw .weakKey }
        let bytes = secret.withUnsafeBytes { Array($0) }
        guard bytes.contains(where: { $0 != 0 }) else { throw .weakKey }
        return SymmetricKey(data: bytes)
    }
}
