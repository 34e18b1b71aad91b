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
/// standard POST /token => member token_type mac       the usual answer with another value in that member
/// ifttt /v2/me => malformed #3                        the third answer alone is JSON that breaks off
/// ifttt POST /v2/sdk/events => empty                  the usual status without a body
/// standard POST /token => id_token claim nonce wrong  the usual ID token with another nonce
/// id-token:wrong-nonce x1                             the same by its name, once
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
/// | `member NAME VALUE` | yes | members of this name in a JSON answer get this value, JSON or text, or one is added |
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
/// | `TEXT claim NAME VALUE` | yes | the claim of a signed text has this value: JSON, or text |
/// | `TEXT claim NAME -` | yes | the claim is left out |
/// | `TEXT claim NAME x2` | yes | the claim stands there twice |
/// | `TEXT header NAME VALUE` | yes | the same for a member of the header; `-` leaves it out |
/// | `TEXT sign KEY` | yes | another key signs: `other`, `unknown`, `damaged`, `none`, `HS256`, `ES384`, `EdDSA`, `RS256`, `PS256` |
/// | `TEXT late SECONDS` | yes | every time in the text is earlier by so much; below 0 later |
///
/// **TEXT** is a signed text of the standard server: `id_token`, `response` (JARM), `userinfo`, `introspection` or
/// `logout_token`. It is signed after the change, so a client that refuses it has looked at the claim. ``NamedFault/all`` has
/// names for those that client developers need; a name stands in place of a rule, with `#N` and `xN` after it.
///
/// Rules are tried in the order in which they came. `delay`, `header`, the changes to JSON and those to signed texts
/// combine with each other and with the first fitting rule of the other kinds that comes after them; what comes after that
/// one is not applied. `/_sandbox` routes have no faults, so a rule can always be cleared; only
/// the logout token that `/_sandbox/logout-token` makes can be changed.
public struct FaultRule: Sendable, Equatable {
    /// What the rule does.
    enum Action: Sendable, Equatable {
        case delay(seconds: Double)
        case header(name: String, value: String)
        case change(DocumentChange)
        case signed(SignedTextKind, [SignedTextChange])
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
            case .delay, .header, .change, .signed: true
            default: false
            }
        }

        var isAboutSignedTexts: Bool {
            if case .signed = self { true } else { false }
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
        let named = try reader.namedFault()
        let routeReader = named.map { FaultRuleReader($0.rules.first ?? "", services: services) } ?? reader
        let route = try routeReader.route()
        service = route.service
        method = route.method
        path = route.path
        (skipped, remaining) = reader.occurrence()
        guard let named else {
            action = try reader.action()
            return
        }
        guard reader.isAtEnd else { throw .nameUnknown(found: text) }
        var changes: [SignedTextChange] = []
        for change in named.changes { changes.append(try reader.signedTextChange(change, of: named.kind.rawValue)) }
        action = .signed(named.kind, changes)
    }

    /// Whether the rule is for this request.
    func fits(_ request: IncomingRequest, at name: SandboxService.Name) -> Bool {
        guard service == nil || service == name, method == nil || method == request.method else { return false }
        let subject = path.contains("?") ? request.target : request.path
        return path.hasSuffix("*") ? subject.hasPrefix(path.dropLast()) : subject == path
    }
}
#endif
