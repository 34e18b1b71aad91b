#if Sandbox
import HTTPTypes

/// The routes below `/_sandbox` by which another process steers a running sandbox.
///
/// | route | does |
/// |---|---|
/// | `GET /_sandbox` | describes the whole sandbox as JSON |
/// | `POST /_sandbox/faults` | adds fault rules, one a line; all or none |
/// | `GET /_sandbox/faults` | the named faults, each with the rules that do the same |
/// | `DELETE /_sandbox/faults` | clears all faults |
/// | `GET /_sandbox/requests` | this service's request log, one JSON object a line |
/// | `DELETE /_sandbox/requests` | clears the log of all services |
/// | `POST /_sandbox/clock` | moves the clock of all services forward by the seconds in the body; `=SECONDS` stops it at that time since 1970 |
/// | `POST /_sandbox/expire-access-tokens` | all present access tokens of this service stop working |
/// | `POST /_sandbox/revoke-refresh-tokens` | all present refresh tokens of this service stop working |
package struct ControlRoutes {
    package static let prefix = "/_sandbox"
    package static let done = Answer(status: 204)

    let server: AuthorizationServer
    let panel: ControlPanel

    static let notFound = Answer.text("There is no such control route.\n", status: 404)

    /// Whether a path belongs to the control routes, known or not.
    static func has(_ path: String) -> Bool {
        path == prefix || path.hasPrefix(prefix + "/")
    }

    var routes: [Route] { faults + log + time }

    private var faults: [Route] {
        [
            Route("POST", path: Self.prefix + "/faults", note: "add fault rules, one a line") { [panel] request in
                do throws(FaultRuleError) {
                    var rules: [FaultRule] = []
                    for line in request.text.split(whereSeparator: \.isNewline)
                    where !line.allSatisfy(\.isWhitespace) {
                        rules.append(try FaultRule(parsing: String(line), services: panel.services))
                    }
                    panel.inject(rules)
                    return Self.done
                } catch {
                    return .text("\(error)\n", status: 400)
                }
            },
            Route("GET", path: Self.prefix + "/faults", note: "the named faults") { _ in
                .json(.array(NamedFault.all.map(\.json)))
            },
            Route("DELETE", path: Self.prefix + "/faults", note: "clear all faults") { [panel] _ in
                panel.clearFaults()
                return Self.done
            },
        ]
    }

    private var log: [Route] {
        [
            Route("GET", path: Self.prefix, note: "describe the sandbox") { [panel] _ in
                guard let description = panel.description else {
                    return .text("The sandbox is still starting.\n", status: 503)
                }
                return Answer(
                    status: 200, headers: [.contentType: "application/json"], body: Array(description.utf8))
            },
            Route("GET", path: Self.prefix + "/requests", note: "the request log") { [panel, server] _ in
                let lines = panel.requests(server.dialect.name).map { $0.json.text + "\n" }
                return Answer(
                    status: 200, headers: [.contentType: "application/jsonl"], body: Array(lines.joined().utf8))
            },
            Route("DELETE", path: Self.prefix + "/requests", note: "clear the request log") { [panel] _ in
                panel.clearRequests()
                return Self.done
            },
        ]
    }

    private var time: [Route] {
        [
            Route("POST", path: Self.prefix + "/clock", note: "advance the clock") { [panel] request in
                let text = request.text.filter { !$0.isWhitespace }
                let isHeld = text.first == "="
                guard let seconds = Double(isHeld ? String(text.dropFirst()) : text), (0...1e11).contains(seconds)
                else {
                    return .text(
                        "Expected the seconds to advance by, 0 or more, as the body; or = and the seconds since 1970 "
                            + "to stop at.\n", status: 400)
                }
                if isHeld { panel.clock.hold(at: seconds) } else { panel.clock.advance(by: seconds) }
                return Self.done
            },
            Route("POST", path: Self.prefix + "/expire-access-tokens", note: "end all access tokens") { [server] _ in
                server.expireAccessTokens()
                return Self.done
            },
            Route("POST", path: Self.prefix + "/revoke-refresh-tokens", note: "end all refresh tokens") { [server] _ in
                server.revokeRefreshTokens()
                return Self.done
            },
        ]
    }
}
#endif
