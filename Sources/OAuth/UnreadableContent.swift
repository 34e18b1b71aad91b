/// What content is that should be JSON and is not. Nothing of it is quoted, since it may contain a token.
package enum UnreadableContent: String, Sendable, CaseIterable {
    case empty = "nothing"
    /// HTML or XML: a server's error page, or the sign-in page of a network.
    case page = "a web page"
    /// Content that begins as JSON does: it was cut off, or is wrong further on.
    case brokenJSON = "incomplete or invalid JSON"
    case text = "text that is not JSON"

    /// Tells by the first byte that is neither white space nor a byte order mark.
    package init(_ content: [UInt8]) {
        let content = content.starts(with: [0xEF, 0xBB, 0xBF]) ? content.dropFirst(3) : content[...]
        self =
            switch content.first(where: { $0 > 0x20 }) {
            case nil: .empty
            case UInt8(ascii: "<"): .page
            case UInt8(ascii: "{"), UInt8(ascii: "["): .brokenJSON
            default: .text
            }
    }

    /// The content as the object of “answered with”.
    package var clause: String {
        switch self {
        case .empty: "nothing instead of JSON"
        case .page: "a web page instead of JSON"
        case .brokenJSON, .text: rawValue
        }
    }
}
