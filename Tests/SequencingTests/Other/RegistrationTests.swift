import OAuth
import Sequencing
import TestFixtures
import Testing

@Suite("Registration")
struct RegistrationTests {
    private static let path = "POST /indexApi.php?q=sequencing/public/webservice/user/"

    @Test(
        "B02: an address of mail is accepted",
        arguments: [
            "ada@example.test", "a.b+c@sub.example.test", "\"odd name\"@example.test", "x@[192.0.2.1]",
            "x@[IPv6:2001:db8::1]",
            "!#$%&'*+-/=?^_`{|}~@example.test",
        ])
    func addresses(_ text: String) throws {
        #expect(try Sequencing.EmailAddress(text).string == text)
    }

    @Test(
        "B02: what is no address is refused here, an empty one with another message",
        arguments: [
            "", "ada", "@example.test", "ada@", "ada@localhost", "a..b@example.test", ".a@example.test", "a@-x.test",
            "a@x..test", "a b@example.test", "ada@example.test\n", "x@[300.0.0.1]", "x@[1.2.3]", "ä@example.test",
        ])
    func noAddresses(_ text: String) throws {
        do throws(SequencingError) {
            _ = try Sequencing.EmailAddress(text)
            Issue.record("accepted")
        } catch {
            let problem = text.isEmpty ? "it is empty" : "not a valid email address"
            #expect(error == .input(member: "email", problem: problem))
        }
    }

    private func registration(_ service: ScriptedService, _ proof: Registration.ClientProof = .identifier("my-app"))
        -> Registration
    {
        Registration(proof, transport: service, clock: HurriedClock())
    }

    @Test("B03, B05, W12: an account is asked for with the client's identifier and without a token")
    func register() async throws {
        let service = ScriptedService([Self.path + "seq_register.json": [.json(#"{"status":0}"#)]])
        #expect(try await registration(service).register(try Sequencing.EmailAddress("ada@example.test")) == .mailSent)
        #expect(service.requests.first?.content == #"{"client_id":"my-app","email":"ada@example.test"}"#)
        #expect(service.requests.first?.authorization == nil)
    }

    @Test("B04: a new password is asked for the same way, for an old server with the secret in the identifier's place")
    func reset() async throws {
        let service = ScriptedService([Self.path + "seq_new_pass.json": [.json(#"{"status":"0"}"#, status: 302)]])
        let registration = registration(service, .legacySecret(Secret("not-so-secret")))
        #expect(try await registration.resetPassword(try Sequencing.EmailAddress("ada@example.test")) == .mailSent)
        #expect(service.requests.first?.content == #"{"client_id":"not-so-secret","email":"ada@example.test"}"#)
    }

    @Test(
        "B03: a refusal is a result with the service's words, one or one for each field",
        arguments: [
            (
                #"{"status":1,"errorCode":101,"errorMessage":"Taken."}"#,
                Registration.Outcome.refused(code: 101, messages: ["Taken."])
            ),
            (
                #"{"status":"1","errorCode":"102","errorMessage":{"email":"Bad.","b":"Worse."}}"#,
                .refused(code: 102, messages: ["Worse.", "Bad."])
            ),
        ])
    func refusal(_ answer: String, _ outcome: Registration.Outcome) async throws {
        let service = ScriptedService([Self.path + "seq_register.json": [.json(answer)]])
        #expect(try await registration(service).register(try Sequencing.EmailAddress("a@b.test")) == outcome)
    }

    @Test(
        "B03: what the protocol does not know is an error, never a success",
        arguments: [
            "", "{}", "[]", #"{"status":2}"#, #"{"status":null}"#, #"{"status":1}"#, #"{"status":1,"errorCode":1}"#,
            #"{"status":1,"errorMessage":"x"}"#, #"{"status":1,"errorCode":1,"errorMessage":7}"#,
            #"{"status":1,"errorCode":1,"errorMessage":{"a":7}}"#, "<html>",
        ])
    func malformed(_ answer: String) async throws {
        let service = ScriptedService([Self.path + "seq_register.json": [.json(answer)]])
        let email = try Sequencing.EmailAddress("a@b.test")
        #expect(await sequencingError { try await registration(service).register(email) }?.code == "malformed_answer")
        #expect(service.lines.count == 1)
    }

    @Test("an error status is one, and nothing is sent twice", arguments: [400, 500, 503])
    func status(_ status: Int) async throws {
        let service = ScriptedService([Self.path + "seq_register.json": [.json(#"{"status":0}"#, status: status)]])
        let email = try Sequencing.EmailAddress("a@b.test")
        #expect(
            await sequencingError { try await registration(service).register(email) }
                == .service(status: status, code: nil, message: nil))
        #expect(service.lines.count == 1)
    }
}
