#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An event on its way from the component to its server: the body of `POST {base}/{connection}/events`, and of
/// `POST {base}/{connection}/counts` when it is only counted (``ConnectButtonEvent/isOnlyCounted``).
///
/// A server acts on it only when ``token`` is the one it gave to this session and ``revision`` is the state's present one. To a
/// message about an older revision (a double tap, another tab) it answers with the present state and does nothing. What is only
/// counted has happened, whichever revision the user saw: there the token alone matters.
public struct ConnectButtonMessage: Sendable, Hashable {
    /// What the user did.
    public let event: ConnectButtonEvent
    /// The revision of the state that the user saw.
    public let revision: Int
    /// The anti-forgery token of the answer that the component holds.
    public let token: String
    /// Which page sends it: a random text that lives as long as the page. Only that page asks for the email address and is sent to
    /// the service.
    public let page: String?

    /// The most bytes that a message has.
    public static let limit = 4096

    /// A message from the component.
    ///
    /// - Parameters:
    ///   - event: What the user did.
    ///   - revision: The revision that the user saw.
    ///   - token: The anti-forgery token.
    ///   - page: Which page sends it; at most 64 bytes.
    public init(_ event: ConnectButtonEvent, revision: Int, token: String, page: String? = nil) {
        self.event = event
        self.revision = revision
        self.token = token
        self.page = page.flatMap { $0.utf8.count <= 64 ? $0 : nil }
    }

    /// Reads a request's body. Unknown members are ignored.
    ///
    /// - Parameter body: The body, JSON.
    /// - Throws: ``ConnectButtonError``: too long, not JSON of this shape, or an unknown event.
    public init(body: Data) throws(ConnectButtonError) {
        guard body.count <= Self.limit else { throw .messageTooLong(bytes: body.count) }
        guard let wire = try? JSONDecoder().decode(Wire.self, from: body) else { throw .malformedMessage }
        guard
            // An address is taken as it is: cut, a longer one could become another user's.
            let event = ConnectButtonEvent(name: wire.event, email: wire.email, item: wire.item)
        else { throw .unknownEvent }
        self.init(event, revision: wire.revision, token: wire.token, page: wire.page)
    }

    /// The request's body, for callers that are not the component.
    public func body() -> Data {
        var wire = Wire(event: event.name, revision: revision, token: token, page: page)
        switch event {
        case .email(let address): wire.email = address
        case .aboutTapped(let item): wire.item = item.rawValue
        default: break
        }
        // Strings and numbers alone always encode.
        return (try? JSONEncoder().encode(wire)) ?? Data()
    }

    private struct Wire: Codable {
        let event: String
        var email: String?
        var item: String?
        let revision: Int
        let token: String
        var page: String?
    }
}
