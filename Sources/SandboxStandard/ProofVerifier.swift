#if Sandbox
import Crypto
import HTTPTypes
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a proof does not count (RFC 9449 sections 4.3 and 12.2).
struct ProofFailure: Error, Sendable {
    let code: String
    let detail: String

    static func invalid(_ detail: String) -> ProofFailure {
        ProofFailure(code: "invalid_dpop_proof", detail: detail)
    }

    static let nonce = ProofFailure(code: "use_dpop_nonce", detail: "The proof needs the nonce of this answer.")
}

/// A proof whose form and signature are in order (RFC 9449 section 4.3, points 1 to 7). It does not yet say for what.
struct ProofVerifier {
    /// The thumbprint of the key (RFC 7638).
    let thumbprint: String
    let claims: JSON

    static let algorithms = ["ES256", "ES384", "EdDSA"]

    /// Reads and verifies the one proof of a request; nil when it has none.
    init?(_ request: IncomingRequest) throws(ProofFailure) {
        let fields = HTTPField.Name("DPoP").map { request.headers[values: $0] } ?? []
        guard let field = fields.first else { return nil }
        guard fields.count == 1, !field.contains(",") else { throw .invalid("There is more than one proof.") }
        guard let token = SignedText(field) else { throw .invalid("The proof is not a signed text of three parts.") }
        guard token.header["typ"]?.scalarText == "dpop+jwt", token.header["crit"] == nil, token.header["kid"] == nil
        else { throw .invalid("The proof's header is of another kind of text.") }
        guard let key = PublicKey(token.header["jwk"]) else {
            throw .invalid("jwk has to be the public half of a key, and nothing else.")
        }
        guard token.header["alg"]?.scalarText == key.algorithm, key.verifies(token) else {
            throw .invalid("The proof is not signed with its key.")
        }
        thumbprint = key.thumbprint
        claims = token.claims
    }

    /// A public key of a header.
    private struct PublicKey {
        enum Material {
            case p256(P256.Signing.PublicKey)
            case p384(P384.Signing.PublicKey)
            case ed25519(Curve25519.Signing.PublicKey)
        }

        let algorithm: String
        let thumbprint: String
        private let material: Material

        /// Takes the required members and no others, so neither a private member nor a name.
        init?(_ jwk: JSON?) {
            guard case .object(let members)? = jwk, let x = Self.bytes(jwk, "x") else { return nil }
            let names = members.map(\.name).sorted()
            let material: Material?
            switch (jwk?["kty"]?.scalarText, jwk?["crv"]?.scalarText) {
            case ("EC", "P-256"):
                algorithm = "ES256"
                material = (try? P256.Signing.PublicKey(rawRepresentation: x + (Self.bytes(jwk, "y") ?? Data()))).map {
                    .p256($0)
                }
            case ("EC", "P-384"):
                algorithm = "ES384"
                material = (try? P384.Signing.PublicKey(rawRepresentation: x + (Self.bytes(jwk, "y") ?? Data()))).map {
                    .p384($0)
                }
            case ("OKP", "Ed25519"):
                algorithm = "EdDSA"
                material = (try? Curve25519.Signing.PublicKey(rawRepresentation: x)).map { .ed25519($0) }
            default: return nil
            }
            let required = jwk?["kty"]?.scalarText == "EC" ? ["crv", "kty", "x", "y"] : ["crv", "kty", "x"]
            guard let material, names == required else { return nil }
            self.material = material
            let text =
                "{" + required.map { "\"\($0)\":\"\(jwk?[$0]?.scalarText ?? "")\"" }.joined(separator: ",") + "}"
            thumbprint = URLSafeBase64.encoded(SHA256.hash(data: Data(text.utf8)))
        }

        private static func bytes(_ jwk: JSON?, _ name: String) -> Data? {
            guard case .string(let text)? = jwk?[name], text.utf8.count <= 128 else { return nil }
            return SignedText.decoded(text[...])
        }

        func verifies(_ token: SignedText) -> Bool {
            let signed = Data(token.signed.utf8)
            switch material {
            case .p256(let key):
                return (try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)).map {
                    key.isValidSignature($0, for: signed)
                } ?? false
            case .p384(let key):
                return (try? P384.Signing.ECDSASignature(rawRepresentation: token.signature)).map {
                    key.isValidSignature($0, for: signed)
                } ?? false
            case .ed25519(let key): return key.isValidSignature(token.signature, for: signed)
            }
        }
    }
}
#endif
