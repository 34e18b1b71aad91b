#if Sandbox
import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request that a service received. It has no secrets unless the sandbox was told to keep ``whole`` requests.
///
/// Otherwise only the names of parameters are logged, the scheme of `Authorization`, `grant_type` of the body, and the fields
/// that identify the program, so a log can be printed. Requests to `/_sandbox` are not logged. Source: Recurse Center
/// dossier, section 6, row "log".
public struct LoggedRequest: Sendable, Equatable {
    /// The service that was asked.
    public let service: SandboxService.Name
    /// The request method.
    public let method: String
    /// The path without the query.
    public let path: String
    /// The names in the query, each once, in order of appearance.
    public let queryParameterNames: [String]
    /// The names in the form or JSON body, each once. They are in order of appearance (JSON: alphabetically).
    public let formParameterNames: [String]
    /// `grant_type` of a token request.
    public let grantType: String?
    /// The scheme of the `Authorization` field, such as `Basic` or `Bearer`. Nil where its first word may be the
    /// credential itself, such as in a field of one word.
    public let authorizationScheme: String?
    /// The values of the fields that identify the program, by name. Only IFTTT has some (IFTTT Connect dossier, section
    /// 2.2).
    public let clientFields: [String: String]
    /// The status of the response; nil when a fault closed the connection.
    public let status: Int?
    /// When the response was decided, on the sandbox's clock; a delay comes after it.
    public let at: Date
    /// The whole request, secrets included. Nil unless ``Sandbox/Configuration/logsWholeRequests`` asks for it.
    public let whole: Whole?

    /// A whole request (IFTTT Connect dossier, section 11.1: headers and body).
    public struct Whole: Sendable, Equatable {
        /// Path and query.
        public let target: String
        /// The values of each field, by its name in lower case.
        public let headers: [String: [String]]
        /// The first 65,536 bytes of the body.
        public let body: [UInt8]

        /// The maximum length of a logged body.
        static let bodyLimit = 65_536

        init(_ request: IncomingRequest) {
            target = request.target
            headers = request.headers.reduce(into: [:]) { $0[$1.name.canonicalName, default: []].append($1.value) }
            body = Array(request.body.prefix(Self.bodyLimit))
        }

        var json: JSON {
            [
                "target": .string(target),
                "headers": .object(
                    headers.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: JSON($0.value)) }),
                "body": .string(String(decoding: body, as: UTF8.self)),
            ]
        }
    }

    init(
        _ request: IncomingRequest, service: SandboxService.Name, fields: [String], status: Int?, at seconds: Double,
        isWhole: Bool
    ) {
        let form = request.formOrJSON ?? FormParameters()
        self.service = service
        self.method = request.method
        self.path = Self.cut(request.path, 2_048)
        self.queryParameterNames = request.query.names.prefix(64).map { Self.cut($0, 128) }
        self.formParameterNames = form.names.prefix(64).map { Self.cut($0, 128) }
        self.grantType = form["grant_type"].map { Self.cut($0, 128) }
        self.authorizationScheme = request.authorizationScheme
        self.clientFields = fields.reduce(into: [:]) { fields, name in
            if let field = HTTPField.Name(name) { fields[name] = request.headers[field].map { Self.cut($0, 256) } }
        }
        self.status = status
        self.at = Date(timeIntervalSince1970: seconds)
        self.whole = isWhole ? Whole(request) : nil
    }

    /// The log keeps many requests: none may be as long as its sender likes.
    private static func cut(_ text: String, _ limit: Int) -> String {
        text.utf8.count <= limit ? text : String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "…"
    }

    var json: JSON {
        let json: JSON = [
            "service": .string(service.rawValue), "method": .string(method), "path": .string(path),
            "query_parameter_names": JSON(queryParameterNames), "form_parameter_names": JSON(formParameterNames),
            "grant_type": JSON(grantType), "authorization_scheme": JSON(authorizationScheme),
            "client_fields": .object(
                clientFields.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: .string($0.value)) }),
            "status": status.map(JSON.number) ?? .null, "at": .number(Int(at.timeIntervalSince1970)),
        ]
        return whole.map { json.adding("whole", $0.json) } ?? json
    }
}
#endif
