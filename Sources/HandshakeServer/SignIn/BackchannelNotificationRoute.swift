#if Server
public import Handshake
public import Hummingbird
import OAuth

/// Receives the notices of servers that users have decided on their own devices. Source: CIBA Core, section 10.2.
///
/// Register the address of the route as `backchannel_client_notification_endpoint`, and give the same notifications to
/// `signInOnOwnDevice(of:as:to:bindingMessage:userCode:notifications:timeout:)`.
///
/// ```swift
/// let notifications = BackchannelNotifications()
/// BackchannelNotificationRoute<BasicRequestContext>(notifications).add(to: router, at: "ciba/ping")
/// ```
///
/// Answers with status 204; with 401 when no sign-in of this process waits for the notice. The sign-in then goes on by
/// polling.
public struct BackchannelNotificationRoute<Context: RequestContext>: Sendable {
    private let notifications: BackchannelNotifications
    private let reader: ContentReader

    /// Creates the route.
    public init(_ notifications: BackchannelNotifications, environment: SignInEnvironment = SignInEnvironment()) {
        self.notifications = notifications
        reader = ContentReader(time: environment.time, timeout: .seconds(10))
    }

    /// Adds the route to a router.
    public func add(to router: some RouterMethods<Context>, at path: RouterPath) {
        router.post(path) { request, _ in await answer(request) }
    }

    private func answer(_ request: Request) async -> Response {
        let isKnown: Bool
        do {
            let content = try await reader.content(
                of: request, type: "application/json", limit: BackchannelNotification.maximumLength)
            isKnown =
                BackchannelNotification(
                    authorization: request.headers[.authorization], content: Array(content)
                ).map(notifications.receive) ?? false
        } catch {
            return error.response
        }
        guard isKnown else {
            return RequestRefusal(.unauthorized, "unauthorized", "No sign-in waits for this", challenge: "Bearer")
                .response
        }
        return Response(status: .noContent, headers: Response.quiet)
    }
}
#endif
