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

/// A request that is not done, and why; its answer has the error shape of the dossier, section 2.4.
struct RequestRefusal: Error, Sendable, Equatable {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    /// Seconds after which it may be tried again.
    var retryAfter: Int?
    /// What a 401 asks for (RFC 9110, section 11.6.1). Browsers know no such scheme, and so ask their users for no password.
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

    /// The app's own refusal, made in the closure that says who the user is.
    init(_ error: any HTTPResponseError & Sendable) {
        self.init(error.status, "refused", "This app does not allow it")
    }

    static let signInNeeded = RequestRefusal(
        .unauthorized, "unauthorized", "No user is signed in to this app", challenge: "Session")
    static let staleToken = RequestRefusal(
        .forbidden, "stale_token", "The page is older than the session; ask for the state again")
    static let crossSite = RequestRefusal(.forbidden, "cross_site", "The request comes from another site")
    static let busy = RequestRefusal(.serviceUnavailable, "unavailable", "Try again later", retryAfter: 5)
    static let internalError = RequestRefusal(.internalServerError, "internal", "This server could not do it")

    var response: Response {
        let body: JSONValue = .object([
            "type": .string("error"), "code": .string(code), "message": .string(message), "details": .array([]),
        ])
        return dressed(.json(Data(body.json.utf8), status: status))
    }

    /// The answer to a navigation: a page for people, unless JSON was asked for.
    func response(to request: Request) -> Response {
        guard !request.asksForJSON else { return response }
        let page: ResultPage =
            switch status.kind {
            case .clientError where status == .unauthorized: .logIn
            case .clientError where status != .tooManyRequests: .notForYou
            default: .later
            }
        return dressed(.page(page.html, styleHash: ResultPage.styleHash, status: status))
    }

    private func dressed(_ bare: Response) -> Response {
        var response = bare
        if let challenge { response.headers[.wwwAuthenticate] = challenge }
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        // The rest of a body that is not wanted is not waited for.
        if [.contentTooLarge, .requestTimeout].contains(status) { response.headers[.connection] = "close" }
        return response
    }
}

extension Request {
    /// Whether JSON is wanted rather than a page: browsers that navigate ask for `text/html`.
    var asksForJSON: Bool {
        let types = headers[values: .accept].flatMap { $0.split(separator: ",") }
            .map { $0.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() }
        return types.contains("application/json") && !types.contains("text/html")
    }
}

extension Response {
    /// JSON that no cache keeps.
    static func json(_ body: Data, status: HTTPResponse.Status = .ok) -> Response {
        content(body, type: "application/json; charset=utf-8", status: status)
    }

    /// A page that loads nothing, links nowhere and is not kept.
    static func page(_ html: String, styleHash: String, status: HTTPResponse.Status) -> Response {
        var response = content(Data(html.utf8), type: "text/html; charset=utf-8", status: status)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; img-src data:; style-src '\(styleHash)'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
        return response
    }

    /// Sends a browser on, by GET. The address it leaves is not told: it may hold a token.
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

    /// What every answer of this module carries.
    static var quiet: HTTPFields {
        [.cacheControl: "no-store", .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer"]
    }
}

extension HTTPField.Name {
    static let referrerPolicy = known("Referrer-Policy")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let serviceKey = known("IFTTT-Service-Key")
    static let requestID = known("X-Request-ID")

    /// A name that is a token as it is written here; nothing from outside gets here.
    private static func known(_ name: StaticString) -> HTTPField.Name {
        HTTPField.Name("\(name)") ?? .userAgent
    }
}
#endif
