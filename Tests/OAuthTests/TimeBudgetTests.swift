import HTTPTypes
import TestFixtures
import Testing

@testable import OAuth

/// 512 KiB of what makes readers slow. Each is read in linear time.
///
/// `Tests/Fuzz/OAuth/run --times` holds every reader to 50 ms for 1 MiB in a release build. Here the budget is the thread's own processor
/// time in a debug build beside other tests: quadratic time takes ten times the budget.
@Suite("Time for hostile content")
struct TimeBudgetTests {
    private static let budget = Duration.seconds(4)
    private static let length = 524_288

    /// Combining marks of two classes in turn: normalizing them sorts them.
    private static let marks = String(repeating: "\u{301}\u{323}", count: length / 4)

    /// By name: a test's arguments are described, which is not meant for such texts.
    static let hostile: [String: String] = [
        "a name of marks": #"{"\#(marks)":1}"#,
        "a value of marks": #"{"error":"\#(marks)","error_description":"\#(marks)","scope":"\#(marks)"}"#,
        "names of marks": "{"
            + (0..<250).map { "\"\(String(marks.unicodeScalars.prefix(510)))\($0)\":1" }.joined(separator: ",") + "}",
        "escaped marks": #"{"error_description":"\#(String(repeating: #"\u0301\u0323"#, count: length / 12))"}"#,
        "one word": #"{"error_description":"\#(String(repeating: "a", count: length))"}"#,
        "one number": #"{"expires_in":\#(String(repeating: "9", count: length))}"#,
        "digits as text":
            #"{"access_token":"a","token_type":"bearer","expires_in":"\#(String(repeating: "9", count: length))"}"#,
        "many numbers": "[" + String(repeating: "0,", count: length / 2) + "0]",
        "deep lists": String(repeating: "[", count: length),
        "backslashes": "\"" + String(repeating: #"\\"#, count: length / 2) + "\"",
    ]

    @Test("C9: 512 KiB of any content is read in linear time", arguments: hostile.keys.sorted())
    func contents(name: String) throws {
        let content = try #require(Self.hostile[name])
        let response = Example.response(200, content)
        let server = try Example.server()
        let request = TokenRequest(
            .refreshToken(Secret("refresh token")), at: server, clientID: "c", authentication: .none)
        let time = processorTime {
            _ = try? request.response(from: response, now: 0)
            _ = ServerError(step: .token, response, hiding: [Secret("refresh token")]).description
        }
        #expect(time < Self.budget, "\(name)")
    }

    @Test("C9: long fields, redirects and tokens are rejected or read in linear time")
    func fields() throws {
        let request = try Example.request()
        var fields = HTTPFields()
        fields[values: .wwwAuthenticate] = (0..<32).map { _ in
            "Bearer error=\"" + String(repeating: "\u{301}\u{323}", count: 2000) + "\""
        }
        fields[.retryAfter] = String(repeating: "9", count: Self.length)
        let response = Example.response(401, fields: fields)
        let time = processorTime {
            _ = ResourceDemand(response)
            _ = ServerError(step: .resource, response)
            _ = failure { _ = try request.code(from: request.redirect("error=" + Self.marks), now: Example.now) }
            _ = failure {
                _ = try request.code(
                    from: request.redirect("error=" + String(Self.marks.unicodeScalars.prefix(8000))),
                    now: Example.now)
            }
            _ = failure { _ = try JSONWebSignature(compact: Secret(String(repeating: ".", count: Self.length))) }
            _ = failure { _ = try EndpointURL(Self.marks) }
            _ = failure { _ = try RedirectURI(Self.marks) }
        }
        #expect(time < Self.budget)
    }

    @Test("C9: an ID token with a name of marks is read in linear time")
    func idToken() throws {
        let payload = #"{"\#(String(Self.marks.unicodeScalars.prefix(20_000)))":1}"#
        let time = processorTime { _ = failure { _ = try IDTokenTests.check(payload) } }
        #expect(time < Self.budget)
    }
}
