/// How far into the network an address leads, as far as its host alone says. Names are not resolved.
///
/// A document may lead only to its own zone or a more public one (`any-server.md` 9).
package enum NetworkZone: Int, Comparable {
    /// This machine.
    case loopback
    /// A network that the internet does not reach.
    case local
    /// Everywhere else, and every name but those of this machine.
    case `public`

    /// The zone of an IPv4 or IPv6 address, as a resolver writes it.
    package init(address: String) {
        let text = address.prefix { $0 != "%" }
        if text.contains(":") {
            self = Self.words(of: text).map(Self.zone) ?? .local
        } else {
            self = Self.number(of: String(text)).map(Self.zone) ?? .local
        }
    }

    package init(_ origin: Origin) {
        let host = origin.host.hasSuffix(".") ? String(origin.host.dropLast()) : origin.host
        if host == "localhost" || host.hasSuffix(".localhost") {
            self = .loopback
        } else if host.hasPrefix("[") {
            self = Self.words(of: host.dropFirst().dropLast()).map(Self.zone) ?? .local
        } else if let last = host.split(separator: ".", omittingEmptySubsequences: false).last, Self.isNumber(last) {
            self = Self.number(of: host).map(Self.zone) ?? .local
        } else {
            self = .public
        }
    }

    /// Whether a document or redirect of one origin may lead to another one (`any-server.md` 9; `oauth-security.md` H4).
    package static func mayLead(from origin: Origin, to target: Origin) -> Bool {
        target.host == origin.host || NetworkZone(target) >= NetworkZone(origin)
    }

    package static func < (left: NetworkZone, right: NetworkZone) -> Bool { left.rawValue < right.rawValue }

    private static func zone(of address: UInt32) -> NetworkZone {
        if address >> 24 == 127 { return .loopback }
        let isLocal = localBlocks.contains { address >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }
        return isLocal ? .local : .public
    }

    private static let localBlocks: [(prefix: UInt32, length: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xE000_0000, 3),
    ]

    private static func zone(of words: [UInt16]) -> NetworkZone {
        let low = UInt32(words[6]) << 16 | UInt32(words[7])
        if words.dropLast().allSatisfy({ $0 == 0 }) { return words[7] == 1 ? .loopback : .local }
        // IPv4 inside IPv6: mapped, compatible, translated (RFC 4291, RFC 6052) and 6to4 (RFC 3056).
        let isMapped = words[0..<5].allSatisfy { $0 == 0 } && (words[5] == 0xFFFF || words[5] == 0)
        let isTranslated = words[0] == 0x64 && words[1] == 0xFF9B
        // Of a network's own prefix nothing says where the IPv4 address stands (RFC 8215).
        if isTranslated, words[2..<6].contains(where: { $0 != 0 }) { return .local }
        if isMapped || isTranslated { return zone(of: low) }
        if words[0] == 0x2002 { return zone(of: UInt32(words[1]) << 16 | UInt32(words[2])) }
        let isLocal = words[0] >> 9 == 0xFC >> 1 || words[0] >> 6 == 0xFE80 >> 6 || words[0] >> 8 == 0xFF
        return isLocal ? .local : .public
    }

    /// Whether a system's resolver would read the label as a number.
    private static func isNumber(_ label: Substring) -> Bool {
        label.hasPrefix("0x") || (!label.isEmpty && label.utf8.allSatisfy { (0x30...0x39).contains($0) })
    }

    /// An IPv4 address in any spelling that resolvers take: `10.0.0.1`, `10.1`, `0x0a.1`, `167772161`, `012.1`.
    private static func number(of host: String) -> UInt32? {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 4 else { return nil }
        var address: UInt64 = 0
        for (index, part) in parts.enumerated() {
            let value =
                part.hasPrefix("0x")
                ? (part.count == 2 ? 0 : UInt64(part.dropFirst(2), radix: 16))
                : part.hasPrefix("0") ? UInt64(part, radix: 8) : UInt64(part)
            let bits = UInt64(index == parts.count - 1 ? 8 * (5 - parts.count) : 8)
            guard let value, value < 1 << bits else { return nil }
            address = address << bits | value
        }
        return UInt32(exactly: address)
    }

    /// The eight words of an IPv6 address (RFC 4291, section 2.2).
    private static func words(of text: Substring) -> [UInt16]? {
        guard text.utf8.count <= 45 else { return nil }
        var text = String(text)
        if text.contains("."), let colon = text.lastIndex(of: ":") {
            let tail = text[text.index(after: colon)...]
            guard tail.split(separator: ".").count == 4, let low = number(of: String(tail)) else { return nil }
            text = text[...colon] + String(low >> 16, radix: 16) + ":" + String(low & 0xFFFF, radix: 16)
        }
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        var parsed: [[UInt16]] = []
        for half in halves {
            let groups = half.isEmpty ? [] : half.split(separator: ":", omittingEmptySubsequences: false)
            let words = groups.compactMap { $0.utf8.count <= 4 ? UInt16($0, radix: 16) : nil }
            guard words.count == groups.count else { return nil }
            parsed.append(words)
        }
        let count = parsed.reduce(0) { $0 + $1.count }
        if parsed.count == 1 { return count == 8 ? parsed[0] : nil }
        return count < 8 ? parsed[0] + Array(repeating: 0, count: 8 - count) + parsed[1] : nil
    }
}
