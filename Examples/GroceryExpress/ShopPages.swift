#if Server && Sandbox
import ExampleServer
import ConnectButton
import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import IFTTTConnect
import Mustache

/// The pages as HTML. All text is text: templates escape whatever they are given.
struct ShopPages: Sendable {
    private static let frame = template(
        """
        <!doctype html>
        <html lang="en" class="{{style}}">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{title}} · Grocery Express</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="/shop.css">
        <script type="module" src="{{base}}/connect-button.js"></script>
        <script type="module" src="/shop.js"></script>
        </head>
        <body>
        <header><nav aria-label="Shop"><a class="brand" href="/">Grocery Express</a> <a href="/settings">Settings</a></nav>
        <form method="post" action="/style"><input type="hidden" name="form_token" value="{{token}}">\
        <input type="hidden" name="return_to" value="{{path}}"><button class="plain">{{styleLabel}}</button></form></header>
        <main>
        <h1>{{title}}</h1>
        {{{content}}}
        </main>
        <footer><p>A sample on this machine: IFTTT is a stand-in, and nothing you do here leaves it. Only
        <code>/react.html</code>, a page to copy, loads React from unpkg.com.</p></footer>
        </body>
        </html>

        """)

    private static let front = template(
        """
        <p>What the shop can do for you with IFTTT.</p>
        <ul class="cards">
        {{#connections}}
        <li><h2><a href="/connections/{{id}}">{{name}}</a></h2><p>{{description}}</p>
        <p class="state">{{state}}</p></li>
        {{/connections}}
        </ul>
        """)

    private static let connection = template(
        """
        {{#cover}}<img class="cover" src="{{.}}" alt="" width="1080" height="540">{{/cover}}
        <p>{{description}}</p>
        {{#customer}}
        <connect-button connection="{{id}}" base="{{base}}"{{#locale}} locale="{{.}}"{{/locale}}>{{{answer}}}</connect-button>
        <p id="notice" role="status"></p>
        {{#configurable}}
        <p id="configure" hidden><a href="/connections/{{id}}/configure">Choose where and what</a></p>
        {{/configurable}}
        {{#walkable}}
        <p id="walk" hidden><a href="/connections/{{id}}/walk">Take a walk</a></p>
        {{/walkable}}
        {{#asks}}
        <form method="post" action="/counting" class="question" aria-labelledby="counting">
        <input type="hidden" name="form_token" value="{{token}}"><input type="hidden" name="return_to" value="/connections/{{id}}">
        <h2 id="counting">May IFTTT count how this button is used?</h2>
        <p>IFTTT counts views and taps under a random ID. You can change this in the settings.</p>
        <p class="ways"><button class="plain" name="counting" value="yes">Yes, it may</button>
        <button class="plain" name="counting" value="no">No</button></p>
        </form>
        {{/asks}}
        {{/customer}}
        {{^customer}}
        <p><a href="/settings">Log in to the shop</a> to connect it.</p>
        {{/customer}}
        <h2>What it does</h2>
        <ul class="features">
        {{#features}}
        <li><img src="{{icon}}" alt="" width="32" height="32"><span>{{title}}{{#details}}<br><small>{{.}}</small>{{/details}}</span></li>
        {{/features}}
        </ul>
        """)

    private static let settings = template(
        """
        <div role="status">{{#done}}<p class="done">{{.}}</p>{{/done}}</div>
        <form method="post" action="/settings">
        <input type="hidden" name="form_token" value="{{token}}">
        <p class="field"><label for="customer">Logged in to the shop as</label><select id="customer" name="customer">
        <option value="">no customer</option>
        {{#customers}}<option value="{{id}}"{{#chosen}} selected{{/chosen}}>{{name}}</option>{{/customers}}
        </select></p>
        <p class="field"><label for="email">Suggested e-mail address</label>
        <input id="email" name="email" type="email" autocomplete="email" value="{{email}}"></p>
        <p class="check"><input id="new_user" name="new_user" type="checkbox"><label for="new_user">Use a new address each time</label></p>
        <p class="check"><input id="token" name="token" type="checkbox"{{#hasToken}} checked{{/hasToken}}>\
        <label for="token">The shop fetches the user's IFTTT token</label></p>
        <p class="check"><input id="own" name="own_configuration" type="checkbox"{{#own}} checked{{/own}}>\
        <label for="own">Configure on the shop's own page</label></p>
        <p class="check"><input id="prefetched" name="prefetched" type="checkbox"{{#prefetched}} checked{{/prefetched}}>\
        <label for="prefetched">Send the connection with the page</label></p>
        {{#customer}}
        <p class="check"><input id="counting" name="counting" type="checkbox"{{#counted}} checked{{/counted}}>\
        <label for="counting">IFTTT may count how you use its buttons</label></p>
        {{/customer}}
        <p class="field"><label for="locale">Language of the button</label><select id="locale" name="locale">
        <option value="">as the browser</option>
        {{#locales}}<option{{#chosen}} selected{{/chosen}}>{{tag}}</option>{{/locales}}
        </select></p>
        <p><button>Save</button></p>
        </form>
        {{#loggedIn}}
        <form method="post" action="/forget">
        <input type="hidden" name="form_token" value="{{token}}">
        <p>The shop logs you out everywhere and forgets what it keeps of your connections. At IFTTT they stay as they are.</p>
        <p><button class="plain">Forget me</button></p>
        </form>
        {{/loggedIn}}
        """)

    /// A template of our own text; one with a mistake would show at the first look at the page.
    private static func template(_ text: String) -> MustacheTemplate? {
        try? MustacheTemplate(string: text)
    }

    // MARK: Pages

    /// A connection on the front page.
    struct Card {
        let id: ConnectionID
        /// As IFTTT describes it; nil when it has never answered.
        let connection: Connection?
        /// What the customer's button shows, `loading` while that is unknown; nil for a visitor who is not logged in.
        let step: ConnectButtonState.Step?

        fileprivate var values: [String: Any] {
            [
                "id": id.rawValue, "name": connection?.name ?? id.rawValue,
                "description": connection?.description ?? ShopPages.silence, "state": state,
            ]
        }

        private var state: String {
            switch step {
            case .connected: "Connected"
            case .pending: "Almost connected: choose where and what"
            case .loading: "Waiting for IFTTT. Reload this page in a moment."
            case .loadingFailed: ShopPages.silence
            default: "Not connected"
            }
        }
    }

    /// True also when IFTTT answers a button of the page later.
    fileprivate static let silence = "IFTTT did not answer when this page was loaded."

    func front(_ cards: [Card], _ visit: Visit) -> Response {
        page(
            "Your groceries, by themselves", Self.front?.render(["connections": cards.map(\.values)]), visit, path: "/")
    }

    /// - Parameter connection: nil when IFTTT has never answered; the button is there anyway, and says so.
    func connection(
        _ id: ConnectionID, _ connection: Connection?, _ answer: ConnectButtonAnswer?, _ visit: Visit, asks: Bool,
        iconOrigin: String
    ) -> Response {
        let features = (connection?.features ?? []).map {
            Self.present(["title": $0.title, "details": $0.details, "icon": $0.iconURL.rawValue])
        }
        let content: [String: Any?] = [
            "id": id.rawValue, "description": connection?.description ?? Self.silence, "base": base(visit),
            "customer": visit.customer, "asks": asks ? "yes" : nil, "token": visit.formToken,
            "locale": visit.locale.isEmpty ? nil : visit.locale,
            "answer": answer.flatMap { try? $0.body() }.map(Self.inside),
            // A page of 46 rem at most, and a screen with fine pixels.
            "cover": connection?.coverImage?.url(layoutWidth: 500, scale: 2)?.rawValue,
            "configurable": visit.usesOwnConfiguration ? "yes" : nil,
            "walkable": connection?.monitorsAreas == true ? "yes" : nil, "features": features,
        ]
        return page(
            connection?.name ?? "Your groceries, by themselves", Self.connection?.render(Self.present(content)), visit,
            path: "/connections/\(id)", iconOrigin: iconOrigin)
    }

    /// What there is: a template takes an optional's nil for a value.
    private static func present(_ values: [String: Any?]) -> [String: Any] {
        values.compactMapValues(\.self)
    }

    /// JSON inside a page: nothing in it can end the element.
    private static func inside(_ json: Data) -> String {
        let text = String(decoding: json, as: UTF8.self).replacingOccurrences(of: "<", with: "\\u003c")
        return "<script type=\"application/json\">\(text)</script>"
    }

    /// - Parameter questions: nil when IFTTT has not said what can be configured.
    func configuration(
        _ id: ConnectionID, _ questions: ConfigurationQuestions?, _ visit: Visit, _ entry: ConfigurationPage.Entry
    ) -> Response {
        let content =
            if let questions {
                ConfigurationPage(screen: questions, entry: entry).render(token: visit.formToken)
            } else {
                ConfigurationPage.renderNotice(id, entry, token: visit.formToken)
            }
        return page(
            "Choose where and what", content, visit, path: "/connections/\(id)/configure",
            status: questions == nil ? .serviceUnavailable : entry.problem == nil ? .ok : .unprocessableContent)
    }

    func walk(_ id: ConnectionID, _ areas: [Area], _ diary: Diary, _ visit: Visit) -> Response {
        let walk = WalkPage(
            id: id, areas: areas, diary: diary, isConfigurable: visit.usesOwnConfiguration,
            now: TimeSource.system.now())
        return page("Take a walk", walk.render(token: visit.formToken), visit, path: "/connections/\(id)/walk")
    }

    /// - Parameter done: what the last form has done; nil for a page without one.
    func settings(
        _ customers: [(id: String, name: String)], _ visit: Visit, isCounted: Bool, done: String? = nil
    ) -> Response {
        let content: [String: Any?] = [
            "done": done, "token": visit.formToken, "email": visit.email, "hasToken": visit.hasToken ? "yes" : nil,
            "customer": visit.customer, "counted": isCounted ? "yes" : nil,
            "own": visit.usesOwnConfiguration ? "yes" : nil, "loggedIn": visit.customer.map { _ in "yes" },
            "prefetched": visit.isPrefetched ? "yes" : nil,
            "customers": customers.map {
                Self.present(["id": $0.id, "name": $0.name, "chosen": $0.id == visit.customer ? "yes" : nil])
            },
            "locales": ConnectButtonLocale.allCases.map {
                Self.present(["tag": $0.tag, "chosen": $0.tag == visit.locale ? "yes" : nil])
            },
        ]
        return page("Settings", Self.settings?.render(Self.present(content)), visit, path: "/settings")
    }

    func missing(_ visit: Visit) -> Response {
        page("There is no such page", "<p><a href=\"/\">To the shop</a></p>", visit, path: "/", status: .notFound)
    }

    func stale(_ visit: Visit) -> Response {
        page("This page is too old", "<p><a href=\"/\">Begin again</a></p>", visit, path: "/", status: .forbidden)
    }

    func trouble(_ visit: Visit) -> Response {
        let text = "<p>IFTTT does not answer just now. Try again in a moment.</p><p><a href=\"/\">To the shop</a></p>"
        return page("That did not work", text, visit, path: "/", status: .badGateway)
    }

    // MARK: Around every page

    private func base(_ visit: Visit) -> String {
        visit.usesOwnConfiguration ? "/connect/own" : "/connect/hosted"
    }

    private func page(
        _ title: String, _ content: String?, _ visit: Visit, path: String, status: HTTPResponse.Status = .ok,
        iconOrigin: String = ""
    ) -> Response {
        let html = Self.frame?.render([
            "title": title, "content": content ?? "", "base": base(visit), "token": visit.formToken, "path": path,
            "style": visit.style.rawValue, "styleLabel": visit.style.label,
        ])
        return .page(html ?? "", status: status, images: "'self' data: \(iconOrigin)")
    }
}

extension Connection {
    /// Whether a trigger of it asks for an area.
    fileprivate var monitorsAreas: Bool {
        features.flatMap(\.triggers).flatMap(\.fields).contains { $0.type.crossings != nil }
    }
}
#endif
