import Foundation
import Handshake
import OAuth
import Testing

@testable import Handshake

@Suite("What is stored, read without Foundation's decoder")
struct StoredFormTests {
    /// The members of deviations that are sets, which are written in any order.
    private static let sets: Set = ["denialCodes", "invalidGrantCodes", "repeatedWhenPushed", "unauthorizedMessages"]

    /// A value of JSON whose sets are in one order.
    private static func settled(_ value: Any) -> Any {
        if let list = value as? [Any] { return list.map(settled) }
        guard let members = value as? [String: Any] else { return value }
        var object: [String: Any] = [:]
        for (name, member) in members {
            if sets.contains(name), let texts = member as? [String] {
                object[name] = texts.sorted()
            } else {
                object[name] = settled(member)
            }
        }
        return object
    }

    private static func sorted(_ value: some Encodable) throws -> String {
        try ordered(Array(JSONEncoder().encode(value)))
    }

    /// Reads bytes by both readers, and returns what they agree on.
    private static func agreed<Value: Codable>(_ bytes: [UInt8], as type: Value.Type) throws -> String {
        let quick: Value = try #require(StoredForm.decodeWithoutFoundation(bytes))
        let text = try sorted(quick)
        #expect(text == (try sorted(JSONDecoder().decode(Value.self, from: Data(bytes)))))
        return text
    }

    /// A text of JSON with its members, and the values of its sets, in one order.
    private static func ordered(_ bytes: [UInt8]) throws -> String {
        let value = settled(try JSONSerialization.jsonObject(with: Data(bytes)))
        let data = try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }

    @Test(
        "a client of a service is read as it was written",
        arguments: ["github", "google", "slack", "apple", "trakt", "linkedin"])
    func clients(_ name: String) throws {
        let service = try Service.named(Service.Name(rawValue: name), name == "apple" ? ["team": "DEF123GHIJ"] : [:])
        var client = Client(
            service: service, id: "app é", redirect: .loopback(port: 8_123, path: "/cb"), scopes: ["a", "b"],
            resources: [try ResourceIndicator("urn:x")], parameters: ["prompt": "consent"])
        client.options.dpop = .always
        client.options.responseMode = .jwt
        client.options.idTokenAlgorithm = .es256
        client.options.authorizationDetails = [AuthorizationDetail(type: "payment", ["amount": .number("12.50")])]
        client.registration = ClientRegistration(
            name: "App", endpoint: try EndpointURL("https://as.example/register"), scopes: ["a"],
            redirect: .loopback, redirectURI: try RedirectURI("http://127.0.0.1:8000/callback"), isForDevices: true,
            expiresAt: 1_750_000_000.5,
            management: ClientManagement(endpoint: try EndpointURL("https://as.example/m"), token: Secret("t")),
            registeredScopes: ["a", "b"], idTokenAlgorithm: .es256)
        let bytes = try Registrations.stored(client)
        let text = try Self.agreed(bytes, as: StoredClient.self)
        #expect(try Self.ordered(Array(text.utf8)) == Self.ordered(bytes))
        let read = try Registrations.client(stored: bytes, as: "mine")
        #expect(read.options == client.options && read.service.deviations == service.deviations)
        #expect(read.registration?.expiresAt == 1_750_000_000.5)
        #expect(read.registration?.registeredScopes == ["a", "b"])
        #expect(read.registration?.idTokenAlgorithm == .es256)
    }

    @Test("an account is read as it was written, in each state, with and without a key")
    func accounts() async throws {
        for isBound in [false, true] {
            let provider = ScriptedProvider()
            if isBound { provider.bindTokens() }
            let app = isBound ? try provider.boundApp() : try provider.app()
            let record = try await app.signIn(through: provider.browser).record
            var unchecked = record.keeping(
                unchecked: .init(
                    grant: record.grant, binding: record.binding, certificate: "next", receivedAt: 1_750_000_000.25),
                since: 1.5)
            unchecked.replaced = [Secret("old")]
            for state in [
                record, record.entering(.refreshing(since: 1_750_000_000.125)), record.ended(.answerLost),
                record.entering(.signingOut(remaining: [.refreshToken, .accessToken])), unchecked,
            ] {
                let bytes = try state.stored()
                let text = try Self.agreed(bytes, as: StoredAccount.self)
                #expect(try Self.ordered(Array(text.utf8)) == Self.ordered(bytes))
                let read = try AccountRecord(stored: bytes, expected: record.id)
                #expect(read.state == state.state && read.generation == state.generation)
                #expect(read.grant.expiresAt == state.grant.expiresAt)
                #expect(read.unchecked?.receivedAt == state.unchecked?.receivedAt)
                #expect(read.unchecked?.certificate == state.unchecked?.certificate)
            }
        }
    }

    /// Each kind of value that a record may have.
    private struct Everything: Codable, Equatable {
        enum Case: Codable, Equatable {
            case plain
            case named(String, number: Int)
        }
        var truth = true
        var numbers: [Double] = [
            0.1, 1e-7, -0.0, 1_750_000_000.123_456, 1.797_693_134_862_315_7e308, Double.leastNonzeroMagnitude, 1e21,
        ]
        var wholes: [Int64] = [0, -1, .max, .min]
        var small: UInt8 = 255
        var port: UInt16? = 65_535
        var absent: String?
        var texts = ["", "a\"b\\c/d", "Zoë 日本語 👩🏽‍🚀", "tab\tand\u{1}"]
        var map: [String: [String: Int]] = ["a": ["b": 1], "": [:]]
        var set: Set<String> = ["x"]
        var cases: [Case] = [.plain, .named("n", number: 3)]
        var optionals: [Int?] = [1, nil, 2]
    }

    @Test("every kind of value is read as Foundation's decoder reads it")
    func everything() throws {
        var all = Everything()
        let escaped = try StoredForm.encode(all)
        let left: Everything? = StoredForm.decodeWithoutFoundation(escaped)
        #expect(left == nil, "an escape by number is left to Foundation's decoder")
        #expect(try StoredForm.decode(escaped, what: "w") == all)
        all.texts.removeLast()
        #expect(StoredForm.decodeWithoutFoundation(try StoredForm.encode(all)) == all)
        let wrong: [String] = [
            #"{"a":1.5}"#, #"{"a":"1"}"#, #"{"a":true}"#, #"{"a":null}"#, "[]", "1", #"{"a":1e300}"#,
            #"{"a":9223372036854775808}"#, #"{"a":1,"a":2}"#, "", "{",
        ]
        for text in wrong {
            let quick: [String: Int]? = StoredForm.decodeWithoutFoundation(Array(text.utf8))
            #expect(quick == nil, "\(text)")
        }
        #expect(StoredForm.decodeWithoutFoundation(Array(#"{"a":36e2,"b":-7}"#.utf8)) == ["a": 3_600, "b": -7])
    }

    /// A value that is read as the type that is wanted.
    private static func value<Value: Decodable>(_ text: String) -> Value? {
        let members: [String: Value]? = StoredForm.decodeWithoutFoundation(Array("{\"a\":\(text)}".utf8))
        return members?["a"]
    }

    /// What is read as a type: the value and the type, or nil.
    private static func read<Value: Decodable>(_ value: String, as type: Value.Type) -> String? {
        let members: [String: Value]? = StoredForm.decodeWithoutFoundation(Array("{\"a\":\(value)}".utf8))
        return members.map { _ in "\(value) as \(type)" }
    }

    @Test("a value of another type, or beyond its type's range, is not read without Foundation")
    func types() {
        let wrong = [
            Self.read("256", as: UInt8.self), Self.read("-1", as: UInt8.self), Self.read("65536", as: UInt16.self),
            Self.read("4294967296", as: UInt32.self), Self.read("-1", as: UInt64.self),
            Self.read("-129", as: Int8.self), Self.read("128", as: Int8.self),
            Self.read("18446744073709551616", as: UInt64.self), Self.read("1e400", as: Double.self),
            Self.read("\"1\"", as: Double.self),
            Self.read("1", as: Bool.self), Self.read("1", as: String.self), Self.read("null", as: String.self),
            Self.read("[1]", as: String.self),
        ]
        #expect(wrong.compactMap(\.self) == [])
        #expect(Self.read("null", as: String?.self) != nil)
        #expect(Self.value("255") == UInt8(255) && Self.value("65535") == UInt16(65_535))
        #expect(Self.value("-128") == Int8(-128) && Self.value("9223372036854775807") == UInt64(Int64.max))
        #expect(Self.value("1e4") == 10_000.0 && Self.value("true") == true)
    }

    @Test("an unknown member changes nothing, marks stay as they are, and damage is told as ever")
    func compatibility() throws {
        let provider = ScriptedProvider()
        let bytes = try Registrations.stored(try provider.client())
        let more = Array(#"{"unknown":[{"x":null}],"#.utf8) + bytes.dropFirst()
        #expect(try Self.agreed(more, as: StoredClient.self) == Self.agreed(bytes, as: StoredClient.self))
        let marks = "e" + String(repeating: "\u{301}", count: 40)
        let marked = Client(service: try provider.client().service, id: marks, redirect: try provider.client().redirect)
        #expect(
            try Array(Registrations.client(stored: Registrations.stored(marked), as: "m").id.utf8) == Array(marks.utf8))
        for damaged in [Array(bytes.dropLast()), Array("{}".utf8), [], [0xFF]] {
            let error = #expect(throws: HandshakeError.self) { try Registrations.client(stored: damaged, as: "mine") }
            #expect(
                error
                    == .vault(
                        .damaged(
                            what: "the registration mine", reason: "its content is not a record of this version")))
        }
    }
}
