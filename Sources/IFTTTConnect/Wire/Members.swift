import Handshake
package import OAuth

/// The members of an object in an answer of IFTTT. Booleans and numbers may be strings, and a string must be one
/// (dossier 1.2).
typealias Members = JSONMembers<ConnectError>

extension Members {
    /// A string; nil when absent or of another type.
    func text(_ name: String) -> String? { self[name]?.string }

    /// A required string.
    func requiredText(_ name: String) throws(ConnectError) -> String {
        guard let text = text(name) else { throw wrong(name, expected: "a text") }
        return text
    }

    /// An optional string. Another type is an error.
    func optionalText(_ name: String) throws(ConnectError) -> String? {
        guard self[name] != nil else { return nil }
        return try requiredText(name)
    }

    /// A URL; nil when absent or invalid.
    func address(_ name: String) -> WebAddress? { text(name).flatMap(WebAddress.init(rawValue:)) }

    /// A Boolean, also as a string; nil when absent or of another type.
    func bool(_ name: String) -> Bool? {
        switch self[name] {
        case .bool(let truth): truth
        case .string("true"): true
        case .string("false"): false
        default: nil
        }
    }

    /// A finite number, also as a string; nil when absent or of another type.
    func number(_ name: String) -> Double? { self[name]?.lenientNumber }

    /// The list of a member; empty when absent or of another type.
    func list(_ name: String) -> [JSONValue] { self[name]?.array ?? [] }

    /// The objects of a list that a reader accepts; drops the others (dossier 1.2).
    func objects<Value>(_ name: String, _ read: (Members) -> Value?) -> [Value] {
        elements(name).compactMap(read)
    }
}

extension JSONValue {
    /// A finite number, or a string with one in JSON syntax (dossier 1.2).
    package var lenientNumber: Double? {
        let spelling: String
        switch self {
        case .number(let number): spelling = number
        case .string(let text):
            // Swift accepts more than JSON: `inf`, `0x1p3`.
            guard (1...40).contains(text.utf8.count), text.utf8.allSatisfy({ "0123456789.+-eE".utf8.contains($0) })
            else { return nil }
            spelling = text
        default: return nil
        }
        return Double(spelling).flatMap { $0.isFinite ? $0 : nil }
    }
}
