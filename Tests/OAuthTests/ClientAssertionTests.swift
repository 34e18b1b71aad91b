import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import OAuth

@Suite("Clients that authenticate with keys")
struct ClientAssertionTests {
    private static func key(_ keyID: String? = "k1") throws -> SigningKey {
        try SigningKey(parsing: Array(SigningKeys.shared.get().p256.pemRepresentation.utf8), keyID: keyID)
    }

    private static func assertion(
        _ key: SigningKey? = nil, form: ClientAssertion.Form = .assertion()
    ) throws -> ClientAssertion {
        ClientAssertion(by: .key(try key ?? Self.key()), form: form, now: { Example.now + 0.9 })
    }

    private static func server() throws -> AuthorizationServerMetadata {
        var server = try Example.server()
        server.pushedAuthorizationRequestEndpoint = try EndpointURL("https://server.example.com/par")
        server.deviceAuthorizationEndpoint = try EndpointURL("https://server.example.com/device")
        server.backchannelAuthenticationEndpoint = try EndpointURL("https://server.example.com/bc")
        return server
    }

    /// One request of every kind that authenticates a client.
    private static func messages(
        _ authentication: ClientAuthentication, at server: AuthorizationServerMetadata
    ) throws -> [(String, RequestMessage)] {
        let request = try Example.request(to: server)
        let code = try request.code(from: request.redirect("code=c"), now: Example.now)
        let (id, kind) = (Example.clientID, RevocationRequest.TokenKind.refreshToken)
        return [
            (
                "code",
                try TokenRequest(.authorizationCode(code), at: server, clientID: id, authentication: authentication)
                    .message
            ),
            (
                "refresh",
                try TokenRequest(.refreshToken(Secret("r")), at: server, clientID: id, authentication: authentication)
                    .message
            ),
            (
                "client",
                try TokenRequest(
                    .clientCredentials(scopes: []), at: server, clientID: id, authentication: authentication
                ).message
            ),
            ("push", try PushedAuthorizationRequest(request, authentication: authentication).message),
            (
                "revoke",
                try RevocationRequest(Secret("t"), kind: kind, at: server, clientID: id, authentication: authentication)
                    .message
            ),
            (
                "introspect",
                try IntrospectionRequest(
                    Secret("t"), kind: kind, at: server, clientID: id, authentication: authentication
                ).message
            ),
            (
                "device",
                try DeviceAuthorizationRequest(to: server, clientID: id, authentication: authentication, scopes: [])
                    .message
            ),
            (
                "device poll",
                try TokenRequest(.deviceCode(Secret("d")), at: server, clientID: id, authentication: authentication)
                    .message
            ),
            (
                "CIBA",
                try BackchannelAuthenticationRequest(
                    to: server, clientID: id, authentication: authentication, about: .login("ada"), scopes: ["openid"]
                ).message
            ),
            (
                "CIBA poll",
                try TokenRequest(
                    .backchannelAuthentication(Secret("r")), at: server, clientID: id, authentication: authentication
                ).message
            ),
        ]
    }

    /// Header and claims of a signed parameter of a request.
    private static func read(_ message: RequestMessage, _ name: String = "client_assertion") throws -> (
        header: JSONObject, claims: JSONObject, text: Secret
    ) {
        let pair = try #require(message.form.first { $0.hasPrefix(name + "=") })
        let text = String(pair.dropFirst(name.utf8.count + 1))
        let parts = try text.split(separator: ".").map { try #require(Base64URL.decode($0)) }
        return (
            try #require(JSONValue(parsing: parts[0]).object), try #require(JSONValue(parsing: parts[1]).object),
            Secret(text)
        )
    }

    @Test("M301, C5: an assertion is for the issuer at every endpoint, from the client to itself, for 60 seconds")
    func claims() throws {
        let authentication = ClientAuthentication.assertion(try Self.assertion())
        #expect(authentication.method == "private_key_jwt")
        for (name, message) in try Self.messages(authentication, at: Self.server()) {
            let (header, claims, text) = try Self.read(message)
            #expect(header.keys == ["alg", "kid", "typ"], "\(name)")
            #expect(header["alg"]?.string == "ES256")
            #expect(header["kid"]?.string == "k1")
            #expect(header["typ"]?.string == "client-authentication+jwt")
            #expect(claims.keys == ["aud", "exp", "iat", "iss", "jti", "sub"], "\(name)")
            #expect(claims["aud"]?.string == "https://server.example.com", "\(name)")
            #expect(claims["iss"]?.string == Example.clientID)
            #expect(claims["sub"]?.string == Example.clientID)
            #expect(claims["iat"]?.integer == Int64(Example.now))
            #expect(claims["exp"]?.integer == Int64(Example.now) + 60)
            #expect(claims["jti"]?.string.flatMap { Base64URL.decode($0) }?.count == 16)
            #expect(message.form.contains("client_id=\(Example.clientID)"), "\(name)")
            #expect(
                message.form.contains(
                    "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"))
            #expect(message.head.headerFields[.authorization] == nil)
            #expect(!message.form.contains { $0.hasPrefix("client_secret=") })
            let signed = text.reveal().split(separator: ".")
            let signature = try P256.Signing.ECDSASignature(
                rawRepresentation: try #require(Base64URL.decode(signed[2])))
            let keys = try SigningKeys.shared.get()
            #expect(keys.p256.publicKey.isValidSignature(signature, for: Data("\(signed[0]).\(signed[1])".utf8)))
        }
    }

    @Test("M302: each of 10,000 assertions has another jti, and so has a second message of one request")
    func unique() throws {
        // A secret signs faster than a key; what is drawn is the same.
        let assertion = ClientAssertion(
            by: .secret(Secret(String(repeating: "s", count: 32))), now: { Example.now })
        let request = TokenRequest(
            .refreshToken(Secret("r")), at: try Example.server(), clientID: "c", authentication: .assertion(assertion))
        var seen: Set<String> = []
        for _ in 0..<10_000 {
            let identifier = try #require(try Self.read(request.message).claims["jti"]?.string)
            seen.insert(identifier)
        }
        #expect(seen.count == 10_000)
        // Each poll is a message of its own.
        for type in [TokenRequest.GrantType.deviceCode(Secret("d")), .backchannelAuthentication(Secret("r"))] {
            let poll = TokenRequest(
                type, at: try Example.server(), clientID: "c", authentication: .assertion(assertion))
            for _ in 0..<2 {
                let identifier = try #require(try Self.read(poll.message).claims["jti"]?.string)
                #expect(seen.insert(identifier).inserted)
            }
        }
    }

    @Test("M303: the audience of a deviation has to be on the issuer's origin")
    func audience() throws {
        var server = try Self.server()
        let token = ClientAuthentication.assertion(
            try Self.assertion(form: .assertion(audience: .tokenEndpoint, type: "JWT")))
        for (name, message) in try Self.messages(token, at: server) {
            let (header, claims, _) = try Self.read(message)
            #expect(claims["aud"]?.string == "https://server.example.com/token", "\(name)")
            #expect(header["typ"]?.string == "JWT")
        }
        let called = ClientAuthentication.assertion(try Self.assertion(form: .assertion(audience: .endpoint)))
        let revocation = try #require(Self.messages(called, at: server).first { $0.0 == "revoke" })
        #expect(try Self.read(revocation.1).claims["aud"]?.string == "https://server.example.com/revoke")
        server.tokenEndpoint = try EndpointURL("https://other.example.com/token")
        let foreign = TokenRequest(.refreshToken(Secret("r")), at: server, clientID: "c", authentication: token)
        #expect(failure { _ = try foreign.message } == "configuration assertion-audience")
        let assertion = try Self.assertion(form: .assertion(audience: .tokenEndpoint))
        #expect(failure { try assertion.check(at: server) } == "configuration assertion-audience")
    }

    @Test("M306: a secret signs by its octets, and one that is shorter than the hash is refused")
    func hash() throws {
        let secret = String(repeating: "é", count: 16)
        #expect(secret.utf8.count == 32)
        let assertion = ClientAssertion(by: .secret(Secret(secret)), now: { Example.now })
        let authentication = ClientAuthentication.assertion(assertion)
        #expect(authentication.method == "client_secret_jwt")
        let message = try TokenRequest(
            .refreshToken(Secret("r")), at: Example.server(), clientID: "c", authentication: authentication
        ).message
        let (header, claims, text) = try Self.read(message)
        #expect(header["alg"]?.string == "HS256")
        #expect(claims["aud"]?.string == "https://server.example.com")
        let parts = text.reveal().split(separator: ".")
        #expect(
            HMAC<SHA256>.isValidAuthenticationCode(
                try #require(Base64URL.decode(parts[2])), authenticating: Data("\(parts[0]).\(parts[1])".utf8),
                using: SymmetricKey(data: Data(secret.utf8))))
        #expect(!"\(message.form)".contains("client_secret="))
        let lengths = [("HS256", 31, 32), ("HS384", 47, 48), ("HS512", 63, 64)]
        for (algorithm, short, long) in lengths {
            var server = try Example.server()
            server.tokenEndpointAuthSigningAlgorithms = ["ES256", algorithm]
            for (length, isAccepted) in [(short, false), (long, true)] {
                let assertion = ClientAssertion(
                    by: .secret(Secret(String(repeating: "s", count: length))), now: { Example.now })
                let found = failure { try assertion.check(at: server) }
                #expect(found == (isAccepted ? nil : "configuration client_secret"), "\(algorithm) \(length)")
            }
        }
    }

    @Test("M307: a key that can sign with none of the server's algorithms is a configuration error")
    func algorithms() throws {
        var server = try Self.server()
        server.tokenEndpointAuthSigningAlgorithms = ["ES256"]
        let rsa = try SigningKey(parsing: Array(SigningKeys.shared.get().rsa.pkcs8PEMRepresentation.utf8))
        #expect(failure { try Self.assertion(rsa).check(at: server) } == "configuration key")
        for (_, message) in [
            (
                "",
                {
                    try TokenRequest(
                        .refreshToken(Secret("r")), at: server, clientID: "c",
                        authentication: .assertion(try Self.assertion(rsa))
                    ).message
                }
            )
        ] { #expect(failure { _ = try message() } == "configuration key") }
        server.tokenEndpointAuthSigningAlgorithms = ["ES256", "PS256", "RS512"]
        #expect(try rsa.algorithm(among: server.tokenEndpointAuthSigningAlgorithms) == .ps256)
        #expect(try rsa.algorithm(among: nil) == .rs256)
        // Revocation has a list of its own.
        server.revocationEndpointAuthSigningAlgorithms = ["RS384"]
        let revocation = RevocationRequest(
            Secret("t"), kind: .accessToken, at: server, clientID: "c",
            authentication: .assertion(try Self.assertion(rsa)))
        #expect(try Self.read(revocation.message).header["alg"]?.string == "RS384")
        // So has introspection.
        server.introspectionEndpointAuthSigningAlgorithms = ["PS384"]
        let introspection = IntrospectionRequest(
            Secret("t"), kind: .accessToken, at: server, clientID: "c",
            authentication: .assertion(try Self.assertion(rsa)))
        #expect(try Self.read(introspection.message).header["alg"]?.string == "PS384")
    }

    @Test("M309: Apple's client secret has the claims that it wants, for 300 seconds, and stands in the form")
    func signedSecret() throws {
        let apple = ClientAssertion.SignedSecret(issuer: "DEF123GHIJ", audience: "https://appleid.apple.com")
        let authentication = ClientAuthentication.assertion(
            try Self.assertion(Self.key("ABC123DEFG"), form: .secret(apple)))
        #expect(authentication.method == "client_secret_post")
        let message = try TokenRequest(
            .refreshToken(Secret("r")), at: Example.server(), clientID: "com.example.app",
            authentication: authentication
        ).message
        let (header, claims, _) = try Self.read(message, "client_secret")
        #expect(header.keys == ["alg", "kid"])
        #expect(header["alg"]?.string == "ES256")
        #expect(header["kid"]?.string == "ABC123DEFG")
        #expect(claims.keys == ["aud", "exp", "iat", "iss", "sub"])
        #expect(claims["iss"]?.string == "DEF123GHIJ")
        #expect(claims["sub"]?.string == "com.example.app")
        #expect(claims["aud"]?.string == "https://appleid.apple.com")
        #expect(claims["exp"]?.integer == Int64(Example.now) + 300)
        #expect(message.head.headerFields[.authorization] == nil)
        #expect(message.form.contains("client_id=com.example.app"))
        #expect(!message.form.contains { $0.hasPrefix("client_assertion") })
    }

    @Test("L1: a server that echoes an assertion is not quoted with it")
    func echo() throws {
        let request = TokenRequest(
            .refreshToken(Secret("r")), at: try Example.server(), clientID: "c",
            authentication: .assertion(try Self.assertion()))
        let text = try Self.read(request.message).text.reveal()
        let answer = Example.response(401, #"{"error":"invalid_client","error_description":"bad assertion \#(text)"}"#)
        let error = try #require(serverError { _ = try request.response(from: answer, now: Example.now) })
        for part in text.split(separator: ".") { #expect(!"\(error)".contains(part)) }
    }

    @Test("a clock that shows no plausible time makes no assertion", arguments: [-1, 1e300, Double.nan, .infinity])
    func clock(_ time: Double) throws {
        let assertion = ClientAssertion(by: .key(try Self.key()), now: { time })
        let request = TokenRequest(
            .refreshToken(Secret("r")), at: try Example.server(), clientID: "c", authentication: .assertion(assertion))
        #expect(failure { _ = try request.message } == "configuration clock")
    }
}
