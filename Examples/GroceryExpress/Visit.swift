#if Server && Sandbox
import HTTPTypes
import Hummingbird
import OAuth
import Synchronization

/// What the shop remembers of one browser: who is signed in, and the settings of the sample (F108).
struct Visit: Sendable {
    /// Proves that a form was made for this browser.
    let formToken = Base64URL.encode(RandomSource.system.bytes(24))
    /// The customer's number at the shop; nil while no user is signed in.
    var customer: String?
    var email = "new@example.test"
    var usesOwnConfiguration = true
    /// Whether the connection is handed to the page, instead of fetched by the button.
    var isPrefetched = false
    /// Whether the shop's server fetches a user token with its service key.
    var hasToken = false
    var locale = ""
    /// The customers who answered, in this browser, whether IFTTT may count. What they answered is in the vault.
    var asked: Set<String> = []
    var style = Style.dynamic

    /// The styles that the switch goes through (F110).
    enum Style: String, Sendable, CaseIterable {
        case dynamic, light, dark

        var next: Style {
            switch self {
            case .dynamic: .light
            case .light: .dark
            case .dark: .dynamic
            }
        }

        var label: String {
            switch self {
            case .dynamic: "Colours: as the device"
            case .light: "Colours: light"
            case .dark: "Colours: dark"
            }
        }
    }
}

/// The visits, by a cookie; the newest thousand.
///
/// A class, since requests share it.
final class Visits: Sendable {
    private static let cookie = "grocery_visit"
    private let held = Mutex<(visits: [String: Visit], order: [String])>(([:], []))

    /// The visit of a browser, or a new one with the cookie that its answer has to set.
    func visit(of request: Request) -> (id: String, visit: Visit, cookie: Cookie?) {
        if let id = request.cookies[Self.cookie]?.value, let visit = held.withLock({ $0.visits[id] }) {
            return (id, visit, nil)
        }
        let id = Base64URL.encode(RandomSource.system.bytes(24))
        var visit = Visit()
        visit.customer = "garden-1005"
        held.withLock { held in
            if held.order.count >= 1000 { held.visits[held.order.removeFirst()] = nil }
            held.order.append(id)
            held.visits[id] = visit
        }
        return (id, visit, Cookie(name: Self.cookie, value: id, path: "/", sameSite: .lax))
    }

    /// Who is signed in, for routes that set no cookie.
    func known(_ request: Request) -> Visit? {
        request.cookies[Self.cookie].flatMap { cookie in held.withLock { $0.visits[cookie.value] } }
    }

    /// Changes the visit of a browser as it is then, so that of two forms sent concurrently none is lost; nothing is left to
    /// change of one that was forgotten.
    func change(_ request: Request, _ body: @Sendable (inout Visit) -> Void) {
        guard let id = request.cookies[Self.cookie]?.value else { return }
        held.withLock { held in
            guard var visit = held.visits[id] else { return }
            body(&visit)
            held.visits[id] = visit
        }
    }

    /// Logs a customer out of every browser.
    func logOut(_ customer: String) {
        held.withLock { held in
            for (id, visit) in held.visits where visit.customer == customer { held.visits[id]?.customer = nil }
        }
    }

    /// Whether some browser of this customer's has asked for a token.
    func wantsToken(_ customer: String) -> Bool {
        held.withLock { $0.visits.values.contains { $0.customer == customer && $0.hasToken } }
    }
}
#endif
