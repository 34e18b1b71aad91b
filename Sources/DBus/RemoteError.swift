/// An error that a peer answered a call with, or that an exported method answers with.
public struct RemoteError: Error, Sendable, Hashable {
    /// What kind of error it is, as in `org.bluez.Error.NotReady`.
    public let name: ErrorName
    /// The peer's own words for people, as they came: they are untrusted. ``description`` shows them made harmless.
    public let message: String

    /// An error of this name, with a message for people.
    public init(_ name: ErrorName, _ message: String = "") {
        self.name = name
        self.message = message
    }
}

extension RemoteError: CustomStringConvertible {
    /// The name and the message on one line, with control characters escaped and the message cut at 500 characters.
    public var description: String {
        message.isEmpty ? name.text : "\(name): \(message.visible(limit: 500))"
    }
}

extension String {
    /// This text in a form that can be shown on a terminal: control, format, separator and unassigned characters stand as
    /// `\u{…}`, so that nothing moves the cursor, hides a text or turns its direction; what exceeds `limit` scalars is cut.
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
