#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What the server answers to `GET {base}/{connection}` and to `POST {base}/{connection}/events`, and what it sends as the
/// `data` of each server-sent event of `GET {base}/{connection}/changes`.
///
/// The component takes it as hostile: it opens ``open`` only when it is an `https` URL or loopback, and draws text as text.
public struct ConnectButtonAnswer: Sendable, Hashable, Codable {
    /// Counts the changes of this session's state; a message names the one it is about. A component ignores an answer that
    /// is older than what it shows.
    public var revision: Int
    /// The anti-forgery token for the next message, bound to the session.
    public var token: String
    /// The locale of ``face``.
    public var locale: ConnectButtonLocale
    /// What is shown.
    public var state: ConnectButtonState
    /// What it says.
    public var face: ConnectButtonFace
    /// Whether this page is to send the user on now: the answer to ``ConnectButtonEvent/proceed`` has ``open``.
    public var canOpen = false
    /// Where the user is to go now. Only the answer to ``ConnectButtonEvent/proceed`` has it, and only once.
    public var open: URL?
    /// Whether the user agreed to be counted; without it the component tells nobody what concerns the view alone (W24).
    public var isCounted = false

    /// An answer that says `state` in `locale`.
    ///
    /// - Parameters:
    ///   - state: What is shown.
    ///   - locale: The locale of the texts.
    ///   - revision: The state's revision in this session.
    ///   - token: The anti-forgery token.
    ///   - open: Where the user is to go now.
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

    /// The answer's bytes: JSON on one line, as both a response and a server-sent event need it.
    ///
    /// They have no `<`, so a page may hold them in a `<script type="application/json">` as they are: no name that a
    /// service or a user chose ends the element.
    public func body() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // In JSON it stands in strings alone, where an escape says the same.
        return Data(String(decoding: try encoder.encode(self), as: UTF8.self).replacing("<", with: #"\u003c"#).utf8)
    }
}
