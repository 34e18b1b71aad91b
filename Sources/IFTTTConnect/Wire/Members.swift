import Handshake
package import OAuth

/// The members of an object in an answer of IFTTT. Truth values and numbers may be spelled as texts, and a text must be one
/// (dossier 1.2).
typealias Members = JSONMembers<ConnectError>

extension Members {
    /// A text; nil when absent or of another type.
    func text(_ name: String) -> String? { self[name]?.string }

    /// A text that must be there.
    func requiredText(_ name: String) throws(ConnectError) -> String {
        guard let text = text(name) else { throw wrong(name, expected: "a text") }
        return text
    }

    /// A text that may be absent. Anything else in its place is an error.
    func optionalText(_ name: String) throws(ConnectError) -> String? {
        guard self[name] != nil else { return nil }
        return try requiredText(name)
    }

    /// An address; nil when absent or none.
    func address(_ name: String) -> WebAddress? { text(name).flatMap(WebAddress.init(rawValue:)) }

    /// True or false, also as a text; nil when absent or of another type.
    func bool(_ name: String) -> Bool? {
        switch self[name] {
        case .bool(let truth): truth
        case .string("true"): true
        case .string("false"): false
        default: nil
        }
    }

    /// A finite number, also as a text; nil when absent or of another type.
    func number(_ name: String) -> Double? { self[name]?.lenientNumber }

    /// The list under a name; an absent one, or what is none, is empty.
    func list(_ name: String) -> [JSONValue] { self[name]?.array ?? [] }

    /// The objects of the list under a name that a reader takes; the others are dropped (dossier 1.2).
    func objects<Value>(_ name: String, _ read: (Members) -> Value?) -> [Value] {
        elements(name).compactMap(read)
    }
}

extension JSONValue {
    /// A finite number, or a text that spells one as JSON does (dossier 1.2).
    package var lenientNumber: Double? {
        let spelling: String
        switch self {
        case .number(let number): spelling = number
        case .string(let text):
            // Swift reads more than JSON has: `inf`, `0x1p3`.
            guard (1...40).contains(text.utf8.count), text.utf8.allSatisfy({ "0123456789.+-eE".utf8.contains($0) })
            else { return nil }
            spelling = text
        default: return nil
        }
        return Double(spelling).flatMap { $0.isFinite ? $0 : nil }
    }
}
