import Handshake
import Sequencing
import TestFixtures
import Testing

/// What a person reads when a call fails.
@Suite("The errors' words")
struct ErrorWordsTests {
    /// Answers of each call that cannot be read, with the names of the wire that only `detail` may have.
    private static let malformed: [(answer: String, member: String)] = [
        ("DataSourceList", "[3].Id"), ("StartApp", "jobId"), ("StartAppBatch", "[0].Value.Status.IdJob"),
        ("GetAppResults", "Status.Status"), ("GetAppResultsBatch", "[1].ResultProps"), ("CheckAppStatus", "content"),
        ("seq_register", "success"), ("seq_new_pass", "errorMessage"), ("PublicBeacons", "[0].response"),
        ("SequencingBeacon", "content"), ("AuthenticateDataSource", "sessionId"),
    ]

    @Test("W27: an answer that cannot be read is told in words; the names of the wire stand in its detail")
    func malformedAnswers() {
        for (answer, member) in Self.malformed {
            let error = SequencingError.malformed(
                answer: answer, member: member, expected: "a number", found: "null")
            let text = error.description
            #expect(text.hasPrefix("Sequencing.com's ") && text.contains("Try again later"), "\(text)")
            for name in [answer, member, "IdJob", "ResultProps", "sessionId"] where name != "content" {
                #expect(!text.contains(name), "\(text)")
            }
            #expect(error.detail == "\(answer): \(member) should be a number but is null")
        }
    }

    @Test("W27: every error says what happened and, where the user can do something, what")
    func everyError() throws {
        let job = JobID(7)
        let file = try #require(FileID("3"))
        let errors: [(SequencingError, code: String, words: String)] = [
            (.account(.signInAbandoned(.timedOut)), "timed_out", "Sign in again."),
            (.input(member: "files", problem: "one at least is needed"), "invalid_input", "files: one at least"),
            (.input(member: "name", problem: "must not be empty"), "invalid_input", "“name” must not be empty"),
            (.input(member: "login", problem: "it is empty"), "invalid_input", "“login” is empty"),
            (.service(status: 500, code: nil, message: nil), "service_error", "Try again in a few minutes."),
            (.service(status: 400, code: "bad_flag", message: "No such flag"), "bad_flag", "“No such flag”"),
            (.unknownChain(AppCode(99)), "chain_not_found", "Check its number."),
            (.unknownFile(file), "file_not_found", "choose one."),
            (.unknownJob(job), "job_not_found", "Check its number."),
            (.failed(job), "job_failed", "Run the app chain again."),
            (.cancelled(job), "job_cancelled", "Run the app chain again"),
            (.deadline(job), "job_deadline", "resume it"),
            (.answerMissing(chain: AppCode(9), property: "RiskDescription"), "answer_missing", "Read its properties"),
            (.disk(path: "/a", reason: "the disk is full"), "cannot_write", "the disk is full"),
        ]
        for (error, code, words) in errors {
            #expect(error.code == code)
            let text = error.description
            #expect(text.contains(words), "\(text)")
            #expect(!text.contains("nil") && !text.contains("Optional") && !text.contains("(code:"), "\(text)")
            #expect(error.detail == nil)
        }
    }
}
