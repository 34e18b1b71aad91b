#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A message from the component to its server. It is the body of `POST {base}/{connection}/events`, and of
/// `POST {base}/{connection}/counts` for analytics events (``ConnectButtonEvent/isOnlyCounted``).
///
/// A server accepts it only if ``token`` is the one of this session and ``revision`` is the current one. It answers a message
/// about an older revision (a double tap, another tab) with the current state and does nothing. For an analytics event, only
/// the token counts.
public struct ConnectButtonMessage: Sendable, Hashable {
    /// What the user did.
    public let event: ConnectButtonEvent
    /// The revision of the state that the user saw.
    public let revision: Int
    /// The anti-forgery token of the answer that the component holds.
    public let token: String
    /// The page that sends it: a random text that lives as long as the page. Only that page asks for the email address and
    /// is redirected to the service.
    public let page: String?
    /// In a repeated message, the revision that the user saw when they acted. A server ignores the message if the user has
    /// decided since then.
    public let since: Int?

    /// The maximum length in bytes.
    public static let limit = 4096

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - event: What the user did.
    ///   - revision: The revision that the user saw.
    ///   - token: The anti-forgery token.
    ///   - page: The page that sends it; at most 64 bytes.
    ///   - since: In a repeated message, the revision that the user saw when they acted.
    public init(
        _ event: ConnectButtonEvent, revision: Int, token: String, page: String? = nil, since: Int? = nil
    ) {
        self.event = event
        self.revision = revision
        self.token = token
        self.page = page.flatMap { $0.utf8.count <= 64 ? $0 : nil }
        self.since = since
    }

    /// Reads a request's body. Unknown members are ignored.
    ///
    /// - Parameter body: The body, JSON.
    /// - Throws: ``ConnectButtonError``: too long, not JSON of this shape, or an unknown event.
    public init(body: Data) throws(ConnectButtonError) {
        guard body.count <= Self.limit else { throw .messageTooLong(bytes: body.count) }
        guard let wire = try? JSONDecoder().decode(Wire.self, from: body) else { throw .malformedMessage }
        guard
            // An address is never truncated: it could become another user's.
            let event = ConnectButtonEvent(name: wire.event, email: wire.email, item: wire.item)
        else { throw .unknownEvent }
        self.init(event, revision: wire.revision, token: wire.token, page: wire.page, since: wire.since)
    }

    /// The request's body, for tests and other clients.
    public func body() -> Data {
        var wire = Wire(event: event.name, revision: revision, token: token, page: page, since: since)
        switch event {
        case .email(let address): wire.email = address
        case .aboutTapped(let item): wire.item = item.rawValue
        default: break
        }
        // Strings and numbers always encode.
        return (try? JSONEncoder().encode(wire)) ?? Data()
    }

    private struct Wire: Codable {
        let event: String
        var email: String?
        var item: String?
        let revision: Int
        let token: String
        var page: String?
        var since: Int?
    }
}
