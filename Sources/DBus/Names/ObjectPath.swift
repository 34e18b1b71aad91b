/// The path of an object, such as `/org/bluez/hci0` (D-Bus Specification, “Valid Object Paths”).
package struct ObjectPath: CheckedName {
    package let text: String

    /// The path `/`.
    package static let root: ObjectPath = "/"

    package init(_ text: String) throws(DBusError) {
        if let problem = Self.problem(of: text.utf8) {
            throw .invalidName(kind: "object path", text: text, problem: problem)
        }
        self.text = text
    }

    /// Whether `other` is below this path; a path is not below itself.
    package func contains(_ other: ObjectPath) -> Bool {
        text == "/" ? other.text != "/" : other.text.utf8.starts(with: (text + "/").utf8)
    }

    /// The path of a child.
    ///
    /// - Throws: ``DBusError/invalidName(kind:text:problem:)`` when `element` is not a single path element.
    package func appending(_ element: String) throws(DBusError) -> ObjectPath {
        guard !element.isEmpty, !element.utf8.contains(UInt8(ascii: "/")) else {
            throw .invalidName(
                kind: "element of an object path", text: element, problem: "it is empty or has a slash")
        }
        return try ObjectPath(text == "/" ? "/\(element)" : "\(text)/\(element)")
    }

    /// The elements from the root.
    package var elements: [Substring] {
        text.split(separator: "/")
    }

    private static func problem(of bytes: String.UTF8View) -> String? {
        let slash = UInt8(ascii: "/")
        guard bytes.first == slash else { return "it does not start with a slash" }
        if bytes.count == 1 { return nil }
        let elements = bytes.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        if elements.contains(where: \.isEmpty) { return "it has an empty element" }
        return elements.allSatisfy { $0.allSatisfy(NameRule.isNameByte) }
            ? nil : "it has a character that is not one of A-Z, a-z, 0-9 and _"
    }
}
