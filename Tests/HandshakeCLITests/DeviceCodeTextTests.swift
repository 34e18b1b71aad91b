import HTTPTypes
import Handshake
import OAuth
import Testing

@testable import HandshakeCLI

@Suite("The code that login --device shows")
struct DeviceCodeTextTests {
    private func text(_ complete: String?) throws -> DeviceCodeText {
        let member = complete.map { #","verification_uri_complete":"\#($0)""# } ?? ""
        let answer =
            #"{"device_code":"d","user_code":"wdjb mjHT","verification_uri":"https://page.example/d","expires_in":900\#(member)}"#
        let issuer = try Issuer("https://op.example")
        var server = AuthorizationServerMetadata(
            issuer: issuer, tokenEndpoint: try EndpointURL("https://op.example/token"))
        server.deviceAuthorizationEndpoint = try EndpointURL("https://op.example/device_authorization")
        let authorization = try DeviceAuthorizationRequest(
            to: server, clientID: "app", authentication: .none, scopes: []
        ).authorization(from: ResponseMessage(head: HTTPResponse(status: .ok), content: Array(answer.utf8)))
        return DeviceCodeText(
            code: DeviceCode(
                authorization, service: try Service(name: "mine", authorizationServer: .described(server)),
                issuer: issuer, lifetime: authorization.lifetime, now: 0))
    }

    @Test("M109, J3: code, address, hosts, minutes and the warning stand together, also beside a complete address")
    func lines() throws {
        let complete = "https://page.example/d?user_code=wdjb+mjHT"
        for address in [nil, complete] {
            let text = try text(address)
            let lines = text.lines(in: Language(preferred: ["en"]))
            #expect(lines.contains("  wdjb mjHT"))
            #expect(lines.contains("  https://page.example/d"))
            #expect(lines.contains("  \(complete)") == (address != nil))
            #expect(lines.last == "Go on only if you started this sign-in yourself.")
            let prompt = try #require(lines.first)
            for word in ["mine", "page.example", "op.example", "15 min"] { #expect(prompt.contains(word)) }
            #expect(text.line == "wdjb mjHT https://page.example/d")
        }
    }

    @Test("M109: the picture is exactly the complete address, else the plain one, and is left out when it is too wide")
    func picture() throws {
        let complete = "https://page.example/d?user_code=wdjb+mjHT"
        for (address, pictured) in [(nil, "https://page.example/d"), (complete, complete)] as [(String?, String)] {
            let text = try text(address)
            let code = try #require(QRCode(Array(pictured.utf8)))
            #expect(text.picture(columns: 200, rows: 100) == code.picture(columns: 200, rows: 100))
            #expect(text.picture(columns: 200, rows: 100) != nil)
            #expect(text.picture(columns: code.size + 7, rows: 100) == nil)
        }
        let long = try text("https://page.example/" + String(repeating: "a", count: 300))
        #expect(long.picture(columns: 200, rows: 100) == nil)
    }
}
