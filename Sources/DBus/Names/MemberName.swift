/// The name of a method, signal or property, such as `StartDiscovery` (D-Bus Specification, “Valid Member Names”).
package struct MemberName: CheckedName {
    package let text: String

    package init(_ text: String) throws(DBusError) {
        guard text.utf8.count <= NameRule.maximumLength else {
            throw .invalidName(kind: "member name", text: text, problem: "it is longer than 255 bytes")
        }
        guard NameRule.isElement(text.utf8, mayStartWithDigit: false, mayHaveHyphen: false) else {
            throw .invalidName(
                kind: "member name", text: text,
                problem: "it is empty, starts with a digit or has a character that is not one of A-Z, a-z, 0-9 and _")
        }
        self.text = text
    }
}
