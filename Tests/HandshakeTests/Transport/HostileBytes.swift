import TestFixtures

/// Responses made to break a client: seeded, so that every case can be repeated.
struct HostileBytes {
    private var generator: SplitMix64

    /// The bytes of one case.
    init(seed: UInt64, number: UInt64) {
        generator = SplitMix64(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ number)
    }

    /// A response around `content`, spoiled in one or several ways.
    mutating func steps(around content: String) -> [RawServer.Step] {
        var bytes = Array(response(around: content).utf8)
        for _ in 0..<pick([0, 0, 1, 1, 4]) where !bytes.isEmpty { spoil(&bytes) }
        if one(in: 4) { bytes = Array(bytes.prefix(Int(generator.next() % UInt64(bytes.count + 1)))) }
        var steps: [RawServer.Step] = []
        while !bytes.isEmpty {
            let length = one(in: 3) ? 1 + Int(generator.next() % UInt64(bytes.count)) : bytes.count
            steps.append(.send(Array(bytes.prefix(length))))
            bytes = Array(bytes.dropFirst(length))
        }
        switch generator.next() % 40 {
        case 0: return steps + [.hold]
        case 1: return steps + [.flood(Array("a".utf8), limit: 1 << 20)]
        case 2: return steps + [.flood(Array("X-A: b\r\n".utf8), limit: 1 << 20)]
        case 3: return steps + [.flood(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), limit: 1 << 18)]
        case 4: return steps
        default: return steps + [.close]
        }
    }

    private mutating func response(around content: String) -> String {
        let status = pick([
            "200", "200", "200", "204", "302", "401", "404", "429", "500", "503", "099", "000", "101", "100", "103",
            "599", "600", "999", "1000", "-1", "20", "", "2 0", "0x1", "\u{661}",
        ])
        let version = pick(["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "http/1.1", ""])
        let reason = pick(["OK", "", String(repeating: "r", count: 5_000), "\u{1F4A5}", "\t"])
        var fields = ""
        for _ in 0..<pick([0, 1, 2, 300]) { fields += field() }
        let framing = pick([
            "Content-Length: \(content.utf8.count)\r\n\r\n\(content)",
            "Content-Length: \(content.utf8.count)\r\n\r\n\(content)",
            "Content-Length: 3\r\n\r\n\(content)", "Content-Length: 99999\r\n\r\n\(content)",
            "Content-Length: -5\r\n\r\n\(content)", "Content-Length: 9223372036854775808\r\n\r\n\(content)",
            "Content-Length: 1, 2\r\n\r\n\(content)",
            "Transfer-Encoding: chunked\r\n\r\n\(String(content.utf8.count, radix: 16))\r\n\(content)\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\nzz\r\n\(content)", "Transfer-Encoding: chunked\r\n\r\n-1\r\n\(content)",
            "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n\(content)",
            "Transfer-Encoding: gzip, chunked\r\n\r\n1;x=\"\r\na\r\n0\r\nT: t\r\n\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
            "Connection: close\r\n\r\n\(content)", "\r\n\(content)", "",
        ])
        let head = "\(version) \(status) \(reason)\r\n\(fields)"
        return one(in: 8) ? "HTTP/1.1 100 Continue\r\n\r\n" + head + framing : head + framing
    }

    private mutating func field() -> String {
        pick([
            "X-A: b\r\n", "Location: https://evil.example/\r\n", "Set-Cookie: a=b\r\n", "A B: c\r\n", ": c\r\n",
            "X-A\r\n", "X-A: \u{0}\r\n", "X-A: b\n", " folded: yes\r\n", "Upgrade: h2c\r\nConnection: upgrade\r\n",
            "X: " + String(repeating: "y", count: 9_000) + "\r\n", "Retry-After: 99999999999999999999\r\n",
            "Content-Encoding: gzip\r\n", "WWW-Authenticate: Bearer error=\"\r\n", "Keep-Alive: timeout=-1\r\n",
        ])
    }

    private mutating func spoil(_ bytes: inout [UInt8]) {
        let index = Int(generator.next() % UInt64(bytes.count))
        switch generator.next() % 4 {
        case 0: bytes[index] ^= 1 << (generator.next() % 8)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: index)
        default: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
        }
    }

    private mutating func one(in count: UInt64) -> Bool {
        generator.next() % count == 0
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(generator.next() % UInt64(values.count))]
    }
}
