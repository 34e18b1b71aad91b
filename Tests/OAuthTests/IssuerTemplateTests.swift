import Foundation
import Testing

@testable import OAuth

@Suite("Issuers of many tenants")
struct IssuerTemplateTests {
    private static let tenant = "6f9d1c1e-2b7a-4a55-9f0e-0b6f3f2a7c11"
    private static let other = "0e1b2a3c-4d5e-4f60-8a7b-9c8d7e6f5a4b"
    private static let shared = "https://server.example.com/common/v2.0"
    private static let spelling = "https://server.example.com/{tenantid}/v2.0"

    private static func template(_ string: String = spelling) throws -> IssuerTemplate {
        try IssuerTemplate(string)
    }

    private static func issuer(of tenant: String) -> String { "https://server.example.com/\(tenant)/v2.0" }

    private static func validator(_ issuer: String = shared) throws -> IDTokenValidator {
        var validator = IDTokenValidator(
            issuer: try Example.issuer(issuer), clientID: Example.clientID, nonce: Secret(IDTokenTests.nonce),
            accessToken: Secret(IDTokenTests.accessToken))
        validator.issuerTemplate = try template()
        return validator
    }

    @Test(
        "H1: a template is an issuer with one name in braces, which is a whole segment of its path",
        arguments: [
            (spelling, true), ("https://server.example.com/{tenantid}", true), ("https://a.example/b/{t}/c/", true),
            ("https://{tenantid}.example.com/v2.0", false), ("https://{tenantid}/v2.0", false),
            ("https://server.example.com/common/v2.0", false), ("https://server.example.com/a{tenantid}/v2.0", false),
            ("https://server.example.com/{tenantid}b/v2.0", false), ("https://server.example.com/{}/v2.0", false),
            ("https://server.example.com/{a}/{b}", false), ("https://server.example.com/{a/v2.0", false),
            ("https://server.example.com/a}/v2.0", false), ("https://server.example.com/{a}?b=c", false),
            ("https://server.example.com/?q=/{a}", false), ("http://server.example.com/{tenantid}/v2.0", false),
            ("{tenantid}", false), ("", false), ("https://server.example.com/{té}/v2.0", false),
        ])
    func form(_ text: String, _ isTemplate: Bool) {
        #expect((failure { _ = try Self.template(text) } == nil) == isTemplate)
    }

    @Test(
        "H1: only a UUID is a tenant, and only in its place",
        arguments: [
            (issuer(of: tenant), true), (issuer(of: tenant.uppercased()), true), (shared, false),
            (issuer(of: tenant.replacingOccurrences(of: "-", with: "0")), false),
            (issuer(of: String(tenant.dropLast())), false),
            (issuer(of: tenant + "0"), false), (issuer(of: "../" + tenant.dropFirst(3)), false),
            (issuer(of: "%36" + tenant.dropFirst(3)), false), (issuer(of: "/" + tenant.dropFirst()), false),
            (issuer(of: tenant) + "/", false), (spelling, false), ("https://server.example.com/\(tenant)", false),
            ("https://evil.example.com/\(tenant)/v2.0", false), ("x" + issuer(of: tenant), false), ("", false),
            (issuer(of: "6f9d1c1e-2b7a-4a55-9f0e-0b6f3f2a7cé"), false),
        ])
    func tenants(_ issuer: String, _ isTenants: Bool) throws {
        #expect(try Self.template().hasTenant(issuer) == isTenants)
    }

    @Test(
        "H1: the document of a shared address names the template or one tenant, and any other document the issuer asked",
        arguments: [
            (shared, spelling, shared), (shared, shared, shared), (shared, issuer(of: tenant), issuer(of: tenant)),
            (shared, "https://evil.example/{tenantid}/v2.0", nil), (shared, "https://evil.example/\(tenant)/v2.0", nil),
            (shared, "https://server.example.com/{tenant}/v2.0", nil), (shared, issuer(of: "organizations"), nil),
            (issuer(of: tenant), issuer(of: tenant), issuer(of: tenant)), (issuer(of: tenant), spelling, nil),
            (issuer(of: tenant), issuer(of: other), nil), (issuer(of: tenant), shared, nil),
            ("https://other.example/common/v2.0", spelling, nil),
        ])
    func document(_ asked: String, _ stated: String, _ expected: String?) throws {
        let text = #"{"issuer":"\#(stated)","token_endpoint":"https://server.example.com/token"}"#
        let read = { (template: IssuerTemplate?) in
            try AuthorizationServerMetadata(
                parsing: Array(text.utf8), expected: try Example.issuer(asked), of: template
            ).issuer.string
        }
        if let expected {
            #expect(try read(Self.template()) == expected)
        } else {
            #expect(failure { _ = try read(Self.template()) } == "issuer_mismatch")
        }
        // Without a template every document has to name the issuer asked.
        #expect((failure { _ = try read(nil) } == nil) == (asked == stated))
    }

    @Test(
        "H1, D1: an ID token names the issuer of the tenant that it states itself",
        arguments: [
            (issuer(of: tenant), #""\#(tenant)""#, nil), (issuer(of: other), #""\#(other)""#, nil),
            (issuer(of: tenant), #""\#(other)""#, "issuer_mismatch"), (issuer(of: tenant), nil, "issuer_mismatch"),
            (issuer(of: tenant), #""\#(tenant.uppercased())""#, "issuer_mismatch"),
            (issuer(of: tenant), "1", "issuer_mismatch"), (issuer(of: tenant), #"["\#(tenant)"]"#, "issuer_mismatch"),
            (shared, #""\#(tenant)""#, "issuer_mismatch"), (shared, #""common""#, "issuer_mismatch"),
            (spelling, #""{tenantid}""#, "issuer_mismatch"),
            ("https://evil.example/\(tenant)/v2.0", #""\#(tenant)""#, "issuer_mismatch"),
            ("https://server.example.com/evil/v2.0", #""evil""#, "issuer_mismatch"),
            (issuer(of: "a/\(tenant)"), #""a/\#(tenant)""#, "issuer_mismatch"),
        ] as [(String, String?, String?)])
    func token(_ issuer: String, _ claim: String?, _ code: String?) throws {
        let payload = IDTokenTests.payload(["iss": #""\#(issuer)""#, "tid": claim])
        #expect(failure { _ = try IDTokenTests.check(payload, with: try Self.validator()) } == code)
    }

    @Test("H1: at the address of one tenant its own tokens alone are accepted", arguments: [tenant, other])
    func oneTenant(_ named: String) throws {
        let payload = IDTokenTests.payload(["iss": #""\#(Self.issuer(of: named))""#, "tid": #""\#(named)""#])
        let validator = try Self.validator(Self.issuer(of: Self.tenant))
        let code = failure { _ = try IDTokenTests.check(payload, with: validator) }
        #expect(code == (named == Self.tenant ? nil : "issuer_mismatch"))
    }

    @Test(
        "H1: a key that is published for another issuer signs for no tenant",
        arguments: [
            (spelling, nil), (issuer(of: tenant), nil), (nil, nil), (issuer(of: other), "key_refused"),
            (shared, "key_refused"),
        ] as [(String?, String?)])
    func keys(_ publishedFor: String?, _ code: String?) throws {
        let keys = try SigningKeys.shared.get()
        let payload = IDTokenTests.payload([
            "iss": #""\#(Self.issuer(of: Self.tenant))""#, "tid": #""\#(Self.tenant)""#,
        ])
        let token = try keys.token(.es256, payload: payload)
        let members = publishedFor.map { #","issuer":"\#($0)""# } ?? ""
        let jwk = try keys.jwk(for: .es256)
        let set = try JSONWebKeySet(json: [String(jwk.dropLast()) + members + "}"])
        let found = failure { _ = try Self.validator().claims(of: token, keys: set, now: Example.now) }
        #expect((found == nil) == (code == nil), "\(found ?? "accepted")")
        // Where there are no tenants the member means nothing.
        let plain = try keys.token(.es256, payload: IDTokenTests.payload())
        #expect(failure { _ = try IDTokenTests.validator().claims(of: plain, keys: set, now: Example.now) } == nil)
    }

    @Test("H1, D9: a refreshed ID token stays with the tenant of the sign-in", arguments: [tenant, other])
    func refreshed(_ named: String) throws {
        let payload = { (tenant: String) in
            IDTokenTests.payload(["iss": #""\#(Self.issuer(of: tenant))""#, "tid": #""\#(tenant)""#])
        }
        let previous = try IDTokenTests.check(payload(Self.tenant), with: try Self.validator())
        let keys = try SigningKeys.shared.get()
        let token = try keys.token(.es256, payload: payload(named))
        let code = failure {
            _ = try Self.validator().claims(
                ofRefreshed: token, previous: previous, keys: try keys.keySet(.es256), now: Example.now)
        }
        #expect(code == (named == Self.tenant ? nil : "issuer_mismatch"))
    }

    @Test(
        "H1, K2: a logout token is one tenant's, and ends no session of another",
        arguments: [
            (issuer(of: tenant), nil, true), (issuer(of: tenant), tenant, true), (issuer(of: other), other, false),
            (issuer(of: tenant), other, nil), (shared, nil, nil), (spelling, nil, nil),
            ("https://evil.example/\(tenant)/v2.0", tenant, nil),
        ] as [(String, String?, Bool?)])
    func logout(_ issuer: String, _ claim: String?, _ ends: Bool?) throws {
        let signedIn = try IDTokenTests.check(
            IDTokenTests.payload([
                "iss": #""\#(Self.issuer(of: Self.tenant))""#, "tid": #""\#(Self.tenant)""#, "sub": #""24400320""#,
                "sid": #""s-1""#,
            ]), with: try Self.validator())
        var validator = LogoutTokenValidator(issuer: try Example.issuer(Self.shared), clientID: Example.clientID)
        validator.issuerTemplate = try Self.template()
        let keys = try SigningKeys.shared.get()
        let payload = LogoutTokenTests.payload([
            "iss": #""\#(issuer)""#, "tid": claim.map { #""\#($0)""# }, "sub": #""24400320""#, "sid": nil,
        ])
        let header = #"{"alg":"ES256","typ":"logout+jwt"}"#
        let token = try keys.token(.es256, header: header, payload: payload)
        let read = { try validator.token(token, keys: try keys.keySet(.es256), now: Example.now) }
        guard let ends else {
            #expect(failure { _ = try read() } == "issuer_mismatch")
            return
        }
        #expect(try read().ends(signedIn) == ends)
    }

    @Test("a template survives its record, and moves to another origin with its path")
    func moved() throws {
        let template = try Self.template()
        let data = try JSONEncoder().encode(template)
        #expect(try JSONDecoder().decode(IssuerTemplate.self, from: data) == template)
        let base = try EndpointURL("http://127.0.0.1:8080", security: .allowingInsecureLoopback)
        #expect(template.at(base).string == "http://127.0.0.1:8080/{tenantid}/v2.0")
        let text = String(decoding: data, as: UTF8.self)
        let plain = Data(text.replacing("{tenantid}", with: "tenantid").utf8)
        let problem = failure { _ = try JSONDecoder().decode(IssuerTemplate.self, from: plain) }
        #expect(problem == "configuration issuer-template")
    }
}
