import HTTPTypes
import OAuth

/// An access token and the field that carries it, prepared once for each token.
struct AccessCredential: Sendable {
    let token: Secret
    let name: HTTPField.Name
    let field: String
    /// The key that signs the proofs of requests with this token (RFC 9449, section 7); nil for a bearer token.
    let key: DPoPKey?

    init(_ record: AccountRecord, _ service: Service) {
        token = record.grant.accessToken
        guard !record.isBound else {
            // Never as a bearer token, also where a server would take it (RFC 9449, section 7.2), and also when the key was lost.
            (name, field, key) = (.authorization, "DPoP " + token.reveal(), record.binding?.key)
            return
        }
        key = nil
        switch service.deviations.authorization {
        case .bearer: (name, field) = (.authorization, "Bearer " + token.reveal())
        case .scheme(let scheme): (name, field) = (.authorization, scheme + " " + token.reveal())
        case .field(let name): (self.name, field) = (name, token.reveal())
        }
    }
}

extension AccessCredential: CustomStringConvertible, CustomReflectable {
    var description: String { "(secret)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
