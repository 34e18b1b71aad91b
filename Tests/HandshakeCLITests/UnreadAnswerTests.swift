import Handshake
import IFTTTConnect
import RecurseCenter
import Sequencing
import Testing

@testable import HandshakeCLI

/// What a user reads when a service answers with something else than JSON.
@Suite("Answers that are no JSON")
struct UnreadAnswerTests {
    enum Kit: CaseIterable {
        case sequencing, recurseCenter, ifttt

        var service: String {
            switch self {
            case .sequencing: "Sequencing.com"
            case .recurseCenter: "The Recurse Center"
            case .ifttt: "IFTTT"
            }
        }

        /// The error of content that cannot be read, and the error of the command.
        func failure(_ content: [UInt8]) -> (error: String, detail: String?, shown: any Error)? {
            do {
                switch self {
                case .sequencing: _ = try SequencingError.json(content, of: "DataSourceList")
                case .recurseCenter: _ = try RecurseCenterError.json(content, of: "/profiles/me")
                case .ifttt: _ = try ConnectError.json(content, of: "connection")
                }
            } catch let error as SequencingError {
                return (error.description, error.detail, SequencingFailure.commandError(error))
            } catch let error as RecurseCenterError {
                return (error.description, error.detail, RecurseCenterOptions.commandError(error))
            } catch let error as ConnectError {
                return (error.description, error.detail, IFTTTFailure.commandError(error))
            } catch {}
            return nil
        }

        var answer: String {
            switch self {
            case .sequencing: "DataSourceList"
            case .recurseCenter: "/profiles/me"
            case .ifttt: "connection"
            }
        }
    }

    @Test(
        "W27: each kit says in words what came, and has the names of the wire and the place in its detail",
        arguments: Kit.allCases,
        [
            ("garbage", "text that is not JSON"), ("\u{FFFD}\u{1}", "text that is not JSON"),
            ("<!DOCTYPE html><title>Sign in</title>", "a web page instead of JSON"),
            ("\u{FEFF}\n <html>", "a web page instead of JSON"), ("", "nothing instead of JSON"),
            (" \r\n", "nothing instead of JSON"), (#"{"a":[1,"#, "incomplete or invalid JSON"),
            ("[1,]", "incomplete or invalid JSON"),
        ])
    func words(_ kit: Kit, _ row: (content: String, words: String)) throws {
        let failure = try #require(kit.failure(Array(row.content.utf8)))
        #expect(
            failure.error.hasPrefix("\(kit.service) answered with \(row.words). Try again later."), "\(failure.error)")
        #expect(!failure.error.contains("byte") && !failure.error.contains(kit.answer), "\(failure.error)")
        let detail = try #require(failure.detail)
        #expect(detail.hasPrefix("\(kit.answer): content should be JSON but is "), "\(detail)")
        #expect(detail.contains("byte"), "\(detail)")
        let shown = try #require(failure.shown as? CommandError)
        #expect(shown.message == failure.error && shown.detail == detail && shown.status == .refused)
    }

    @Test("W27: no kit says a name of the wire, or quotes what came", arguments: Kit.allCases)
    func quotesNothing(_ kit: Kit) throws {
        let failure = try #require(kit.failure(Array(#"{"access_token":"3f0c9a51""#.utf8)))
        for text in [failure.error, failure.detail ?? ""] { #expect(!text.contains("3f0c9a51"), "\(text)") }
    }
}
