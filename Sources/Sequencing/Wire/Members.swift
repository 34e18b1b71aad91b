import Handshake
import OAuth

/// The members of an object in an answer of Sequencing.com. A number may be spelled as a text and the other way round (dossier
/// 9.5).
typealias Members = JSONMembers<SequencingError>

extension Members {
    /// A text, or a number in its own spelling; required.
    func text(_ name: String) throws(SequencingError) -> String {
        guard let text = lenientText(name) else { throw wrong(name, expected: "a text") }
        return text
    }

    /// A whole number, or its digits as a text; nil when absent.
    func integer(_ name: String) throws(SequencingError) -> Int64? {
        guard let value = self[name] else { return nil }
        if let number = value.lenientInteger { return number }
        throw wrong(name, expected: "a whole number")
    }

    func requiredInteger(_ name: String) throws(SequencingError) -> Int64 {
        guard let number = try integer(name) else { throw wrong(name, expected: "a whole number") }
        return number
    }

    /// True or false, also as a text; nil when absent.
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

    /// The object under a name; required.
    func object(_ name: String) throws(SequencingError) -> Members {
        guard let value = self[name] else { throw wrong(name, expected: "an object") }
        return try Members(value, answer: answer, place: place + name)
    }

    /// The list under a name; an absent one is empty.
    func list(_ name: String) throws(SequencingError) -> [JSONValue] {
        guard let value = self[name] else { return [] }
        guard let list = value.array else { throw wrong(name, expected: "a list") }
        return list
    }
}
