#if Sandbox
/// A rule by which a sandbox misbehaves on purpose.
///
/// A rule is one line: `[SERVICE] [METHOD] PATH => ACTION [#N] [xN]`.
///
/// ```
/// /token => delay 0.05                                every service: the answer is held back for 50 ms
/// recurse-center POST /oauth/token => drop x1         once: the tokens rotate, the answer is lost
/// standard POST /token => status 503 {"error":"temporarily_unavailable"} x2
/// standard /jwks => cut 40                            full headers, then 40 bytes of the body, then the end
/// sequencing /oauth2/* => garbage                     status 200 and something that is not JSON
/// /token => redirect http://127.0.0.1:9/steal 307     a redirect that no client may follow
/// /token => endless                                   a body that never ends
/// /userinfo => huge 5000000                           a body of five million bytes
/// /api/whoami => header Retry-After 120               the usual answer with one more field
/// /token => body {"access_token":"a","token_type":"mac"}
/// /v2/StartApp => numbers-as-strings                  the usual answer with "IdJob":"800123"
/// /oauth2/token => strings-as-numbers                 the usual answer with "expires_in":3600
/// /DataSourceList => without Sex                      the usual answer without that member, however deep
/// ifttt /v2/me => malformed #3                        the third answer alone is JSON that breaks off
/// ifttt POST /v2/sdk/events => empty                  the usual status without a body
/// ```
///
/// **SERVICE** is the name of a service, or `*` (as when it is left out). **METHOD** is in capital
/// letters; left out, any fits. **PATH** is compared exactly, or up to a `*` at its end; one that contains `?` is
/// compared with path and query. **#N** makes the rule wait for the N-th request that fits, and apply to it alone; **xN**
/// makes the rule apply N times and then disappear. `#3 x2` is for the third and fourth request.
///
/// | action | is the request processed? | then |
/// |---|---|---|
/// | `delay SECONDS` | yes, immediately | the answer is held back |
/// | `header NAME VALUE` | yes | the field is set on the answer |
/// | `numbers-as-strings` | yes | every number of a JSON answer becomes a string |
/// | `strings-as-numbers` | yes | every string of a JSON answer that is an integer becomes a number |
/// | `without NAME` | yes | all members of this name are missing from a JSON answer |
/// | `null NAME` | yes | all members of this name are null in a JSON answer |
/// | `body JSON` | yes | status 200 with this body |
/// | `empty` | yes | the usual status and no body |
/// | `malformed` | yes | the usual status and JSON that breaks off |
/// | `cut BYTES` | yes | the headers with the true `Content-Length`, then that many bytes, then the connection closes |
/// | `drop` | yes: tokens really rotate | the connection closes without an answer |
/// | `status CODE [BODY]` | no | that status; `BODY` is JSON or text |
/// | `redirect URL [STATUS]` | no | a redirect, 302 by default |
/// | `garbage` | no | status 200, `text/html`, not JSON and not valid UTF-8 |
/// | `endless` | no | status 200 and a body that trickles until the client leaves or the sandbox stops |
/// | `huge BYTES` | no | status 200 and a JSON body of that many bytes |
///
/// Rules are tried in the order in which they came. `delay`, `header` and the four changes to JSON combine with each other
/// and with the first fitting rule of the other kinds. `/_sandbox` routes have no faults, so a rule can always be cleared.
public struct FaultRule: Sendable, Equatable {
    /// What the rule does.
    enum Action: Sendable, Equatable {
        case delay(seconds: Double)
        case header(name: String, value: String)
        case change(DocumentChange)
        case body(String)
        case empty
        case malformed
        case cut(bytes: Int)
        case drop
        case status(Int, body: String)
        case redirect(url: String, status: Int)
        case garbage
        case endless
        case huge(bytes: Int)

        /// Whether the rule leaves room for another one on the same request.
        var combines: Bool {
            switch self {
            case .delay, .header, .change: true
            default: false
            }
        }
    }

    let service: SandboxService.Name?
    let method: String?
    let path: String
    let action: Action
    /// How many fitting requests the rule still lets pass.
    var skipped: Int
    /// How often the rule still applies; nil is always.
    var remaining: Int?

    /// Reads a rule.
    ///
    /// - Parameters:
    ///   - text: one line in the grammar above; white space at both ends is ignored.
    ///   - services: the names that the rule may use.
    /// - Throws: ``FaultRuleError``, which says what was expected.
    package init(parsing text: String, services: [SandboxService.Name]) throws(FaultRuleError) {
        var reader = FaultRuleReader(text, services: services)
        let route = try reader.route()
        service = route.service
        method = route.method
        path = route.path
        (skipped, remaining) = reader.occurrence()
        action = try reader.action()
    }

    /// Whether the rule is for this request.
    func fits(_ request: IncomingRequest, at name: SandboxService.Name) -> Bool {
        guard service == nil || service == name, method == nil || method == request.method else { return false }
        let subject = path.contains("?") ? request.target : request.path
        return path.hasSuffix("*") ? subject.hasPrefix(path.dropLast()) : subject == path
    }
}
#endif
