#if Sandbox
package import HTTPTypes
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One complete request, with its query and form parsed.
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
    /// The certificate of the connection, in DER; nil without one.
    package var certificate: [UInt8]?
    /// Where it came to, if that is not the origin of the server that answers.
    package var origin: String?

    package init(method: String, target: String, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = Self.streamSafe(headers)
        self.body = body
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? "/"
        query = parts.count > 1 ? FormParameters(urlEncoded: parts[1].utf8) : FormParameters()
        form =
            Self.mediaType(headers) == "application/x-www-form-urlencoded"
            ? FormParameters(urlEncoded: body) : FormParameters()
    }

    /// The form body or, when the body is a flat JSON object, its members; nil when JSON was announced but did not come.
    package var formOrJSON: FormParameters? {
        guard Self.mediaType(headers) == "application/json" else { return form }
        guard case .object(let members)? = JSON(parsing: body) else { return nil }
        var pairs: [(name: String, value: String)] = []
        for member in members {
            // A scalar as text whatever its type: Rails reads request bodies this way.
            switch member.value {
            case .null: pairs.append((member.name, ""))
            case .bool(let flag): pairs.append((member.name, String(flag)))
            default:
                guard let text = member.value.scalarText else { return nil }
                pairs.append((member.name, text))
            }
        }
        return FormParameters(pairs)
    }

    /// `x5t#S256` of the connection's certificate (RFC 8705 section 3.1); nil without one.
    package var certificateThumbprint: String? { certificate.map(CertificateAuthority.thumbprint) }

    /// The body as text.
    package var text: String {
        String(streamSafe: body)
    }

    /// The media type of the body in lower case, without parameters.
    package var mediaType: String? {
        Self.mediaType(headers)
    }

    /// The word before the first space of `Authorization`; nil without a space, with a comma or beyond 32 bytes, for it
    /// may then be a credential.
    var authorizationScheme: String? {
        guard let field = headers[.authorization], let end = field.firstIndex(of: " ") else { return nil }
        let scheme = field[..<end]
        // Several fields are joined by commas; a scheme has none (RFC 9110 section 11.1).
        guard (1...32).contains(scheme.utf8.count), !scheme.contains(",") else { return nil }
        return String(scheme)
    }

    /// The token of `Authorization: Bearer` (RFC 6750 section 2.1).
    package var bearerToken: String? {
        credentials(scheme: "bearer")
    }

    /// The token of `Authorization: DPoP` (RFC 9449 section 7.1).
    package var boundToken: String? {
        credentials(scheme: "dpop")
    }

    /// Id and secret of `Authorization: Basic`, parted at the first colon and not decoded further.
    package var basicCredentials: (id: String, secret: String)? {
        guard let encoded = credentials(scheme: "basic"), let bytes = Data(base64Encoded: encoded) else { return nil }
        let text = String(streamSafe: bytes)
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return (String(parts[0]), String(parts[1]))
    }

    /// The `Set-Cookie` value of a browser's session; with `isKept` it outlives the browser by 30 days.
    package static func sessionCookie(_ name: String, _ id: String, isKept: Bool = false) -> String {
        Cookie(name: name, value: id, maxAge: isKept ? 2_592_000 : nil, path: "/", sameSite: .lax).description
    }

    /// The value of a cookie.
    package func cookie(_ name: String) -> String? {
        Cookies(from: headers[values: .cookie])[name]?.value
    }

    private func credentials(scheme: String) -> String? {
        guard let field = headers[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
        return String(parts[1])
    }

    /// The fields with values that take no more than linear time to compare.
    private static func streamSafe(_ headers: HTTPFields) -> HTTPFields {
        var headers = headers
        for index in headers.indices where headers[index].value.utf8.contains(where: { $0 >= 0x80 }) {
            headers[index].value = String(streamSafe: headers[index].value.utf8)
        }
        return headers
    }

    private static func mediaType(_ headers: HTTPFields) -> String? {
        let type = headers[.contentType]?.prefix { $0 != ";" }
        return type.map { $0.filter { $0 != " " }.lowercased() }
    }
}
#endif
