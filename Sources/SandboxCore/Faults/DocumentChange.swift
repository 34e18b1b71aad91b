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

    func applied(to document: JSON) -> JSON {
        switch document {
        case .number(let number): self == .numbersAsStrings ? .string(String(number)) : document
        case .decimal(let number): self == .numbersAsStrings ? .string(String(number)) : document
        case .string(let text): number(text) ?? document
        case .array(let values): .array(values.map(applied(to:)))
        case .object(let members): .object(members.compactMap(applied(to:)))
        case .null, .bool: document
        }
    }

    private func number(_ text: String) -> JSON? {
        guard self == .stringsAsNumbers, let number = Int(text), String(number) == text else { return nil }
        return .number(number)
    }

    private func applied(to member: JSON.Member) -> JSON.Member? {
        switch self {
        case .without(member.name): nil
        case .null(member.name): JSON.Member(name: member.name, value: .null)
        default: JSON.Member(name: member.name, value: applied(to: member.value))
        }
    }
}
#endif
