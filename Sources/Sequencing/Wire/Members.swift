import Handshake
import OAuth

/// The members of an object in an answer of Sequencing.com. A number may be a string and vice versa (dossier
/// 9.5).
typealias Members = JSONMembers<SequencingError>

extension Members {
    /// A string, or a number in its own notation; required.
    func text(_ name: String) throws(SequencingError) -> String {
        guard let text = lenientText(name) else { throw wrong(name, expected: "a text") }
        return text
    }

    /// An integer, or a string of its digits; nil when absent.
    func integer(_ name: String) throws(SequencingError) -> Int64? {
        guard let value = self[name] else { return nil }
        if let number = value.lenientInteger { return number }
        throw wrong(name, expected: "a whole number")
    }

    func requiredInteger(_ name: String) throws(SequencingError) -> Int64 {
        guard let number = try integer(name) else { throw wrong(name, expected: "a whole number") }
        return number
    }

    /// A Boolean, also as a string; nil when absent.
    func bool(_ name: String) throws(SequencingError) -> Bool? {
        switch self[name] {
        case nil: return nil
        case .bool(let truth): return truth
        case .string(let text):
            switch text.lowercased() {
            case "true": return true
            case "false": return false
            default: throw wrong(name, expected: "true or false")
            }
        default: throw wrong(name, expected: "true or false")
        }
    }

    /// A required object.
    func object(_ name: String) throws(SequencingError) -> Members {
        guard let value = self[name] else { throw wrong(name, expected: "an object") }
        return try Members(value, answer: answer, place: place + name)
    }

    /// A list; an absent one is empty.
    func list(_ name: String) throws(SequencingError) -> [JSONValue] {
        guard let value = self[name] else { return [] }
        guard let list = value.array else { throw wrong(name, expected: "a list") }
        return list
    }
}
