#if Sandbox
/// The kinds of signed texts that the standard server makes, by the words of fault rules.
package enum SignedTextKind: String, CaseIterable, Sendable {
    case idToken = "id_token"
    /// The response to an authorization request (JARM).
    case response
    case userInfo = "userinfo"
    case introspection
    case logoutToken = "logout_token"
}

/// The key that signs a text.
package enum SignedTextKey: String, CaseIterable, Sendable {
    /// A key that is not published, under the name of the published one.
    case other
    /// A key that is not published, under a name of its own.
    case unknown
    /// The published key; one bit of the signature is another.
    case damaged
    /// No signature, and `alg` is `none`.
    case none
    /// HMAC with the published key in PEM as the secret, as an attacker makes it who knows only that.
    case hs256 = "HS256"
    /// A published key whose algorithm the metadata does not name.
    case es384 = "ES384"
    case edDSA = "EdDSA"
    case rs256 = "RS256"
    case ps256 = "PS256"

    static let words = allCases.map(\.rawValue).joined(separator: ", ")
}

/// One change to a signed text.
package enum SignedTextChange: Sendable, Equatable {
    /// The claim has another value, and stands there once; nil leaves it out.
    case claim(name: String, value: JSON?)
    /// The claim stands there twice, with one value.
    case doubledClaim(name: String)
    /// The header member has another value; nil leaves it out.
    case header(name: String, value: JSON?)
    /// Another key signs.
    case key(SignedTextKey)
    /// Every time in the text is earlier by so many seconds, as if it had been on the way that long.
    case late(seconds: Int)

    private static let times: Set = ["iat", "exp", "nbf", "auth_time"]

    /// The claims with this change.
    func applied(toClaims claims: JSON) -> JSON {
        guard case .object(let members) = claims else { return claims }
        switch self {
        case .claim(let name, let value): return claims.replacing(name, with: value)
        case .doubledClaim(let name):
            return .object(members.flatMap { $0.name == name ? [$0, $0] : [$0] })
        case .late(let seconds):
            return .object(
                members.map { member in
                    guard Self.times.contains(member.name), case .number(let time) = member.value else { return member }
                    return JSON.Member(name: member.name, value: .number(time - seconds))
                })
        case .header, .key: return claims
        }
    }

    /// The header with this change.
    func applied(toHeader header: JSON) -> JSON {
        guard case .header(let name, let value) = self else { return header }
        return header.replacing(name, with: value)
    }
}

extension JSON {
    /// The object with another value in the member's place, or at the end; nil leaves the member out.
    package func replacing(_ name: String, with value: JSON?) -> JSON {
        guard case .object(let members) = self else { return self }
        guard let value else { return .object(members.filter { $0.name != name }) }
        guard members.contains(where: { $0.name == name }) else { return adding(name, value) }
        return .object(members.map { $0.name == name ? Member(name: name, value: value) : $0 })
    }
}

/// The changes to the signed texts of the request that is being answered.
package enum SignedTextFaults {
    typealias Change = (kind: SignedTextKind, changes: [SignedTextChange])

    @TaskLocal static var current: [Change] = []

    /// The changes to texts of a kind, in the order of their rules.
    package static func changes(of kind: SignedTextKind?) -> [SignedTextChange] {
        current.filter { $0.kind == kind }.flatMap(\.changes)
    }
}

/// Claims and header of a text as the faults of this request want them, and the key that signs them.
package struct SpoiledText: Sendable {
    package let claims: JSON
    package let key: SignedTextKey?
    private let changes: [SignedTextChange]

    package init(_ claims: JSON, of kind: SignedTextKind?) {
        changes = SignedTextFaults.changes(of: kind)
        self.claims = changes.reduce(claims) { $1.applied(toClaims: $0) }
        key = changes.reduce(nil) { key, change in
            guard case .key(let other) = change else { return key }
            return other
        }
    }

    /// The header that the key has, with the changes.
    package func header(_ usual: JSON) -> JSON {
        changes.reduce(usual) { $1.applied(toHeader: $0) }
    }
}
#endif
