#if Desktop
/// A secret of the Secret Service.
///
/// It cannot be printed, reflected or encoded by accident; only ``reveal()`` returns its bytes.
public struct SecretValue: Sendable {
    private let bytes: [UInt8]

    /// Wraps secret bytes.
    public init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// The bytes.
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
