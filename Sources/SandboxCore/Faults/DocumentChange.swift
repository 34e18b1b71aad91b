#if Sandbox
/// A change to a JSON response, as a careless server might make it (Sequencing dossier, sections 9.3 and 9.5).
enum DocumentChange: Sendable, Equatable {
    /// Every number becomes a string.
    case numbersAsStrings
    /// Every string that is an integer becomes a number.
    case stringsAsNumbers
    /// All members of this name are omitted, at any depth.
    case without(name: String)
    /// All members of this name become null, at any depth.
    case null(name: String)
    /// All members of this name have this value, at any depth; where there is none, one is added.
    case member(name: String, value: JSON)

    func applied(to document: JSON) -> JSON {
        if case .member(let name, let value) = self, !Self.hasMember(name, document) {
            return document.adding(name, value)
        }
        return changed(document)
    }

    private static func hasMember(_ name: String, _ document: JSON) -> Bool {
        switch document {
        case .array(let values): values.contains { hasMember(name, $0) }
        case .object(let members): members.contains { $0.name == name || hasMember(name, $0.value) }
        case .null, .bool, .number, .decimal, .string: false
        }
    }

    private func changed(_ document: JSON) -> JSON {
        switch document {
        case .number(let number): self == .numbersAsStrings ? .string(String(number)) : document
        case .decimal(let number): self == .numbersAsStrings ? .string(String(number)) : document
        case .string(let text): number(text) ?? document
        case .array(let values): .array(values.map(changed))
        case .object(let members): .object(members.compactMap(changed))
        case .null, .bool: document
        }
    }

    private func number(_ text: String) -> JSON? {
        guard self == .stringsAsNumbers, let number = Int(text), String(number) == text else { return nil }
        return .number(number)
    }

    private func changed(_ member: JSON.Member) -> JSON.Member? {
        switch self {
        case .without(member.name): nil
        case .null(member.name): JSON.Member(name: member.name, value: .null)
        case .member(member.name, let value): JSON.Member(name: member.name, value: value)
        default: JSON.Member(name: member.name, value: changed(member.value))
        }
    }
}
#endif
