import HTTPTypes
import Testing

@testable import OAuth

@Suite("Managed registrations and documents of clients")
struct ClientManagementTests {
    private static func registration() throws -> ClientRegistrationRequest {
        ClientRegistrationRequest(
            at: try EndpointURL("https://as.example/register"), name: "App",
            redirectURI: try RedirectURI("com.example.app:/cb"), scopes: ["a", "b"])
    }

    private static func request(_ operation: ClientManagementRequest.Operation) throws -> ClientManagementRequest {
        let management = ClientManagement(
            endpoint: try EndpointURL("https://as.example/register/c"), token: Secret("canary-management"))
        return ClientManagementRequest(operation, clientID: "c", by: management, registration: try registration())
    }

    private static func answer(_ json: String, _ status: Int = 200) -> ResponseMessage {
        ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"]),
            content: Array(json.utf8))
    }

    @Test("M504: a registration is read, put and deleted with its own token (RFC 7592, section 2)")
    func messages() throws {
        for (operation, method) in [
            (ClientManagementRequest.Operation.read, HTTPRequest.Method.get), (.update, .put), (.delete, .delete),
        ] {
            let message = try Self.request(operation).message
            #expect(message.head.method == method)
            #expect(message.head.path == "/register/c" && message.head.authority == "as.example")
            #expect(message.head.headerFields[.authorization] == "Bearer canary-management")
            guard operation == .update, case .bytes(let bytes) = message.content else { continue }
            let sent = try #require(try JSONValue(parsing: bytes).object)
            var expected = try Self.registration().members
            expected["client_id"] = .string("c")
            #expect(sent == expected, "all that is registered, and none of the four members of RFC 7592, section 2.2")
        }
    }

    @Test("M504: an answer's token takes the place of the present one, which stays where there is none")
    func tokens() throws {
        let request = try Self.request(.read)
        let same = try request.client(from: Self.answer(#"{"client_id":"c"}"#))
        #expect(same.management?.token.reveal() == "canary-management")
        let next = try request.client(
            from: Self.answer(
                #"{"client_id":"c","registration_access_token":"t2","registration_client_uri":"https://as.example/m/c","#
                    + #""client_secret":"s2","token_endpoint_auth_method":"client_secret_post","client_secret_expires_at":1800000000}"#
            ))
        #expect(next.management?.token.reveal() == "t2")
        #expect(next.management?.endpoint.string == "https://as.example/m/c")
        #expect(next.secret?.reveal() == "s2" && next.expiresAt == 1_800_000_000)
    }

    @Test(
        "M504: an answer about another client, or that leads into the local network, is refused",
        arguments: [
            (#"{"client_id":"d"}"#, "client_id"),
            (
                #"{"client_id":"c","registration_access_token":"t","registration_client_uri":"https://10.0.0.1/"}"#,
                "registration_client_uri"
            ),
            (
                #"{"client_id":"c","registration_access_token":"t","registration_client_uri":"http://as.example/"}"#,
                nil
            ),
        ])
    func wrong(_ json: String, _ member: String?) throws {
        let request = try Self.request(.read)
        do throws(OAuthError) {
            _ = try request.client(from: Self.answer(json))
            Issue.record("it was accepted")
        } catch .malformed(_, let found, _, _) {
            #expect(found == member)
        } catch .refused(let refusal) {
            #expect(member == nil && refusal.check == .insecureTransport)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("M504, L1: an error of the server shows neither the token nor the client's secret")
    func echo() throws {
        let echo = Self.answer(
            #"{"error":"invalid_token","error_description":"not canary-management of canary-secret"}"#, 401)
        var request = try Self.request(.read)
        request.hidden = [Secret("canary-secret")]
        do throws(OAuthError) {
            _ = try request.client(from: echo)
            Issue.record("it was accepted")
        } catch {
            #expect(!"\(error)".contains("canary"))
            guard case .server(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.status == 401)
        }
    }

    @Test(
        "M504: a registration that is gone already is deleted; one that a server keeps is not",
        arguments: [204, 401, 404, 403, 500])
    func deletion(_ status: Int) throws {
        let request = try Self.request(.delete)
        if [403, 500].contains(status) {
            #expect(throws: OAuthError.self) { try request.confirmDeletion(Self.answer("", status)) }
        } else {
            try request.confirmDeletion(Self.answer("", status))
        }
    }

    @Test(
        "M506: the address of a client's document has a path, and no query, fragment, user name or dot segment",
        arguments: [
            ("https://app.example/client.json", true), ("https://app.example/a/b", true),
            ("https://app.example", false), ("https://app.example/", false), ("https://app.example/c?x=1", false),
            ("https://app.example/c#x", false), ("https://app.example/a/../c", false),
            ("https://app.example/a/%2e%2e/c", false), ("https://u@app.example/c", false),
            ("http://app.example/c", false), ("app", false),
        ])
    func addresses(_ address: String, _ isGood: Bool) throws {
        #expect(((try? ClientDocument(at: address, name: "App")) != nil) == isGood)
        guard isGood else { return }
        let document = try #require(
            try JSONValue(parsing: ClientDocument(at: address, name: "App").content).object)
        #expect(document["client_id"]?.string == address)
        #expect(
            document["redirect_uris"]?.array?.compactMap(\.string) == [
                "http://127.0.0.1/callback", "http://[::1]/callback",
            ])
        #expect(document["token_endpoint_auth_method"]?.string == "none")
        #expect(document["client_secret"] == nil)
        var keyed = try ClientDocument(at: address, name: "App")
        keyed.keysAddress = try EndpointURL("https://app.example/keys.json")
        let confidential = try #require(try JSONValue(parsing: keyed.content).object)
        #expect(confidential["token_endpoint_auth_method"]?.string == "private_key_jwt")
        #expect(confidential["jwks_uri"]?.string == "https://app.example/keys.json")
        #expect(document["jwks_uri"] == nil)
    }

    @Test(
        "M506: only a literal true announces clients that are named by documents",
        arguments: [("true", true), (#""true""#, false), ("1", false), ("null", false), (nil, false)])
    func announced(_ value: String?, _ isTaken: Bool) throws {
        let member = value.map { #","client_id_metadata_document_supported":"# + $0 } ?? ""
        let json = #"{"issuer":"https://as.example","token_endpoint":"https://as.example/token"\#(member)}"#
        let server = try AuthorizationServerMetadata(
            parsing: Array(json.utf8), expected: try Issuer("https://as.example"))
        #expect(server.acceptsClientDocuments == isTaken)
    }
}
