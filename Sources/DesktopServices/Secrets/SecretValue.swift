#if Desktop
/// Bytes that must not be seen: what the Secret Service keeps.
///
/// It does not print, reflect or encode by accident, and reading it takes the word ``reveal()``.
public struct SecretValue: Sendable {
    private let bytes: [UInt8]

    /// Wraps bytes that must not be seen.
    public init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// The bytes themselves, for the one place that needs them.
    public func reveal() -> [UInt8] {
        bytes
    }
}

extension SecretValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
