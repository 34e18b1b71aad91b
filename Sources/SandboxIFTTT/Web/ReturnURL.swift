#if Sandbox
import SandboxCore

/// Where the web flow returns to: a redirect URL that is registered, with the query of the app (IFTTT Connect dossier,
/// sections 3.7 and 11.3).
struct ReturnURL: Sendable {
    /// The URL as the app gave it.
    let text: String

    /// Nil unless the URL without its query equals a registered one; for a registered loopback address without a port,
    /// any port fits. A fragment fits nothing.
    init?(_ text: String, registered: [String]) {
        guard Self.isWellFormed(text), !text.contains("#") else { return nil }
        let base = text.prefix { $0 != "?" }
        guard RegisteredRedirect.matches(String(base), registered: registered) else { return nil }
        self.text = text
    }

    /// Whether a page can be there: `https`, or `http` on the loopback interface, as the Connect URL wants it (section 3.4).
    var isPage: Bool {
        let lowercased = text.lowercased()
        return lowercased.hasPrefix("https://")
            || ["http://127.0.0.1", "http://[::1]"].contains { host in
                lowercased.hasPrefix(host) && [nil, ":", "/", "?"].contains(lowercased.dropFirst(host.count).first)
            }
    }

    /// The URL with more query items after its own.
    func adding(_ items: [(name: String, value: String)]) -> String {
        guard !items.isEmpty else { return text }
        let separator = text.contains("?") ? (text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&") : "?"
        return text + separator + FormParameters(items).urlEncoded
    }

    /// Whether a text can stand in a `Location` field as it is: a scheme and printable ASCII of at most 2,000 bytes.
    static func isWellFormed(_ text: String) -> Bool {
        guard text.utf8.count <= 2000, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let colon = text.firstIndex(of: ":"), let first = text.first, first.isLetter
        else { return false }
        let scheme = text[..<colon]
        return scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
            && !["javascript", "data", "vbscript", "file", "about", "blob"].contains(scheme.lowercased())
    }
}
#endif
