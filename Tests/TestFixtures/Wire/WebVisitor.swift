/// A browser at one server: its cookies, its last page, and forms submitted as the page has them.
package final class WebVisitor {
    package let wire: WireClient
    package let origin: String
    package private(set) var cookies: [String: String] = [:]
    package private(set) var page: WireClient.Answer
    /// Where the last redirect led outside the server.
    package private(set) var left: String?
    package private(set) var cookieFields: [String] = []

    /// Opens a page in a fresh browser.
    ///
    /// - Parameter address: an address at `origin`, or its path and query.
    package init(origin: String, at address: String) async throws {
        wire = try WireClient(origin: origin)
        self.origin = origin
        page = try await wire.send("GET", address.hasPrefix(origin) ? String(address.dropFirst(origin.count)) : address)
        try await follow()
    }

    package var heading: String {
        let text = page.text.firstMatch(of: /<h1>(.*?)<\/h1>/).map { String($0.1) } ?? "no heading"
        return text.replacing(/<[^>]+>/, with: "")
    }

    package func get(_ target: String) async throws {
        page = try await wire.send("GET", target, headers: ["Cookie": cookieField])
        try await follow()
    }

    /// Submits the first form of the page that has the hidden fields, with more fields of its own.
    package func submit(_ fields: [(String, String)], token: String? = nil) async throws {
        guard let form = page.text.firstMatch(of: /<form method="post" action="([^"]+)">/) else {
            throw WireClient.Failure(description: "there is no form in \(page.text)")
        }
        var all: [(String, String)] = []
        for match in page.text.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)">/)
        where !all.contains(where: { $0.0 == String(match.1) }) {
            all.append((String(match.1), token ?? String(match.2)))
        }
        let body = (all + fields).map { "\(Self.encoded($0))=\(Self.encoded($1))" }
        page = try await wire.send(
            "POST", String(form.1).replacing("&amp;", with: "&"),
            headers: ["Cookie": cookieField, "Content-Type": "application/x-www-form-urlencoded"],
            body: body.joined(separator: "&"))
        try await follow()
    }

    package func press(_ value: String) async throws {
        try await submit([("do", value)])
    }

    /// The query of the address to which the flow went back, as text.
    package func outcome() throws -> String {
        guard let left else { throw WireClient.Failure(description: "the flow did not go back: \(page.text)") }
        return left.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? left
    }

    private var cookieField: String {
        cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    }

    /// A text as a form has it (RFC 3986, section 2.3: what is not unreserved is encoded).
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isUnreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8.contains(byte)
            return isUnreserved ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    private func follow() async throws {
        for _ in 0..<10 {
            for field in page.fields where field.name.lowercased() == "set-cookie" {
                cookieFields.append(field.value)
                let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
                if pair.count == 2 { cookies[pair[0]] = pair[1] }
            }
            guard (300..<400).contains(page.status), let location = page["Location"] else { return }
            let target = location.hasPrefix(origin) ? String(location.dropFirst(origin.count)) : location
            guard target.hasPrefix("/") else {
                left = location
                return
            }
            page = try await wire.send("GET", target, headers: ["Cookie": cookieField])
        }
    }
}
