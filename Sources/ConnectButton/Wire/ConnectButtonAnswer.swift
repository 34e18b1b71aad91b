#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What the server answers to the component.
///
/// The answer to `GET {base}/{connection}` and to `POST {base}/{connection}/events`, and the `data` of each server-sent event of
/// `GET {base}/{connection}/changes`. The component does not trust it: it opens ``open`` only if it is an `https` or loopback URL, and draws text as text.
public struct ConnectButtonAnswer: Sendable, Hashable, Codable {
    /// Counts the changes of this session's state. A message names the revision that it is about. A component ignores
    /// an older answer than the one it shows.
    public var revision: Int
    /// The anti-forgery token for the next message, bound to the session.
    public var token: String
    /// The locale of ``face``.
    public var locale: ConnectButtonLocale
    /// The state to show.
    public var state: ConnectButtonState
    /// The texts of the state.
    public var face: ConnectButtonFace
    /// Whether this page is to redirect the user now. The answer to ``ConnectButtonEvent/proceed`` then has ``open``.
    public var canOpen = false
    /// The URL that the user goes to. Only the answer to ``ConnectButtonEvent/proceed`` has it, and only once.
    public var open: URL?
    /// Whether the user consented to analytics (W24). Otherwise the component reports no analytics events.
    public var isCounted = false

    /// Creates an answer with the texts of `state` in `locale`.
    ///
    /// - Parameters:
    ///   - state: The state to show.
    ///   - locale: The locale of the texts.
    ///   - revision: The state's revision in this session.
    ///   - token: The anti-forgery token.
    ///   - open: The URL that the user goes to.
    public init(
        _ state: ConnectButtonState, in locale: ConnectButtonLocale, revision: Int, token: String, open: URL? = nil
    ) {
        self.revision = revision
        self.token = token
        self.locale = locale
        self.state = state
        self.face = ConnectButtonFace(state, in: locale)
        self.open = open
    }

    /// The encoded answer: JSON on one line, as server-sent events need it.
    ///
    /// It contains no `<`, so a page can embed it in a `<script type="application/json">`: no name of a service or a user can
    /// end the element.
    public func body() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // In JSON, `<` occurs in strings only, where an escape is equivalent.
        return Data(String(decoding: try encoder.encode(self), as: UTF8.self).replacing("<", with: #"\u003c"#).utf8)
    }
}
