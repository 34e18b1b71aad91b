#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A browser at one origin: its cookies, the last page, and forms that are submitted as the page has them.
///
/// A class, because each page changes what it holds. For one task.
package final class WireBrowser {
    private let wire: WireClient
    private var cookies: [String: String] = [:]
    private var target = "/"
    package private(set) var page: WireClient.Answer

    /// Opens a path with its query.
    package init(origin: String, opening target: String) async throws {
        wire = try WireClient(origin: origin)
        page = try await wire.send("GET", target)
        self.target = target
        remember()
    }

    /// Opens another path with its query.
    package func open(_ target: String) async throws {
        page = try await wire.send("GET", target, headers: headers)
        self.target = target
        remember()
    }

    /// Submits the page's form with these fields, to the path that the page was opened at unless stated. Goes on to the next page.
    package func submit(_ fields: [String: String], to path: String? = nil) async throws {
        var form: [String: String] = [:]
        for match in page.text.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)">/) {
            form[Self.text(String(match.1))] = Self.text(String(match.2))
        }
        let body = form.merging(fields) { $1 }.map { "\(Self.encoded($0.key))=\(Self.encoded($0.value))" }
        let type = ["Content-Type": "application/x-www-form-urlencoded"]
        page = try await wire.send(
            "POST", path ?? target, headers: headers.merging(type) { $1 }, body: body.joined(separator: "&"))
        remember()
        if page.status == 303, let location = page["Location"], location.hasPrefix("/") { try await open(location) }
    }

    /// The addresses of the page's frames.
    package var frames: [String] {
        page.text.matches(of: /<iframe src="([^"]*)"/).map { Self.text(String($0.1)) }
    }

    private var headers: [String: String] {
        cookies.isEmpty
            ? [:] : ["Cookie": cookies.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")]
    }

    private func remember() {
        for field in page.fields where field.name.lowercased() == "set-cookie" {
            let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { cookies[pair[0]] = pair[1] }
        }
    }

    /// The text that HTML writes with its five named characters.
    private static func text(_ html: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(html) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
