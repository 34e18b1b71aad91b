/// A string that must not be seen: a token, a code, a verifier, a client secret.
///
/// A secret does not print, reflect, compare or encode by accident: its description and its mirror are redacted, it
/// is neither `Equatable` nor `Encodable`, and reading it takes the word ``reveal()``, which is easy to search for.
/// RFC 6749, section 10.3; `oauth-security.md` rows E9 and L1.
public struct Secret: Sendable {
    private let value: String

    /// Wraps a string that must not be seen.
    public init(_ value: String) {
        self.value = value
    }

    /// The string itself, for the one place that has to send or seal it.
    public func reveal() -> String {
        value
    }

    /// Whether the secret holds no character.
    public var isEmpty: Bool {
        value.isEmpty
    }

    /// Compares in a time that depends on the lengths only. The first difference has no influence on it.
    public func matches(_ other: Secret) -> Bool {
        constantTimeEqual(value.utf8, other.value.utf8)
    }
}

extension Secret {
    /// The secret in Base64, as a server may repeat it.
    package var encoded: Secret { Secret(Base64.encode(Array(value.utf8))) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whether two byte sequences are equal, in time that depends on their lengths only.
package func constantTimeEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    let quick = left.withContiguousStorageIfAvailable { left in
        right.withContiguousStorageIfAvailable { right in
            var difference: UInt8 = 0
            for index in 0..<left.count { difference |= left[index] ^ right[index] }
            return difference == 0
        }
    }
    if let quick, let quick { return quick }
    return zip(left, right).reduce(UInt8(0)) { $0 | $1.0 ^ $1.1 } == 0
}
