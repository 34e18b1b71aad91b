#if Desktop
/// A secret of the Secret Service.
///
/// It cannot be printed, reflected or encoded by accident; only ``reveal()`` returns its bytes.
package struct SecretValue: Sendable {
    private let bytes: [UInt8]

    /// Wraps secret bytes.
    package init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// The bytes.
    package func reveal() -> [UInt8] {
        bytes
    }
}

extension SecretValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "(secret)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
