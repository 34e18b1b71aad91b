#if Sandbox
import SandboxCore

/// A service as a connection shows it (IFTTT Connect dossier, section 1.4).
struct Service: Sendable {
    let id: String
    let name: String
    let shortName: String
    /// `#rrggbb`, and for one fixture a text that is no colour.
    let brandColor: String
    /// False where the addresses of its icons lead nowhere.
    var hasIcons = true

    /// The brand colour where it is six hexadecimal digits, else black, as clients read it (section 1.2).
    var safeBrandColor: String {
        let digits = brandColor.filter { $0 != "#" && $0 != " " }
        guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit) else { return "#000000" }
        return "#" + digits.lowercased()
    }
}

/// A service whose app embeds the button: what IFTTT knows of it (section 11.1).
struct Partner: Sendable {
    let serviceID: String
    /// The value of `IFTTT-Service-Key`, in both directions.
    let serviceKey: String
    /// Unlocks the connections of an unpublished partner.
    let inviteCode: String?
    var isPublished: Bool
    /// Compared exactly; a loopback address without a port fits any port.
    var redirectURLs: [String]
    /// Where webhooks go besides the partner that is part of the sandbox; always loopback.
    var webhookPrefix: String?
}
#endif
