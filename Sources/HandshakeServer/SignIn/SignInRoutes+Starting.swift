#if Server
import HTTPTypes
import Handshake
import Hummingbird
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A sign-in starts by the act of the user alone (`any-server.md` 9): from a page of the app's own, or in a browser that the app
/// itself has opened. What a foreign page or a message leads to asks first.
extension SignInRoutes {
    func addStarting(to router: some RouterMethods<Context>) {
        router.get(":service/start") { request, context in
            await failures.answering(navigation: request) {
                try siteCheck.check(request)
                return try await opened(request, try await visitor(request, context))
            }
        }
        router.post(":service/start") { request, context in
            await failures.answering(navigation: request) {
                try siteCheck.check(request)
                return try await confirmed(request, try await visitor(request, context))
            }
        }
        router.post(":service/ticket") { request, context in
            await failures.answering {
                try siteCheck.check(request)
                return try await ticket(try await visitor(request, context))
            }
        }
    }

    /// A browser has opened the address.
    private func opened(_ request: Request, _ visitor: Visitor) async throws -> Response {
        let page = try Self.returnPage(request.uri.queryParameters["return_to"].map { String($0) })
        if try await isOfApp(request, visitor) { return try await start(request, visitor, returningTo: page) }
        guard !request.asksForJSON else {
            throw RequestRefusal(
                .forbidden, "unconfirmed",
                "This request did not come from a page of the app. POST the anti-forgery token from GET :service to this "
                    + "address.")
        }
        let token = try await tokens.token(of: visitor.user, for: visitor.service.name)
        let asking = ConnectPage(
            service: visitor.service.displayName, action: "start",
            fields: [("token", token.reveal()), ("return_to", page.rawValue)], language: request.language)
        return .formPage(asking.html, styleHash: ConnectPage.styleHash)
    }

    /// Whether a page of the app's own has led here, as the browser says, or the app has opened the browser with a ticket.
    private func isOfApp(_ request: Request, _ visitor: Visitor) async throws -> Bool {
        // A picture in a comment, say, is no act of the user. Browsers released before 2023 do not say what they load.
        guard [nil, "document"].contains(request.headers[.secFetchDest]) else { return false }
        if request.headers[.secFetchSite] == "same-origin" { return true }
        guard let ticket = request.uri.queryParameters["ticket"] else { return false }
        return try await tokens.isTicket(String(ticket), of: visitor.user, for: visitor.service.name, now: time.now())
    }

    /// A form of the app's own pages has been posted.
    private func confirmed(_ request: Request, _ visitor: Visitor) async throws -> Response {
        let form = try await reader.content(
            of: request, type: "application/x-www-form-urlencoded", limit: Self.maximumFormLength)
        let token = Self.field("token", of: form) ?? ""
        try await tokens.check(
            token, of: visitor.user, for: visitor.service.name, otherwise: token.isEmpty ? .staleToken : .otherUser)
        return try await start(request, visitor, returningTo: Self.returnPage(Self.field("return_to", of: form)))
    }

    /// The app asks for a ticket in the name of its user. Pages of other sites cannot read the answer.
    private func ticket(_ visitor: Visitor) async throws -> Response {
        let ticket = try await tokens.ticket(of: visitor.user, for: visitor.service.name, now: time.now())
        return .json(Data(JSONValue.object(["ticket": .string(ticket)]).json.utf8))
    }

    private func start(
        _ request: Request, _ visitor: Visitor, returningTo page: LocalPath
    ) async throws -> Response {
        try limit.check(visitor.user, now: time.now())
        cleaning.beginIfDue()
        let known = cookies.browser(of: request)
        let new = known == nil ? cookies.newBrowser() : nil
        guard let browser = known ?? new?.browser else { throw RequestRefusal.internalError }
        let attempt = try await handshake.beginSignIn(
            as: visitor.user, to: visitor.service.name, noting: SignInNote(browser: browser, page: page).text)
        var response = Response.seeOther(attempt.page.url)
        for cookie in new?.cookies ?? [] { response.setCookie(cookie) }
        return response
    }

    private static func returnPage(_ wanted: String?) throws(RequestRefusal) -> LocalPath {
        guard let page = LocalPath(rawValue: wanted ?? "/") else {
            throw RequestRefusal(.badRequest, "invalid_parameters", "return_to must be a path of this app")
        }
        return page
    }

    /// The value of a form's field; nil when it is missing, there twice, or encoded wrongly.
    private static func field(_ name: String, of form: Data) -> String? {
        let start = Array("\(name)=".utf8)
        let values = form.split(separator: UInt8(ascii: "&")).filter { $0.starts(with: start) }
        guard values.count == 1 else { return nil }
        return PercentEncoding.decodeForm(values[0].dropFirst(start.count))
    }
}
#endif
