#if Sandbox
import HTTPTypes
import SandboxCore

/// The control routes that only the IFTTT stand-in has.
///
/// | route | does |
/// |---|---|
/// | `POST /_sandbox/reset` | puts the fixtures back; with a number as the body, what IFTTT makes from then on follows from it |
/// | `GET /_sandbox/analytics` and one for each of ``SandboxConnectLog`` | a log, one JSON object a line |
/// | `POST /_sandbox/revoke-user-token` | ends the user token in the body, without a body all |
/// | `POST /_sandbox/publish`, `POST /_sandbox/unpublish` | changes the partner whose service id is the body |
/// | `POST /_sandbox/oauth-code` | makes a code of the partner for its user, by id or address |
/// | `POST /_sandbox/webhook-prefix` | sends webhooks to a loopback address, without a body to the partner inside |
/// | `POST /_sandbox/redirect-urls` | registers one more redirect URL with all partners |
struct SteeringRoutes: Sendable {
    let store: Store

    private var control: Steering { Steering(store: store) }

    var routes: [Route] {
        logs + [
            route("/reset", note: "put the fixtures back; a number seeds the ids to come") { control, body in
                if !body.isEmpty, UInt64(body) == nil { return Self.unclear("Expected a seed, or no body") }
                control.store.reset(seed: UInt64(body))
                return ControlRoutes.done
            },
            route("/revoke-user-token", note: "end a user token, without a body all") { control, body in
                control.revokeUserToken(body.isEmpty ? nil : body)
                    ? ControlRoutes.done : Self.unclear("There is no such user token")
            },
            route("/publish", note: "publish the partner of this service id") { control, body in
                control.setPublished(true, serviceID: body)
                    ? ControlRoutes.done : Self.unclear("There is no such partner")
            },
            route("/unpublish", note: "unpublish the partner of this service id") { control, body in
                control.setPublished(false, serviceID: body)
                    ? ControlRoutes.done : Self.unclear("There is no such partner")
            },
            route("/oauth-code", note: "a code of the partner for its user, by id or address") { control, body in
                guard let code = control.oauthCode(for: body) else { return Self.unclear("There is no such user") }
                return .uncachedJSON(["code": .string(code)])
            },
            route("/webhook-prefix", note: "send webhooks to this loopback address") { control, body in
                control.setWebhookPrefix(body.isEmpty ? nil : body)
                    ? ControlRoutes.done
                    : Self.unclear("Expected http://127.0.0.1:PORT or http://[::1]:PORT and perhaps a path")
            },
            route("/redirect-urls", note: "register one more redirect URL") { control, body in
                control.register(redirectURL: body)
                    ? ControlRoutes.done : Self.unclear("Expected an absolute URL without query and fragment")
            },
        ]
    }

    private var logs: [Route] {
        SandboxConnectLog.allCases.map { log in
            Route("GET", path: "\(ControlRoutes.prefix)/\(log.rawValue)", note: log.note) { [control] _ in
                let lines = control.entries(log).map { $0.text + "\n" }
                return Answer(
                    status: 200, headers: [.contentType: "application/jsonl"], body: Array(lines.joined().utf8))
            }
        }
    }

    private func route(
        _ path: String, note: String, _ answer: @escaping @Sendable (Steering, String) -> Answer
    ) -> Route {
        Route("POST", path: ControlRoutes.prefix + path, note: note) { [control] request in
            answer(control, request.text.filter { !$0.isWhitespace })
        }
    }

    private static func unclear(_ text: String) -> Answer {
        .text(text + ".\n", status: 400)
    }
}
#endif
