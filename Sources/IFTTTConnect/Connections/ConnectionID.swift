import OAuth

/// The identifier of a connection at IFTTT, such as `aB3dE5fG` (dossier 1.1).
///
/// 1 to 64 letters, digits, hyphens and underscores, which are safe in a path.
public struct ConnectionID: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    /// The identifier in this spelling, or nil when it is invalid.
    public init?(rawValue: String) {
        guard (1...64).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.rawValue = rawValue
    }

    /// Validates an identifier.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)``.
    public init(_ text: String) throws(ConnectError) {
        guard let id = Self(rawValue: text) else {
            throw .input(
                member: "connection",
                problem: "an identifier has 1 to 64 letters, digits, hyphens and underscores, not “"
                    + quoted(text, limit: 80) + "”")
        }
        self = id
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }
}

extension ConnectionID: CustomStringConvertible {
    public var description: String { rawValue }
}
