public import HTTPTypes

/// What a server wants to find in the next proof (RFC 9449, section 8).
///
/// Authorization servers and APIs give nonces of their own, in any answer; the newest one counts.
public struct DPoPNonce: Sendable, Hashable {
    /// The nonce, 1 to 1024 characters (RFC 9449, section 8.1). Printable ASCII without spaces, quotation marks and
    /// backslashes.
    public let string: String

    /// The longest nonce that is read, in bytes.
    public static let maximumLength = 1024

    /// Reads the nonce of an answer. Nil when there is none, more than one, or one that cannot be used.
    public init?(in fields: HTTPFields) {
        let values = fields[values: .dpopNonce]
        guard values.count == 1, (1...Self.maximumLength).contains(values[0].utf8.count),
            values[0].utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        string = values[0]
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x5B, 0x5D...0x7E: true
        default: false
        }
    }

    /// Which servers give nonces. One origin may be both, and each counts for itself.
    public enum Role: String, Sendable, Hashable {
        /// RFC 9449, section 8.
        case authorizationServer = "authorization_server"
        /// RFC 9449, section 9.
        case resource
    }

    /// Whether a server refused a request for want of a nonce: `use_dpop_nonce`.
    ///
    /// An authorization server says so by the error of its answer with status 400 or 401 (RFC 9449, section 8), a resource by
    /// status 401 and a DPoP challenge (section 9). The request was not processed.
    public static func isDemanded(by response: ResponseMessage, as role: Role) -> Bool {
        let status = response.head.status.code
        switch role {
        case .authorizationServer:
            return (status == 400 || status == 401) && response.content.count <= 65_536
                && (try? JSONValue(parsing: response.content))?.object?["error"]?.string == code
        case .resource:
            return status == 401
                && AuthenticationChallenge.challenges(in: response.head.headerFields)?
                    .contains { $0.scheme == "dpop" && $0.parameters["error"] == code } ?? false
        }
    }

    /// The error's code (RFC 9449, section 12.2).
    package static let code = "use_dpop_nonce"
}

extension DPoPNonce: CustomStringConvertible, CustomReflectable {
    /// Nothing of the nonce.
    public var description: String { "DPoP nonce" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
