import Crypto

/// What records belong to: a circle or a pair. 16 bytes (circles dossier 3 and 5).
public struct CircleScope: Sendable, Hashable {
    public let bytes: [UInt8]

    static let length = 16

    /// The scope of a circle at a public address.
    ///
    /// - Parameter address: the URL; a slash at its end does not matter.
    public init(circleAt address: String) {
        let plain = address.hasSuffix("/") ? address.dropLast() : address[...]
        self.init(digestOf: "SH2 scope\0", Array(plain.utf8))
    }

    /// The scope of a pair, from the transcript of its pairing.
    init(pairingTranscript transcript: [UInt8]) {
        self.init(digestOf: "SH2 pair scope\0", transcript)
    }

    /// Takes 16 bytes; nil for another length.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    private init(digestOf label: StaticString, _ content: [UInt8]) {
        bytes = Array(SHA256.hash(data: label.label + content).prefix(Self.length))
    }
}
