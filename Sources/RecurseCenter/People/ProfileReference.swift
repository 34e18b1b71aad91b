import OAuth

/// The person whose profile is requested (dossier 4.1).
public enum ProfileReference: Sendable, Hashable {
    /// The signed-in user.
    case me
    /// The person with this identifier.
    case id(PersonID)
    /// The person with this email address.
    case email(String)

    /// Parses user input: `me`, an identifier, or an email address.
    ///
    /// - Throws: ``RecurseCenterError/input(member:problem:)``.
    public init(_ text: String) throws(RecurseCenterError) {
        if text == "me" {
            self = .me
        } else if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
            let id = PersonID(number)
        {
            self = .id(id)
        } else {
            self = .email(text)
            _ = try segment
        }
    }

    /// The path segment; an email address is percent-encoded.
    var segment: String {
        get throws(RecurseCenterError) {
            switch self {
            case .me: return "me"
            case .id(let id): return id.description
            case .email(let address):
                let parts = address.split(separator: "@", omittingEmptySubsequences: false)
                guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), address.utf8.count <= 254,
                    address.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
                else { throw .input(member: "person", problem: "not a number, an email address or \"me\"") }
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
