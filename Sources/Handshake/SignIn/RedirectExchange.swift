/// Reads one HTTP request as the loopback listener expects it, and decides what to answer. No sockets here.
struct RedirectExchange<Value: Sendable>: Sendable {
    /// `host:port` as the `Host` field must spell it, so that no other name can be made to point here (DNS rebinding).
    let authority: String
    let path: String
    let judge: @Sendable (String) -> LoopbackListener.Verdict<Value>

    /// The longest head that is read, in bytes. A redirect's own limit is within.
    static var maximumHead: Int { 24_576 }

    /// What to answer, and the value of the redirect when it was accepted.
    struct Answer: Sendable {
        let bytes: [UInt8]
        let accepted: Value?
    }

    /// Whether the bytes so far hold a whole head.
    static func isComplete(_ bytes: [UInt8]) -> Bool {
        // Looking at the end is enough: a redirect is a GET, which has no content.
        bytes.suffix(4).elementsEqual([13, 10, 13, 10]) || bytes.suffix(2).elementsEqual([10, 10])
    }

    /// Answers a whole head.
    func answer(to head: [UInt8]) -> Answer {
        guard let text = String(validating: head, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ $0 == "\r" || $0 == "\n" || $0 == "\t" || (" "..."~").contains($0) })
        else { return refusal("400 Bad Request") }
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].utf8.allSatisfy({ $0 > 0x20 }) else {
            return refusal("400 Bad Request")
        }
        let hosts = lines.dropFirst().filter { $0.lowercased().hasPrefix("host:") }
        guard hosts.count == 1, hosts[0].dropFirst(5).trimmingSpace().lowercased() == authority else {
            return refusal("400 Bad Request")
        }
        let target = words[1]
        guard target.prefix(while: { $0 != "?" }) == path else { return refusal("404 Not Found") }
        guard words[0] == "GET" else { return refusal("405 Method Not Allowed", "Allow: GET\r\n") }
        switch judge("http://\(authority)\(target)") {
        case .accepted(let value, let page): return Answer(bytes: response("200 OK", page), accepted: value)
        case .ignored(let page): return Answer(bytes: response("400 Bad Request", page), accepted: nil)
        }
    }

    /// An answer that changes nothing.
    func refusal(
        _ status: String, _ fields: String = "", page: ResultPage = .notForYou(language: .user)
    ) -> Answer {
        Answer(bytes: response(status, page.html, fields), accepted: nil)
    }

    /// The page loads nothing, links nowhere, sends no referrer and is not kept (`oauth-security.md` B9, B10).
    private func response(_ status: String, _ page: String, _ fields: String = "") -> [UInt8] {
        let head = """
            HTTP/1.1 \(status)\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(page.utf8.count)\r
            Content-Security-Policy: default-src 'none'; img-src data:; style-src '\(ResultPage.styleHash)'; base-uri 'none'; form-action 'none'; \
            frame-ancestors 'none'\r
            Referrer-Policy: no-referrer\r
            X-Content-Type-Options: nosniff\r
            X-Frame-Options: DENY\r
            Cache-Control: no-store\r
            Connection: close\r
            \(fields)\r

            """
        return Array((head + page).utf8)
    }
}

extension Substring {
    fileprivate func trimmingSpace() -> Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
