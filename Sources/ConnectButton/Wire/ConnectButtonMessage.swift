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

    /// The most bytes that a message has.
    public static let limit = 4096

    /// A message from the component.
    ///
    /// - Parameters:
    ///   - event: What the user did.
    ///   - revision: The revision that the user saw.
    ///   - token: The anti-forgery token.
    public init(_ event: ConnectButtonEvent, revision: Int, token: String) {
        self.event = event
        self.revision = revision
        self.token = token
    }

    /// Reads a request's body. Members that nobody knows are ignored.
    ///
    /// - Parameter body: The body, JSON.
    /// - Throws: ``ConnectButtonError``: too long, not JSON of this shape, or an event that nobody knows.
    public init(body: Data) throws(ConnectButtonError) {
        guard body.count <= Self.limit else { throw .messageTooLong(bytes: body.count) }
        guard let wire = try? JSONDecoder().decode(Wire.self, from: body) else { throw .malformedMessage }
        guard
            // An address is taken as it is: cut, a longer one could become somebody else's.
            let event = ConnectButtonEvent(name: wire.event, email: wire.email, item: wire.item)
        else { throw .unknownEvent }
        self.init(event, revision: wire.revision, token: wire.token)
    }

    /// The request's body, for callers that are not the component.
    public func body() -> Data {
        var wire = Wire(event: event.name, revision: revision, token: token)
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
    }
}
