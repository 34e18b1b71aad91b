import TestFixtures

/// What is wrong with an answer of ``StrictProvider``.
enum ProviderFault: CaseIterable, Sendable {
    // Before the work: the refresh token still counts.
    case bytes, failedGrant, echo, marks, redirect, drip
    // After the work: the refresh token was rotated, and the client has to find out what became of it.
    case bytesAfterwards, status, lifetime, subject, issuer, audience, expiry, garbage

    /// The fault of one request. Half of all are bytes of chance, and few are slow.
    init(seed: UInt64, number: UInt64) {
        var generator = SplitMix64(seed: seed &* 0xD1B5_4A32_D192_ED03 &+ number)
        let chance = generator.next() % 64
        let kinds = Self.allCases.filter { $0 != .drip && !$0.wantsBytes }
        self =
            switch chance {
            case 0: .drip
            case 1..<16: .bytes
            case 16..<32: .bytesAfterwards
            default: kinds[Int(chance) % kinds.count]
            }
    }

    var isAfterWork: Bool {
        switch self {
        case .bytes, .failedGrant, .echo, .marks, .redirect, .drip: false
        case .bytesAfterwards, .status, .lifetime, .subject, .issuer, .audience, .expiry, .garbage: true
        }
    }

    /// Whether the answer itself is hostile bytes.
    var wantsBytes: Bool { self == .bytes || self == .bytesAfterwards }

    /// An answer that says nothing of the work.
    ///
    /// - Parameters:
    ///   - request: its form is echoed.
    ///   - elsewhere: where a redirect leads.
    func steps(seed: UInt64, number: UInt64, request: String, elsewhere: String) -> [RawServer.Step] {
        let form = request.split(separator: "\r\n").last.map(String.init) ?? ""
        let marks = String(repeating: "\u{301}\u{323}", count: 7_000)
        let json: (status: Int, content: String)
        switch self {
        case .failedGrant: json = (500, #"{"error":"invalid_grant","error_description":"the database is down"}"#)
        case .echo: json = (200, #"{"error":"server_error","error_description":"unexpected \#(form)"}"#)
        case .marks: json = (400, #"{"\#(marks)":"","error":"server_error","error_description":"\#(marks)"}"#)
        case .redirect:
            let path = request.split(separator: " ").dropFirst().first ?? "/token"
            return [.send("HTTP/1.1 307 X\r\nLocation: \(elsewhere)\(path)\r\nContent-Length: 0\r\n\r\n")]
        case .drip:
            return [
                .drip(
                    Array("HTTP/1.1 200 X\r\nContent-Length: 9000\r\n\r\n".utf8) + [UInt8](repeating: 97, count: 9_000))
            ]
        default:
            var bytes = HostileBytes(seed: seed, number: number)
            return bytes.steps(around: #"{"error":"temporarily_unavailable"}"#)
        }
        let head = "HTTP/1.1 \(json.status) X\r\nContent-Type: application/json\r\n"
        return [.send("\(head)Content-Length: \(json.content.utf8.count)\r\n\r\n\(json.content)")]
    }
}
