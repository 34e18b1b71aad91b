#if Server && Sandbox
package import HTTPTypes
package import Hummingbird

extension Response {
    /// A text of the app. A browser keeps no copy and does not guess another type.
    package static func text(_ text: String, type: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// A page of the app, with scripts, styles and forms of its own origin only. No other page can frame it.
    ///
    /// - Parameter images: where pictures may come from, as a source list of the content security policy.
    package static func page(_ html: String, status: HTTPResponse.Status = .ok, images: String = "data:") -> Response {
        var response = text(html, type: "text/html; charset=utf-8", status: status)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src \(images); "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        return response
    }

    /// The answer to a form: the browser gets the page at `path` next.
    package static func seeOther(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }
}
#endif
