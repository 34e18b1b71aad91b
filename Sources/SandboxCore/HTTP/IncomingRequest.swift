package import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One request as the stand-ins see it: read completely, its query and form taken apart.
package struct IncomingRequest: Sendable {
    package let method: String
    /// Path and query as they came.
    package let target: String
    package let path: String
    package let query: FormParameters
    package let form: FormParameters
    package let headers: HTTPFields
    package let body: [UInt8]
    /// What the variable segments of the route's path stand for.
    package var variables: [String: String] = [:]

    package init(method: String, target: String, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? "/"
        query = FormParameters(urlEncoded: parts.count > 1 ? parts[1] : "")
        form =
            Self.mediaType(headers) == "application/x-www-form-urlencoded"
            ? FormParameters(urlEncoded: String(decoding: body, as: UTF8.self)) : FormParameters()
    }

    /// The form body or, when the body is a flat JSON object, its members; nil when JSON was announced but did not come.
    package var formOrJSON: FormParameters? {
        guard Self.mediaType(headers) == "application/json" else { return form }
        guard let members = try? JSONDecoder().decode([String: JSONScalarText].self, from: Data(body)) else {
            return nil
        }
        return FormParameters(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.text ?? "") })
    }

    /// The media type of the body in lower case, without parameters.
    package var mediaType: String? {
        Self.mediaType(headers)
    }

    /// The word before the first space of `Authorization`.
    var authorizationScheme: String? {
        headers[.authorization]?.split(separator: " ").first.map(String.init)
    }

    /// The token of `Authorization: Bearer` (RFC 6750 section 2.1).
    package var bearerToken: String? {
        credentials(scheme: "bearer")
    }

    /// Id and secret of `Authorization: Basic`, parted at the first colon and not decoded further.
    package var basicCredentials: (id: String, secret: String)? {
        guard let encoded = credentials(scheme: "basic"), let bytes = Data(base64Encoded: encoded) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return (String(parts[0]), String(parts[1]))
    }

    /// The value of a cookie.
    package func cookie(_ name: String) -> String? {
        for field in headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { continue }
                return String(parts[1])
            }
        }
        return nil
    }

    private func credentials(scheme: String) -> String? {
        guard let field = headers[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
        return String(parts[1])
    }

    private static func mediaType(_ headers: HTTPFields) -> String? {
        let type = headers[.contentType]?.prefix { $0 != ";" }
        return type.map { $0.filter { $0 != " " }.lowercased() }
    }
}
