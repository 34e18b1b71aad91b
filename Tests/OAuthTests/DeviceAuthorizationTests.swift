import HTTPTypes
import TestFixtures
import Testing

@testable import OAuth

/// A server with a device authorization endpoint, and its answers.
enum DeviceExample {
    static func server(_ origin: String = "https://server.example.com") throws -> AuthorizationServerMetadata {
        let security: TransportSecurity = origin.hasPrefix("http:") ? .allowingInsecureLoopback : .httpsOnly
        var server = AuthorizationServerMetadata(
            issuer: try Issuer(origin, security: security),
            tokenEndpoint: try EndpointURL(origin + "/token", security: security), security: security)
        server.deviceAuthorizationEndpoint = try EndpointURL(origin + "/device_authorization", security: security)
        return server
    }

    static func request(
        _ origin: String = "https://server.example.com", authentication: ClientAuthentication = .none,
        extras: [String: String] = [:]
    ) throws -> DeviceAuthorizationRequest {
        DeviceAuthorizationRequest(
            to: try server(origin), clientID: "1406020730", authentication: authentication,
            scopes: ["example_scope", "b"], resources: ["https://api.example.com/"], extras: extras)
    }

    static func authorization(
        _ content: String, status: Int = 200, at origin: String = "https://server.example.com"
    ) throws -> DeviceAuthorization {
        try request(origin).authorization(from: Example.response(status, content))
    }

    /// The answer with this address.
    static func content(_ address: String, complete: String? = nil) -> String {
        let members: JSONObject = [
            "device_code": .string("dev"), "user_code": .string("WDJB-MJHT"), "verification_uri": .string(address),
            "expires_in": .number("900"),
        ]
        var all = members
        all["verification_uri_complete"] = complete.map(JSONValue.string)
        return JSONValue.object(all).json
    }
}

@Suite("Device authorization")
struct DeviceAuthorizationTests {
    @Test("the request is that of RFC 8628, section 3.1, with neither redirect, state, challenge nor nonce")
    func message() throws {
        let message = try DeviceExample.request().message
        #expect(message.head.method == .post)
        #expect(message.head.path == "/device_authorization")
        #expect(
            message.form == [
                "scope=example_scope+b", "resource=https%3A%2F%2Fapi.example.com%2F", "client_id=1406020730",
            ])
        let confidential = try DeviceExample.request(authentication: .basic(secret: Secret("s3cret"))).message
        #expect(confidential.head.headerFields[.authorization]?.hasPrefix("Basic ") == true)
        for name in ["redirect_uri", "state", "nonce", "code_challenge", "client_id", "device_code"] {
            #expect(
                failure { _ = try DeviceExample.request(extras: [name: "x"]).message } == "configuration \(name)")
        }
        #expect(
            failure {
                _ = try DeviceAuthorizationRequest(
                    to: Example.server(), clientID: "c", authentication: .none, scopes: []
                ).message
            } == "configuration device_authorization_endpoint")
    }

    @Test("the answer of RFC 8628, section 3.2 is read")
    func example() throws {
        let answer = try DeviceExample.authorization(
            #"""
            {"device_code": "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS", "user_code": "WDJB-MJHT",
             "verification_uri": "https://example.com/device",
             "verification_uri_complete": "https://example.com/device?user_code=WDJB-MJHT",
             "expires_in": 1800, "interval": 5}
            """#)
        #expect(answer.deviceCode.reveal() == "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS")
        #expect(answer.userCode == "WDJB-MJHT")
        #expect(answer.verificationURI.string == "https://example.com/device")
        #expect(answer.completeVerificationURI?.string == "https://example.com/device?user_code=WDJB-MJHT")
        #expect(answer.lifetime == 1800)
        #expect(answer.interval == 5)
    }

    @Test("J4: expires_in is at most an hour, and 300 s when it is absent")
    func lifetime() throws {
        func lifetime(_ member: String) throws -> Double {
            try DeviceExample.authorization(
                #"{"device_code":"d","user_code":"U","verification_uri":"https://a.example/"\#(member)}"#
            ).lifetime
        }
        #expect(try lifetime("") == 300)
        #expect(try lifetime(#","expires_in":3601"#) == 3600)
        #expect(try lifetime(#","expires_in":9223372036854775807"#) == 3600)
        #expect(try lifetime(#","expires_in":"60""#) == 60)
        #expect(failure { _ = try lifetime(#","expires_in":0"#) } == "malformed expires_in")
        #expect(failure { _ = try lifetime(#","expires_in":-1"#) } == "malformed expires_in")
    }

    @Test("drafts called the address verification_url")
    func draft() throws {
        let answer = try DeviceExample.authorization(
            #"{"device_code":"d","user_code":"U","verification_url":"https://www.google.com/device","expires_in":1800}"#
        )
        #expect(answer.verificationURI.string == "https://www.google.com/device")
    }

    @Test(
        "M108: an address that must not be shown is refused",
        arguments: [
            ("javascript:alert(1)", "malformed"), ("http://server.example.com/d", "insecure_transport"),
            ("http://127.0.0.1/d", "insecure_transport"), ("https://127.0.0.1/d", "malformed"),
            ("https://localhost/d", "malformed"), ("https://localhost./d", "malformed"),
            ("https://127.1/d", "malformed"), ("https://0x7f.1/d", "malformed"), ("https://2130706433/d", "malformed"),
            ("https://0177.0.0.1/d", "malformed"), ("https://10.1.2.3/d", "malformed"),
            ("https://192.168.1.1/d", "malformed"), ("https://172.31.0.1/d", "malformed"),
            ("https://169.254.169.254/latest", "malformed"), ("https://100.64.0.1/d", "malformed"),
            ("https://[::1]/d", "malformed"), ("https://[fd00::1]/d", "malformed"),
            ("https://[fe80::1]/d", "malformed"), ("https://[::ffff:10.0.0.1]/d", "malformed"),
            ("https://[64:ff9b::a00:1]/d", "malformed"), ("https://[2002:a00:1::]/d", "malformed"),
            ("https://[::]/d", "malformed"), ("https://[1:2]/d", "malformed"), ("https://0/d", "malformed"),
            ("https://a.example/" + String(repeating: "a", count: 3_000), "malformed"),
            ("https://user@a.example/d", "malformed"), ("https://a.example/d#f", "malformed"),
            ("https://a.example/`id`", "malformed"), ("https://a.example/\"", "malformed"),
            ("https://a.example/'", "malformed"), ("https://a.example/a|b", "malformed"),
            ("https://a.example/<b>", "malformed"), ("https://a.example/{b}", "malformed"),
            ("https://a.example/^", "malformed"), ("https://a.example/a b", "malformed"),
            ("https://a.example/\\", "malformed"), ("https://a.example/\n", "malformed"),
            ("https://\u{430}.example/", "malformed"), ("", "malformed"),
        ])
    func hostileAddress(_ address: String, _ kind: String) {
        let plain = failure { _ = try DeviceExample.authorization(DeviceExample.content(address)) }
        #expect(plain == (kind == "malformed" ? "malformed verification_uri" : kind))
        guard !address.isEmpty else { return }
        let complete = failure {
            _ = try DeviceExample.authorization(
                DeviceExample.content("https://server.example.com/d", complete: address))
        }
        #expect(complete == (kind == "malformed" ? "malformed verification_uri_complete" : kind))
    }

    @Test(
        "M108: a complete address of another origin than the plain one is left out: the user is told the plain one's host"
    )
    func otherOrigin() throws {
        for (complete, isKept) in [
            ("https://a.example/d?user_code=X", true), ("https://evil.example/d?user_code=X", false),
            ("https://a.example:8443/d?user_code=X", false),
        ] {
            let read = try DeviceExample.authorization(DeviceExample.content("https://a.example/d", complete: complete))
            #expect((read.completeVerificationURI != nil) == isKept)
            #expect(read.verificationURI.string == "https://a.example/d")
        }
    }

    @Test(
        "an address of the server's own zone or a more public one is shown",
        arguments: [
            ("https://server.example.com", "https://microsoft.com/devicelogin"),
            ("https://10.0.0.1", "https://10.0.0.2/d"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/d"), ("http://127.0.0.1:8080", "https://a.example/d"),
            ("https://[fd00::1]", "https://192.168.0.1/d"), ("https://server.example.com", "https://172.32.0.1/d"),
            ("https://server.example.com", "https://[2001:db8::1]/d"),
            ("https://server.example.com", "https://11.0.0.1/"),
            ("https://server.example.com", "https://[::ffff:8.8.8.8]/d"),
        ])
    func ownZone(_ origin: String, _ address: String) throws {
        let answer = try DeviceExample.authorization(DeviceExample.content(address), at: origin)
        #expect(answer.verificationURI.string == address)
    }

    @Test(
        "bad answers end in a typed error that names the member",
        arguments: [
            ("", "malformed content"), ("[]", "malformed content"), ("{}", "malformed device_code"),
            (#"{"device_code":"d"}"#, "malformed user_code"), (#"{"device_code":1}"#, "malformed device_code"),
            (#"{"device_code":"d","user_code":""}"#, "malformed user_code"),
            (#"{"device_code":"d","user_code":" A"}"#, "malformed user_code"),
            (#"{"device_code":"d","user_code":"A\u001b[2J"}"#, "malformed user_code"),
            (#"{"device_code":"d","user_code":"\#(String(repeating: "A", count: 65))"}"#, "malformed user_code"),
            (#"{"device_code":"d","user_code":"A","expires_in":9}"#, "malformed verification_uri"),
            (#"{"device_code":"\#(String(repeating: "d", count: 4_097))"}"#, "malformed device_code"),
            (#"{"device_code":"d","user_code":"A","user_code":"B"}"#, "malformed content"),
            (#"{"error":"unauthorized_client"}"#, "unauthorized_client"),
        ])
    func bad(_ content: String, _ expected: String) {
        #expect(failure { _ = try DeviceExample.authorization(content) } == expected)
    }

    @Test("E9, L1: no error and no description shows the device code or a client's secret")
    func secrets() throws {
        let request = try DeviceExample.request(authentication: .post(secret: Secret("client-secret-value")))
        let content =
            #"{"error":"invalid_request","error_description":"client-secret-value dev-code-value!","device_code":"dev-code-value!"}"#
        for status in [200, 400, 500] {
            let error = serverError { _ = try request.authorization(from: Example.response(status, content)) }
            #expect(error?.code == "invalid_request")
            #expect(error?.text == "(secret) (secret)")
        }
        let answer = try DeviceExample.authorization(DeviceExample.content("https://a.example/d"))
        var text = ""
        dump(answer, to: &text)
        #expect(!text.contains("WDJB") && !text.contains("dev\""))
    }

    @Test("B8: no answer traps")
    func robust() throws {
        let whole = Array(DeviceExample.content("https://[fe80::1:2]:8443/d?x=1", complete: "https://1.2.3/").utf8)
        let request = try DeviceExample.request()
        var generator = SplitMix64(seed: 8628)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0x20...0x7E, using: &generator)
            }
            _ = try? request.authorization(
                from: ResponseMessage(head: HTTPResponse(status: .ok), content: bytes))
        }
    }
}
