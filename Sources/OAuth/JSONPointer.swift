extension JSONValue {
    /// The value at a JSON Pointer, such as `/data/0/id` (RFC 6901). Nil when there is none.
    ///
    /// The empty pointer is the whole value. A text that is not a pointer points at nothing.
    public func value(at pointer: String) -> JSONValue? {
        guard !pointer.isEmpty else { return self }
        guard pointer.hasPrefix("/") else { return nil }
        var value = self
        for part in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let name = part.replacing("~1", with: "/").replacing("~0", with: "~")
            let next: JSONValue? =
                switch value {
                case .object(let members): members[String(name)]
                case .array(let elements):
                    wholeNumber(String(name)).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
                default: nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}
