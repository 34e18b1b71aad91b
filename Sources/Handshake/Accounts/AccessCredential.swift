import HTTPTypes
import OAuth

/// A record with what a request needs of it, prepared once for each token.
///
/// A class, so that a thousand requests that share a token share one object.
final class AccessCredential: Sendable {
    let record: AccountRecord
    let token: Secret
    /// The field that carries the token.
    let field: HTTPField
    /// The key that signs the proofs of requests with this token (RFC 9449, section 7); nil for a bearer token.
    let key: DPoPKey?
    /// Until when the token can be handed out without a look at the vault, in seconds since 1970.
    let freshUntil: Double
    let generation: Int
    private let isUsable: Bool
    private let expiresAt: Double?

    /// - Parameter margin: how many seconds before its end a token is refreshed.
    init(_ record: AccountRecord, of client: Client, margin: Double) {
        self.record = record
        let token = record.grant.accessToken
        self.token = token
        generation = record.generation
        isUsable = record.isUsable && !record.hasLostKey && client.allowsTokens(of: record)
        expiresAt = record.grant.expiresAt
        // On another certificate the API refuses the token. The vault may have one for this certificate, or a refresh
        // brings one.
        let isReady =
            isUsable && record.unchecked == nil && !record.hasOtherCertificate(than: client.certificate)
        freshUntil = isReady ? record.grant.freshUntil(margin: margin) : -.infinity
        guard !record.isBound else {
            // Never as a bearer token, also where a server would take it (RFC 9449, section 7.2), and also when the key was lost.
            field = HTTPField(name: .authorization, value: "DPoP " + token.reveal())
            key = record.binding?.key
            return
        }
        key = nil
        field =
            switch client.service.deviations.authorization {
            case .bearer: HTTPField(name: .authorization, value: "Bearer " + token.reveal())
            case .scheme(let scheme): HTTPField(name: .authorization, value: scheme + " " + token.reveal())
            case .field(let name): HTTPField(name: name, value: token.reveal())
            }
    }
}

extension AccessCredential {
    /// Whether the token is known to work still.
    func isAlive(at now: Double) -> Bool {
        isUsable && expiresAt.map { now < $0 } ?? false
    }

    /// Whether the token may work: a service need not say how long it does.
    func mayBeAlive(at now: Double) -> Bool {
        isUsable && expiresAt.map { now < $0 } ?? true
    }
}

extension AccessCredential: CustomStringConvertible, CustomReflectable {
    var description: String { "(secret)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPFields {
    /// Adds a field in place of those of the same name.
    mutating func set(_ field: HTTPField) {
        self[fields: field.name] = [field]
    }
}
