#if Server
import Handshake
import Hummingbird
import IFTTTConnect

extension ConnectButtonRoutes {
    /// Handles IFTTT's redirect. Whatever it contains, the browser is immediately redirected to a URL without its
    /// parameters, so that no token stays in a page, a history entry or a referrer. Only when the vault fails the URL stays,
    /// so that a reload can retry.
    func handleRedirect(_ request: Request, _ context: Context) async -> Response {
        await failures.answering(navigation: request) {
            guard let offer = offer(request.uri.queryParameters["connection"].map { String($0) }) else {
                return .seeOther(refusedPath)
            }
            let page = (offer.page ?? settings.page).rawValue
            // A link from a mail, opened in another browser: the page asks the user to log in.
            guard let user = try await user(request, context) else { return .seeOther(page) }
            // Built from the registered URL, because an attacker can write any Host field.
            let url = settings.callbackURL + "?" + (request.uri.query ?? "")
            let step = try await sessions.handleRedirect(url, at: ConnectSessions.Place(user: user, offer: offer))
            switch step.refusal {
            // A reload, or a mail's link that was opened twice: the page shows the state.
            case nil, .noPendingAttempt: return .seeOther(page)
            case .foreign, .unreadable, .stateMissing, .otherAttempt: return .seeOther(refusedPath)
            }
        }
    }

    private var refusedPath: String { settings.address.path + "/return/refused" }
}
#endif
