import Crypto
import Foundation
import Sandbox
import TestFixtures
import Testing

/// What clients sign, at the standard server: each attack on each of its three readers.
@Suite("Signed texts of clients at the standards-compliant server", .heavy)
struct SignedByClientsTests {
    /// Which of the server's readers gets a text.
    enum Reader: String, CaseIterable, CustomTestStringConvertible {
        case assertion, request, proof

        var testDescription: String { rawValue }

        var client: String { self == .request ? "sandbox-signing" : "sandbox-key" }

        var type: String {
            switch self {
            case .assertion: "client-authentication+jwt"
            case .request: "oauth-authz-req+jwt"
            case .proof: "dpop+jwt"
            }
        }

        /// The claims without which a text does not count. A proof at the token endpoint has no other ones.
        var required: [String] {
            switch self {
            case .assertion: ["iss", "sub", "aud", "iat", "exp", "jti"]
            case .request: ["iss", "client_id", "aud", "nbf", "exp", "jti"]
            case .proof: ["htm", "htu", "iat", "jti"]
            }
        }

        /// The other claims of a good text, which are doubled too.
        var others: [String] { self == .request ? ["redirect_uri", "scope", "state", "code_challenge"] : [] }
    }

    /// How a text is signed.
    enum Signing: String, CaseIterable, CustomTestStringConvertible {
        /// By another key of the same kind.
        case otherKey
        /// By the client's key, and the header says another algorithm.
        case namesNone, namesHS256, namesRS256, namesNothing
        /// By nothing, as `alg` says.
        case unsigned
        /// By HS256 with the public key, in the forms in which it is known.
        case secretIsPoint, secretIsPEM, secretIsDER
        /// By a key on another curve.
        case otherCurve
        /// By DER, as no JWS is.
        case derForm

        var testDescription: String { rawValue }

        var algorithm: String? {
            switch self {
            case .otherKey, .derForm: "ES256"
            case .namesNone, .unsigned: "none"
            case .namesHS256, .secretIsPoint, .secretIsPEM, .secretIsDER: "HS256"
            case .namesRS256: "RS256"
            case .namesNothing: nil
            case .otherCurve: "ES384"
            }
        }

        func signature(of text: String, by key: P256.Signing.PrivateKey) throws -> Data {
            let data = Data(text.utf8)
            func code(_ secret: Data) -> Data {
                Data(HMAC<SHA256>.authenticationCode(for: data, using: SymmetricKey(data: secret)))
            }
            return switch self {
            case .otherKey: try P256.Signing.PrivateKey().signature(for: data).rawRepresentation
            case .namesNone, .namesHS256, .namesRS256, .namesNothing: try key.signature(for: data).rawRepresentation
            case .unsigned: Data()
            case .secretIsPoint: code(key.publicKey.rawRepresentation)
            case .secretIsPEM: code(Data(key.publicKey.pemRepresentation.utf8))
            case .secretIsDER: code(key.publicKey.derRepresentation)
            case .otherCurve: try P384.Signing.PrivateKey().signature(for: data).rawRepresentation
            case .derForm: try key.signature(for: data).derRepresentation
            }
        }
    }

    private typealias Members = [(name: String, value: any Sendable)]

    /// A sandbox, and one client's key. The key of a proof is the same one: it brings its own public half.
    private struct Server {
        let sandbox: Sandbox
        let steps: OAuthSteps
        let key: P256.Signing.PrivateKey
        let now = heldTime

        init(_ sandbox: Sandbox) throws {
            self.sandbox = sandbox
            steps = try OAuthSteps(sandbox, sandbox.standard)
            let client = try #require(sandbox.standard.clients.first { $0.id == "sandbox-key" })
            let jwk = try #require(
                try JSONSerialization.jsonObject(with: Data((client.privateKey ?? "").utf8)) as? [String: String])
            key = try P256.Signing.PrivateKey(rawRepresentation: try #require(decoded(jwk["d"] ?? "")))
        }

        func header(_ reader: Reader, _ algorithm: String?) -> Members {
            var members: Members = [("typ", reader.type)]
            if let algorithm { members.append(("alg", algorithm)) }
            guard reader == .proof else { return members }
            let point = key.publicKey.rawRepresentation
            let jwk = [
                "kty": "EC", "crv": "P-256", "x": encoded(point.prefix(32)), "y": encoded(point.suffix(32)),
            ]
            return members + [("jwk", jwk)]
        }

        func claims(_ reader: Reader) -> Members {
            let (client, issuer, id) = (reader.client, sandbox.standard.origin, UUID().uuidString)
            return switch reader {
            case .assertion:
                [
                    ("iss", client), ("sub", client), ("aud", issuer), ("iat", now), ("exp", now + 60), ("jti", id),
                ]
            case .request:
                [
                    ("iss", client), ("client_id", client), ("aud", issuer), ("nbf", now), ("exp", now + 300),
                    ("jti", id), ("response_type", "code"), ("redirect_uri", OAuthSteps.redirect), ("state", "s-1"),
                    ("code_challenge", OAuthSteps.challenge), ("code_challenge_method", "S256"), ("scope", "api"),
                ]
            case .proof: [("htm", "POST"), ("htu", issuer + "/token"), ("iat", now), ("jti", id)]
            }
        }

        /// Header and claims, written as they are: a name may be there twice.
        func text(_ header: Members, _ claims: Members, _ signing: Signing? = nil) throws -> String {
            func json(_ members: Members) throws -> String {
                let pairs = try members.map { name, value in
                    let content = try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
                    return "\"\(name)\":\(String(decoding: content, as: UTF8.self))"
                }
                return encoded(Data("{\(pairs.joined(separator: ","))}".utf8))
            }
            let signed = try json(header) + "." + json(claims)
            let signature =
                try signing?.signature(of: signed, by: key) ?? key.signature(for: Data(signed.utf8)).rawRepresentation
            return signed + "." + encoded(signature)
        }

        func good(_ reader: Reader) throws -> String { try text(header(reader, "ES256"), claims(reader)) }

        /// Whether the server takes a text for what it has to be here.
        func accepts(_ text: String, as reader: Reader) async throws -> Bool {
            switch reader {
            case .assertion:
                let form = [
                    "grant_type": "client_credentials", "client_assertion": text,
                    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                ]
                let answer = try await steps.post("/token", form)
                #expect(answer.status == 200 || answer.string("error") == "invalid_client", "\(answer.text)")
                return answer.status == 200
            case .request:
                let target = "/authorize?" + OAuthSteps.form(["client_id": reader.client, "request": text])
                let answer = try await steps.wire.send("GET", target)
                #expect(answer.status == 400 || answer.status < 400, "\(answer.status)")
                return answer.status < 400
            case .proof:
                let form = [
                    "grant_type": "client_credentials", "client_id": "sandbox-confidential",
                    "client_secret": "sandbox-confidential-secret", "scope": "api",
                ]
                let answer = try await steps.post("/token", form, headers: ["DPoP": text])
                #expect(answer.status == 200 || answer.string("error") == "invalid_dpop_proof", "\(answer.text)")
                return answer.status == 200
            }
        }
    }

    @Test("a signature by another key, by another algorithm or by none is refused", arguments: Reader.allCases)
    func signatures(reader: Reader) async throws {
        try await withHeldSandbox { sandbox in
            let server = try Server(sandbox)
            #expect(try await server.accepts(server.good(reader), as: reader))
            for signing in Signing.allCases {
                let text = try server.text(
                    server.header(reader, signing.algorithm), server.claims(reader), signing)
                #expect(try await !server.accepts(text, as: reader), "\(signing)")
            }
            let good = try server.good(reader)
            let end = try #require(good.lastIndex(of: "."))
            for forged in [String(good[...end]), String(good[..<end]), good + "A", good + ".", good + "="] {
                #expect(try await !server.accepts(forged, as: reader))
            }
        }
    }

    @Test("a claim that is missing, null or there twice is refused", arguments: Reader.allCases)
    func claims(reader: Reader) async throws {
        try await withHeldSandbox { sandbox in
            let server = try Server(sandbox)
            let header = server.header(reader, "ES256")
            for name in reader.required {
                let without = server.claims(reader).filter { $0.name != name }
                #expect(try await !server.accepts(server.text(header, without), as: reader), "no \(name)")
                let null = without + [(name, NSNull() as any Sendable)]
                #expect(try await !server.accepts(server.text(header, null), as: reader), "null for \(name)")
            }
            for name in reader.required + reader.others {
                for isOther in [false, true] {
                    let claims = server.claims(reader)
                    let value = try #require(claims.first { $0.name == name }?.value)
                    let second: any Sendable = isOther ? "another" : value
                    for doubled in [claims + [(name, second)], [(name, second)] + claims] {
                        let text = try server.text(header, doubled)
                        #expect(try await !server.accepts(text, as: reader), "\(name) twice")
                    }
                }
            }
            for name in ["alg", "typ"] {
                let first = try #require(header.first { $0.name == name })
                let text = try server.text(header + [first], server.claims(reader))
                #expect(try await !server.accepts(text, as: reader), "\(name) twice")
            }
        }
    }

    /// Seconds from now, and whether they count.
    private static let edges: [Reader: [(claims: [String: Int], isAccepted: Bool)]] = [
        .assertion: [
            (["iat": 9], true), (["iat": 10], false), (["iat": -60, "exp": -9], true),
            (["iat": -60, "exp": -10], false), (["iat": 0, "exp": 300], true), (["iat": 0, "exp": 301], false),
            (["iat": 5, "exp": 5], false),
        ],
        .request: [
            (["nbf": 9], true), (["nbf": 10], false), (["nbf": -60, "exp": -9], true),
            (["nbf": -60, "exp": -10], false), (["nbf": -3_599, "exp": 1], true),
            (["nbf": -3_600, "exp": 0], false), (["nbf": 0, "exp": 3_600], true), (["nbf": 0, "exp": 3_601], false),
        ],
        .proof: [(["iat": 10], true), (["iat": 11], false), (["iat": -10], true), (["iat": -11], false)],
    ]

    @Test("times count up to the leeway of ten seconds, and not beyond it", arguments: Reader.allCases)
    func times(reader: Reader) async throws {
        try await withHeldSandbox { sandbox in
            for (changes, isAccepted) in try #require(Self.edges[reader]) {
                let server = try Server(sandbox)
                let claims = server.claims(reader).map { member in
                    (name: member.name, value: changes[member.name].map { server.now + $0 } ?? member.value)
                }
                let text = try server.text(server.header(reader, "ES256"), claims)
                #expect(try await server.accepts(text, as: reader) == isAccepted, "\(changes)")
            }
        }
    }

    @Test("a text of another kind is refused, also with the right signature", arguments: Reader.allCases)
    func kinds(reader: Reader) async throws {
        try await withHeldSandbox { sandbox in
            let server = try Server(sandbox)
            for other in Reader.allCases where other != reader {
                #expect(try await !server.accepts(server.good(other), as: reader), "\(other)")
                // The claims of this kind do not make up for the type of the other one.
                let text = try server.text(
                    server.header(reader, "ES256").map { $0.name == "typ" ? ("typ", other.type) : $0 },
                    server.claims(reader))
                #expect(try await !server.accepts(text, as: reader), "\(other.type)")
            }
            for type in ["at+jwt", "logout+jwt", "token-introspection+jwt", "secevent+jwt", ""] {
                let header = server.header(reader, "ES256").map { $0.name == "typ" ? ("typ", type) : $0 }
                #expect(try await !server.accepts(server.text(header, server.claims(reader)), as: reader), "\(type)")
            }
            let logout = sandbox.logoutToken(for: reader.client, subject: "1")
            #expect(try await !server.accepts(logout, as: reader), "a logout token")
            let tokens = try await server.steps.redeem(
                try #require(
                    OAuthSteps.parameter(
                        "code",
                        of: try await server.steps.redirect(["scope": "openid api", "nonce": "n-1"]))))
            let identity = try #require(tokens.string("id_token"), "\(tokens.text)")
            #expect(try await !server.accepts(identity, as: reader), "an ID token")
        }
    }
}

private func encoded(_ data: some DataProtocol) -> String {
    Data(data).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

private func decoded(_ text: String) -> Data? {
    let plain = text.replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
}
