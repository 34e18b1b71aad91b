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

/// The refusal of a request; its response has the error shape of the dossier, section 2.4.
struct RequestRefusal: Error, Sendable, Equatable {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    /// Seconds after which the request may be retried.
    var retryAfter: Int?
    /// The challenge of a 401 (RFC 9110, section 11.6.1). Browsers know no such scheme, so they show no password prompt.
    var challenge: String?

    init(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, retryAfter: Int? = nil,
        challenge: String? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.challenge = challenge
    }

    /// A refusal by the app's own closure.
    init(_ error: any HTTPResponseError & Sendable) {
        self.init(error.status, "refused", "This app does not allow it")
    }

    static let signInNeeded = RequestRefusal(
        .unauthorized, "unauthorized", "No user is signed in to this app", challenge: "Session")
    static let staleToken = RequestRefusal(
        .forbidden, "stale_token", "The page is older than the session; fetch the state again")
    /// A form of a page that another user of the browser had opened.
    static let otherUser = RequestRefusal(
        .forbidden, "stale_token", "You are logged in as another user now; start again in the app")
    static let crossSite = RequestRefusal(.forbidden, "cross_site", "The request comes from another site")
    static let busy = RequestRefusal(.serviceUnavailable, "unavailable", "Try again later", retryAfter: 5)
    static let internalError = RequestRefusal(.internalServerError, "internal", "Internal server error")

    var response: Response {
        let body: JSONValue = .object([
            "type": .string("error"), "code": .string(code), "message": .string(message), "details": .array([]),
        ])
        return dressed(.json(Data(body.json.utf8), status: status))
    }

    /// The response to a navigation: a page, unless JSON was requested.
    func response(to request: Request) -> Response {
        guard !request.asksForJSON else { return response }
        let page: ResultPage =
            switch status.kind {
            case .clientError where self == .otherUser: .otherUser(language: request.language)
            case .clientError where status == .unauthorized: .logIn(language: request.language)
            case .clientError where status != .tooManyRequests: .notForYou(language: request.language)
            default: .later(language: request.language)
            }
        return dressed(.page(page.html, styleHash: ResultPage.styleHash, status: status))
    }

    private func dressed(_ bare: Response) -> Response {
        var response = bare
        if let challenge { response.headers[.wwwAuthenticate] = challenge }
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        // Closes the connection instead of reading the rest of the body.
        if [.contentTooLarge, .requestTimeout].contains(status) { response.headers[.connection] = "close" }
        return response
    }
}

extension Request {
    /// The language that the browser asks for; the server's own where it asks for none.
    var language: Language {
        let preferences = AcceptLanguage.preferences(in: headers[.acceptLanguage])
        return preferences.isEmpty ? .user : Language(preferred: preferences)
    }

    /// Whether JSON was requested rather than a page: navigating browsers accept `text/html`.
    var asksForJSON: Bool {
        let types = headers[values: .accept].flatMap { $0.split(separator: ",") }
            .map { $0.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() }
        return types.contains("application/json") && !types.contains("text/html")
    }
}

extension Response {
    /// JSON that is not cached.
    static func json(_ body: Data, status: HTTPResponse.Status = .ok) -> Response {
        content(body, type: "application/json; charset=utf-8", status: status)
    }

    /// A page that loads nothing, links nowhere and is not cached.
    static func page(_ html: String, styleHash: String, status: HTTPResponse.Status) -> Response {
        var response = content(Data(html.utf8), type: "text/html; charset=utf-8", status: status)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; img-src data:; style-src '\(styleHash)'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
        return response
    }

    /// The page for a redirect that belongs to no sign-in of this browser.
    static func notForYou(_ request: Request) -> Response {
        .page(
            ResultPage.notForYou(language: request.language).html, styleHash: ResultPage.styleHash, status: .badRequest)
    }

    /// A page that loads nothing, is not cached, and has a form for this server.
    ///
    /// Without `form-action`: some browsers hold the redirects of a form against it too, and these lead on to any other site, or to an
    /// app by its private scheme, which no source expression but the scheme's own allows. Its own server sees where the form comes
    /// from, as ``SiteCheck`` needs it.
    static func formPage(_ html: String, styleHash: String, status: HTTPResponse.Status = .ok) -> Response {
        var response = page(html, styleHash: styleHash, status: status)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; img-src data:; style-src '\(styleHash)'; base-uri 'none'; frame-ancestors 'none'"
        response.headers[.referrerPolicy] = PlainPage.formReferrerPolicy
        return response
    }

    /// Redirects a browser by GET, without a referrer: the URL may contain a token.
    static func seeOther(_ location: String) -> Response {
        var response = Response(status: .seeOther, headers: quiet)
        response.headers[.location] = location
        return response
    }

    private static func content(_ body: Data, type: String, status: HTTPResponse.Status) -> Response {
        var response = Response(status: status, headers: quiet, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        response.headers[.contentType] = type
        return response
    }

    /// The header fields of every response of this module.
    static var quiet: HTTPFields {
        [.cacheControl: "no-store", .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer"]
    }
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name(constant: "Referrer-Policy")
    static let secFetchSite = HTTPField.Name(constant: "Sec-Fetch-Site")
    static let secFetchDest = HTTPField.Name(constant: "Sec-Fetch-Dest")
}
#endif
