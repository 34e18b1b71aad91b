/// An error reply of a peer or of an exported method.
package struct RemoteError: Error, Sendable, Hashable {
    /// The kind of error, such as `org.bluez.Error.NotReady`.
    package let name: ErrorName
    /// The peer's message, untrusted. ``description`` escapes it.
    package let message: String

    /// Creates an error with a message for people.
    package init(_ name: ErrorName, _ message: String = "") {
        self.name = name
        self.message = message
    }
}

extension RemoteError: CustomStringConvertible {
    /// Name and message on one line, with control characters escaped and the message truncated to 500 characters.
    package var description: String {
        message.isEmpty ? name.text : "\(name): \(message.visible(limit: 500))"
    }
}

extension String {
    /// This text, safe for a terminal: control, format, separator and unassigned characters are written as `\u{…}`, so that
    /// nothing moves the cursor, hides text or changes its direction; truncated to `limit` scalars.
    package func visible(limit: Int) -> String {
        var result = ""
        for (count, scalar) in unicodeScalars.enumerated() {
            guard count < limit else { return result + "…" }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
