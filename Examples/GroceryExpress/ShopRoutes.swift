#if Server && Sandbox
import ExampleServer
import ConnectButton
import HTTPTypes
import HandshakeServer
import Hummingbird
import IFTTTConnect
import OAuth
import Sandbox

/// The shop's own pages.
struct ShopRoutes: Sendable {
    let shop: Shop
    let pages = ShopPages()

    func add(to router: Router<BasicRequestContext>) {
        router.get("shop.css") { _, _ in Response.text(ShopStyle.css, type: "text/css; charset=utf-8") }
        router.get("shop.js") { _, _ in Response.text(ShopStyle.script, type: "text/javascript; charset=utf-8") }
        router.get("/") { request, _ in await answering(request) { try await front($0) } }
        router.get("connections/:id") { request, context in
            let id = context.parameters.get("id")
            return await answering(request) { try await connection(id, $0) }
        }
        router.get("connections/:id/configure") { request, context in
            let id = context.parameters.get("id")
            return await answering(request) { await configuration(id, $0) }
        }
        router.post("connections/:id/configure") { request, context in
            let id = context.parameters.get("id")
            return await submitting(request) { form, visit in try await configure(id, form, visit) }
        }
        addWalks(to: router)
        WebPages.add(to: router, visits: shop.visits)
        router.get("**") { request, _ in await answering(request) { pages.missing($0) } }
        router.get("settings") { request, _ in
            let done = request.uri.queryParameters["done"].flatMap { Self.done[String($0)] }
            return await answering(request) { try await settings($0, done: done) }
        }
        router.post("settings") { request, _ in
            await submitting(request) { form, visit in try await set(form, visit, request) }
        }
        router.post("counting") { request, _ in
            await submitting(request) { form, visit in
                try await count(form["counting"] == "yes", visit, request)
                return .seeOther(LocalPath(rawValue: form["return_to"] ?? "/")?.rawValue ?? "/")
            }
        }
        router.post("forget") { request, _ in await submitting(request) { _, visit in try await forget(visit) } }
        router.post("style") { request, _ in
            await submitting(request) { form, _ in
                shop.visits.change(request) { $0.style = $0.style.next }
                return .seeOther(LocalPath(rawValue: form["return_to"] ?? "/")?.rawValue ?? "/")
            }
        }
    }

    // MARK: Pages

    /// What the settings page says after a form, by the name in its address.
    private static let done = [
        "saved": "Your settings are saved.",
        "forgotten": "You are logged out, and what the shop kept of your connections is forgotten.",
    ]

    private func front(_ visit: Visit) async throws -> Response {
        // Concurrently: a slow answer about one connection does not delay the others.
        let asked = try Shop.connections.map { name in
            let id = try ConnectionID(name)
            return Task { await card(id, visit) }
        }
        var cards: [ShopPages.Card] = []
        for card in asked { cards.append(await card.value) }
        return pages.front(cards, visit)
    }

    private func card(_ id: ConnectionID, _ visit: Visit) async -> ShopPages.Card {
        async let connection = shop.description(of: id, for: visit.customer)
        async let shown = answer(id, visit)
        let step = await shown?.state.step
        return ShopPages.Card(
            id: id, connection: await connection, step: visit.customer == nil ? nil : step ?? .loading)
    }

    /// What the customer's button shows: the shop says the same. Nil when it takes longer than a page waits: the button then
    /// fetches it by itself.
    private func answer(_ id: ConnectionID, _ visit: Visit) async -> ConnectButtonAnswer? {
        guard let customer = visit.customer else { return nil }
        let buttons = shop.buttons(of: visit)
        return await shop.soon {
            try? await buttons.answer(
                for: try ConnectButtonUser(id: customer, suggestedEmail: visit.email), connection: id,
                in: ConnectButtonLocale(preferred: [visit.locale]))
        }
    }

    private func connection(_ id: String?, _ visit: Visit) async throws -> Response {
        guard let id = known(id) else { return pages.missing(visit) }
        let connection = await shop.description(of: id, for: visit.customer)
        let answer = visit.isPrefetched ? await answer(id, visit) : nil
        let asks = try await asksWhetherToCount(visit)
        return pages.connection(
            id, connection, answer, visit, asks: asks, iconOrigin: shop.hosts.site.origin.description)
    }

    /// Counting needs the customer's consent; a customer who has answered is not asked again.
    private func asksWhetherToCount(_ visit: Visit) async throws -> Bool {
        guard let customer = visit.customer, !visit.asked.contains(customer) else { return false }
        return try await !shop.analytics.isAllowed(for: customer)
    }

    private func configuration(
        _ id: String?, _ visit: Visit, _ entry: ConfigurationPage.Entry = .init()
    ) async -> Response {
        guard let id = known(id) else { return pages.missing(visit) }
        do {
            let found = try await soon { try await questions(about: id, visit.customer) }
            // There is something to configure only once it is on.
            guard let found else { return .seeOther("/connections/\(id)") }
            return pages.configuration(id, found, visit, entry)
        } catch {
            var entry = entry
            let isSaving = !entry.fields.isEmpty && entry.searched == nil
            entry.problem = entry.problem ?? Self.words(for: error, isSaving: isSaving)
            return pages.configuration(id, nil, visit, entry)
        }
    }

    /// What the customer can configure; nil while the connection is not on.
    private func questions(about id: ConnectionID, _ customer: String?) async throws -> ConfigurationQuestions? {
        let connection = try await shop.connection(id, of: customer)
        guard connection.status == .enabled else { return nil }
        return ConfigurationQuestions(connection, options: try await options(of: connection, customer))
    }

    /// What IFTTT answers, if it does so while a page waits.
    private func soon<Answer: Sendable>(_ work: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
        let result = await shop.soon { () -> Result<Answer, any Error>? in
            do {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw Silence() }
        return try result.get()
    }

    /// IFTTT takes longer than a page waits.
    private struct Silence: Error {}

    private func settings(_ visit: Visit, done: String?) async throws -> Response {
        let isCounted =
            if let customer = visit.customer { try await shop.analytics.isAllowed(for: customer) } else { false }
        return pages.settings(
            shop.sandbox.ifttt.users.map { ($0.subject, $0.displayName) }, visit, isCounted: isCounted, done: done)
    }

    func known(_ id: String?) -> ConnectionID? {
        id.flatMap { Shop.connections.contains($0) ? ConnectionID(rawValue: $0) : nil }
    }

    // MARK: Forms

    /// What can be chosen from lists, by the names of the questions.
    private func options(of connection: Connection, _ customer: String?) async throws -> [String: [FieldValue.Option]] {
        guard let customer else { return [:] }
        var options: [String: [FieldValue.Option]] = [:]
        for (id, owner, fields) in ConfigurationQuestions.owners(in: connection) {
            let found = try await shop.service.fieldOptions(of: owner, in: connection.id, for: customer)
            for field in fields where field.type == .select {
                options[ConfigurationQuestions.name(of: field, in: id)] = found[field.id]
            }
        }
        return options
    }

    /// Turns the configuration on that the customer chose on the shop's own page (dossier 2.9), and tells the button.
    private func configure(_ id: String?, _ form: [String: String], _ visit: Visit) async throws -> Response {
        guard let id = known(id), let customer = visit.customer else { return pages.missing(visit) }
        var entry = ConfigurationPage.Entry(fields: form)
        guard entry.searched == nil else { return await configuration(id.rawValue, visit, entry) }
        do {
            let connection = try await soon { try await shop.connection(id, of: customer) }
            let wanted = try ConfigurationForm(form).configuration(of: connection)
            _ = try await shop.service.update(id, to: wanted, for: customer)
            try await shop.own.configurationSaved(
                id, for: try ConnectButtonUser(id: customer, suggestedEmail: visit.email))
        } catch let error as ConfigurationProblem {
            entry.problem = error.text
        } catch let error as Silence {
            entry.problem = Self.words(for: error, isSaving: true)
            return pages.configuration(id, nil, visit, entry)
        } catch let error as ConnectError {
            entry.problem = Self.words(for: error, isSaving: true)
        }
        guard entry.problem == nil else { return await configuration(id.rawValue, visit, entry) }
        return .seeOther("/connections/\(id)")
    }

    /// What a customer reads when IFTTT did not answer or did not take a configuration; the error's own words are a
    /// developer's.
    private static func words(for error: any Error, isSaving: Bool) -> String {
        switch (error as? ConnectError)?.problemKind {
        case .malformedRequest, .invalidParameters: "IFTTT does not take these values. Change them and save again."
        case .unauthorized, .forbidden, .notFound: "This is not connected any more. Connect it again first."
        default:
            isSaving
                ? "IFTTT does not answer just now, and nothing is saved yet. Save again in a moment."
                : "IFTTT does not answer just now. Try again in a moment."
        }
    }

    private func count(_ isAllowed: Bool, _ visit: Visit, _ request: Request) async throws {
        guard let customer = visit.customer else { return }
        if isAllowed {
            try await shop.analytics.allow(for: customer)
        } else {
            try await shop.analytics.refuse(for: customer)
        }
        shop.visits.change(request) { _ = $0.asked.insert(customer) }
    }

    /// Removes what the shop keeps of a customer, as for an account that is deleted. The log-in goes first, so that no open
    /// page begins again what is being forgotten.
    private func forget(_ visit: Visit) async throws -> Response {
        if let customer = visit.customer {
            shop.visits.logOut(customer)
            shop.phones.forget(customer)
            for buttons in [shop.own, shop.hosted] { try await buttons.forget(try ConnectButtonUser(id: customer)) }
        }
        return .seeOther("/settings?done=forgotten")
    }

    private func set(_ form: [String: String], _ visit: Visit, _ request: Request) async throws -> Response {
        // The box is about the customer for whom the page was made.
        let isCounted = form["counting"] == "on"
        if let customer = visit.customer, try await shop.analytics.isAllowed(for: customer) != isCounted {
            try await count(isCounted, visit, request)
        }
        let wanted = form["customer"] ?? ""
        let customer = shop.sandbox.ifttt.users.contains { $0.subject == wanted } ? wanted : nil
        var email = String((form["email"] ?? "").prefix(254))
        // A new address each time: the new-user flow, over and over. The last one's mark goes.
        if form["new_user"] == "on", let mark = email.firstIndex(of: "@") {
            let name = email[..<mark].prefix { $0 != "+" }
            email = name + "+" + Base64URL.encode(RandomSource.system.bytes(6)).lowercased() + email[mark...]
        }
        shop.visits.change(request) { [email] visit in
            visit.customer = customer
            visit.email = email
            visit.usesOwnConfiguration = form["own_configuration"] == "on"
            visit.isPrefetched = form["prefetched"] == "on"
            visit.hasToken = form["token"] == "on"
            visit.locale = ConnectButtonLocale(rawValue: form["locale"] ?? "")?.tag ?? ""
        }
        return .seeOther("/settings?done=saved")
    }

    // MARK: Around every page

    func answering(_ request: Request, _ body: (Visit) async throws -> Response) async -> Response {
        let (_, visit, cookie) = shop.visits.visit(of: request)
        var response: Response
        do {
            response = try await body(visit)
        } catch {
            response = pages.trouble(visit)
        }
        if let cookie { response.setCookie(cookie) }
        return response
    }

    /// A form counts from the page that was made for this browser.
    func submitting(
        _ request: Request, _ body: ([String: String], Visit) async throws -> Response
    ) async -> Response {
        // A form makes no visit: whose page it comes from has one.
        guard let visit = shop.visits.known(request) else { return pages.stale(Visit()) }
        guard let content = try? await request.body.collect(upTo: 16_384),
            let form = FormFields(String(buffer: content)).values,
            Secret(visit.formToken).matches(Secret(form["form_token"] ?? ""))
        else { return pages.stale(visit) }
        do {
            return try await body(form, visit)
        } catch {
            return pages.trouble(visit)
        }
    }
}
#endif
