import OAuth

/// Whose profile is meant (dossier 4.1).
public enum ProfileReference: Sendable, Hashable {
    /// The token's owner's.
    case me
    /// The person's with this identifier.
    case id(PersonID)
    /// The person's with this address of electronic mail.
    case email(String)

    /// Reads what a person types: `me`, a number, or an address.
    ///
    /// - Throws: ``RecurseCenterError/input(member:problem:)``.
    public init(_ text: String) throws(RecurseCenterError) {
        if text == "me" {
            self = .me
        } else if let number = JSONValue.string(text).lenientInteger, let id = PersonID(number) {
            self = .id(id)
        } else {
            self = .email(text)
            _ = try segment
        }
    }

    /// The segment of a path. An address is encoded, so that it stays one.
    var segment: String {
        get throws(RecurseCenterError) {
            switch self {
            case .me: return "me"
            case .id(let id): return id.description
            case .email(let address):
                let parts = address.split(separator: "@", omittingEmptySubsequences: false)
                guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), address.utf8.count <= 254,
                    address.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
                else { throw .input(member: "person", problem: "expected an identifier, an e-mail address or me") }
                return PercentEncoding.query(address)
            }
        }
    }
}

extension ProfileReference: CustomStringConvertible {
    public var description: String {
        switch self {
        case .me: "me"
        case .id(let id): id.description
        case .email(let address): quoted(address, limit: 254)
        }
    }
}
