import Foundation
import Testing

@testable import ConnectButton

@Suite("The button on the wire")
struct WireTests {
    @Test("an answer survives its way, in every step", arguments: ConnectButtonState.Step.allCases)
    func answers(_ step: ConnectButtonState.Step) throws {
        let state = ConnectButtonState(
            step, connection: FaceTests.connection, email: "ada@example.com",
            failure: ConnectButtonFailure(.offline, detail: "HTTP 503"),
            progress: .fraction(0.25), undo: ConnectButtonUndo(remaining: 3, total: 8), isCancellable: true,
            next: .email,
            manageURL: URL(string: "https://ifttt.com/connections/aB3dE5fG/edit"))
        var answer = ConnectButtonAnswer(
            state, in: .german, revision: 7, token: "t", open: URL(string: "https://ifttt.com/access/api/aB3dE5fG"))
        #expect(!answer.isCounted, "no user is counted before consent")
        answer.isCounted = true
        let body = try answer.body()
        #expect(try JSONDecoder().decode(ConnectButtonAnswer.self, from: body) == answer)
        #expect(!body.contains(UInt8(ascii: "\n")), "a server-sent event's data is one line")
    }

    @Test("an answer may stand inside a page's script element, whatever a service or an address is called")
    func answersInPages() throws {
        let hostile = "</script><!--<script>\u{2028}&amp;alert(1)"
        let service = ConnectButtonService(name: hostile, shortName: hostile, icon: nil, brand: .black, url: nil)
        let state = ConnectButtonState(
            .email, connection: ConnectButtonConnection(id: hostile, url: nil, primary: service, connecting: service),
            email: hostile)
        let answer = ConnectButtonAnswer(state, in: .americanEnglish, revision: 1, token: "t")
        let body = try answer.body()
        #expect(body.allSatisfy { $0 != UInt8(ascii: "<") }, "what follows would be the page's")
        #expect(try JSONDecoder().decode(ConnectButtonAnswer.self, from: body) == answer)
    }

    @Test(
        "progress is none, indeterminate or a part from 0 to 1",
        arguments: [
            ("\"none\"", ConnectButtonProgress.none), ("\"indeterminate\"", .indeterminate), ("0.5", .fraction(0.5)),
            ("7", .fraction(1)),
            ("-1", .fraction(0)), ("\"soon\"", .none), ("null", .none), ("[]", .none),
        ])
    func progress(_ text: String, _ expected: ConnectButtonProgress) throws {
        #expect(try JSONDecoder().decode([ConnectButtonProgress].self, from: Data("[\(text)]".utf8)) == [expected])
    }

    @Test(
        "every event survives its way",
        arguments: [
            ConnectButtonEvent.turnOn, .turnOff, .email("ada+test@example.com"), .proceed, .retry, .cancel, .disconnect,
            .keep, .undo, .shown, .footerTapped, .aboutShown,
        ] + ConnectButtonEvent.AboutItem.allCases.map(ConnectButtonEvent.aboutTapped))
    func messages(_ event: ConnectButtonEvent) throws {
        let message = ConnectButtonMessage(event, revision: 3, token: "token")
        #expect(try ConnectButtonMessage(body: message.body()) == message)
    }

    @Test(
        "what is no message is refused",
        arguments: [
            ("", ConnectButtonError.malformedMessage), ("null", .malformedMessage), ("[]", .malformedMessage),
            ("{", .malformedMessage),
            (#"{"event":"turn_on"}"#, .malformedMessage),
            (#"{"event":"turn_on","revision":"1","token":"t"}"#, .malformedMessage),
            (#"{"event":"turn_on","revision":1.5,"token":"t"}"#, .malformedMessage),
            (#"{"event":"explode","revision":1,"token":"t"}"#, .unknownEvent),
            (#"{"event":"email","revision":1,"token":"t"}"#, .unknownEvent),
            (#"{"event":"about_tapped","revision":1,"token":"t"}"#, .unknownEvent),
            (#"{"event":"about_tapped","item":"wallet","revision":1,"token":"t"}"#, .unknownEvent),
        ])
    func refused(_ body: String, _ expected: ConnectButtonError) {
        #expect(throws: expected) { try ConnectButtonMessage(body: Data(body.utf8)) }
        #expect(!expected.description.isEmpty)
    }

    @Test("a message that is too long is refused unread, and an address that is too long becomes no other one")
    func long() throws {
        let email = String(repeating: "a", count: 5000)
        #expect(throws: ConnectButtonError.messageTooLong(bytes: 5052)) {
            try ConnectButtonMessage(body: Data(#"{"event":"email","email":"\#(email)","revision":1,"token":""}"#.utf8))
        }
        let body = Data(#"{"event":"email","email":"\#(email.prefix(900))","revision":1,"token":"t","more":1}"#.utf8)
        #expect(try ConnectButtonMessage(body: body).event == .email(String(repeating: "a", count: 900)))
    }

    @Test(
        "an undo never has more left than there was",
        arguments: [(9.0, 8.0, 8.0), (-1, 8, 0), (.nan, 8, 0), (3, .infinity, 0)])
    func undo(_ remaining: Double, _ total: Double, _ expected: Double) {
        #expect(ConnectButtonUndo(remaining: remaining, total: total).remaining == expected)
    }
}
