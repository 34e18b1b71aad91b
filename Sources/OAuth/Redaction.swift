/// Removes the secrets of an exchange from text that came from outside, in linear time.
///
/// Every error of an exchange passes its text through here. Some servers quote in their explanations what they
/// received or what they meant to send.
struct Redaction: Sendable {
    /// The secrets as bytes.
    private let plain: [[UInt8]]

    /// The most that is read of one text, in bytes.
    static let maximumLength = 4096
    /// The bytes of a secret that are recognized: its whole, or this many from its beginning.
    private static let signature = 32
    /// Shorter secrets are not removed: they would take ordinary words with them.
    private static let minimumLength = 4

    /// A redaction of these secrets. Without any it still removes what looks like a token.
    init(_ secrets: [Secret] = []) {
        // No text has more of a secret than is read of a text.
        plain = secrets.map { Array($0.reveal().utf8.prefix(Self.maximumLength)) }
            .filter { $0.count >= Self.minimumLength }
    }

    /// What a text of so many bytes can have of the secrets, plain and in Base64; the longest first.
    ///
    /// No encoding is shorter than its secret, so that most short texts, such as the name of a key, need none.
    private func secrets(within count: Int) -> [[UInt8]] {
        let possible = plain.filter { min($0.count, Self.signature) <= count }
        return Set(possible.flatMap { [$0] + Self.encodings(of: $0) }).sorted { $0.count > $1.count }
    }

    /// What stands of a secret in the Base64 of any text with the secret in it, such as Basic credentials: it depends on
    /// the number of bytes before it, and on its neighbours only at its two ends. In both alphabets.
    private static func encodings(of secret: [UInt8]) -> [[UInt8]] {
        (0..<3).flatMap { shift -> [[UInt8]] in
            let bytes = [UInt8](repeating: 0, count: shift) + secret
            let whole = Array(Base64.encode(bytes).utf8.prefix { $0 != UInt8(ascii: "=") })
            let inner = Array(
                whole.dropFirst(shift == 0 ? 0 : shift + 1).dropLast(bytes.count.isMultiple(of: 3) ? 0 : 1))
            guard inner.count >= shortestEncoding else { return [] }
            let forURLs = inner.map { byte in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: byte
                }
            }
            return forURLs == inner ? [inner] : [inner, forURLs]
        }
    }

    /// Fewer characters of Base64 say little of a secret, and stand in ordinary words.
    private static let shortestEncoding = 5

    /// The text, cut, without secrets, without words that look like a token, and fit for a message.
    func callAsFunction(_ text: String, limit: Int = 500) -> String {
        quoted(hiding(in: text), limit: limit)
    }

    /// The text, cut to ``maximumLength``, without secrets and without words that look like a token.
    func hiding(in text: String) -> String {
        var bytes = Array(text.utf8.prefix(Self.maximumLength))
        let isCut = text.utf8.count > bytes.count
        let secrets = secrets(within: bytes.count)
        for secret in secrets { bytes = Self.removing(secret, from: bytes) }
        if isCut { Self.removeCutWord(of: &bytes, among: secrets) }
        return String(decoding: Self.removingTokens(from: bytes), as: UTF8.self)
    }

    /// The text, cut to ``maximumLength``, without secrets.
    func hidingSecrets(in text: String) -> String {
        let bytes = Array(text.utf8.prefix(Self.maximumLength))
        return String(
            decoding: secrets(within: bytes.count).reduce(bytes) { Self.removing($1, from: $0) }, as: UTF8.self)
    }

    /// The length from which a word can look like a token.
    private static let shortestToken = 20
    private static let replacement = Array("(secret)".utf8)

    /// Removes the end of a text that was cut, when a piece of a secret, a token or a character may stand there.
    private static func removeCutWord(of bytes: inout [UInt8], among secrets: [[UInt8]]) {
        for secret in secrets {
            let start = max(0, bytes.count - signature * maximumEscapeLength)
            let beginning = (start..<bytes.count).first { offset in
                [false, true].contains { readsEscapes in
                    let same = agreement(of: secret, with: bytes, at: offset, readsEscapes: readsEscapes)
                    return same.count > 0 && isCutEscape(bytes[same.end...])
                }
            }
            if let beginning { bytes.removeLast(bytes.count - beginning) }
        }
        let tail = bytes.reversed().prefix(3).prefix { $0 & 0xC0 == 0x80 }.count
        if let lead = bytes.dropLast(tail).last, lead >= 0xC0, tail + 1 < (lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2) {
            bytes.removeLast(tail + 1)
        }
        let word = bytes.reversed().prefix(shortestToken).prefix(while: isTokenByte)
        if word.count < shortestToken { bytes.removeLast(word.count) }
    }

    /// Replaces each occurrence of a secret, or of its beginning and all that follows as in the secret.
    private static func removing(_ secret: [UInt8], from bytes: [UInt8]) -> [UInt8] {
        let wanted = min(secret.count, signature)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var offset = 0
        while offset < bytes.count {
            guard mayBegin(secret[0], with: bytes[offset]) else {
                output.append(bytes[offset])
                offset += 1
                continue
            }
            var same = agreement(of: secret, with: bytes, at: offset, readsEscapes: false)
            if same.count < wanted { same = agreement(of: secret, with: bytes, at: offset, readsEscapes: true) }
            if same.count >= wanted {
                output += replacement
                offset = same.end
            } else {
                output.append(bytes[offset])
                offset += 1
            }
        }
        return output
    }

    /// Whether a character may be the first of a secret: it is that, or an escape begins with it.
    private static func mayBegin(_ first: UInt8, with byte: UInt8) -> Bool {
        switch byte {
        case first, UInt8(ascii: "%"), UInt8(ascii: "\\"), UInt8(ascii: "&"), UInt8(ascii: "+"): true
        default: false
        }
    }

    /// How many bytes of a secret stand in a text from `offset` on, and where they end.
    ///
    /// Reads no further than ``signature`` bytes before it knows that this is the secret.
    private static func agreement(
        of secret: [UInt8], with bytes: [UInt8], at offset: Int, readsEscapes: Bool
    ) -> (count: Int, end: Int) {
        var count = 0
        var end = offset
        while count < secret.count, end < bytes.count {
            let isSpace = bytes[end] == UInt8(ascii: "+") && secret[count] == UInt8(ascii: " ")
            let start = bytes[end...].prefix(maximumEscapeLength)
            if readsEscapes, let escape = escape(in: start), escape.byte == secret[count] {
                end += escape.length
            } else if bytes[end] == secret[count] || (readsEscapes && isSpace) {
                end += 1
            } else {
                break
            }
            count += 1
        }
        return (count, end)
    }

    /// The bytes of `&#x2f;`.
    private static let maximumEscapeLength = 6
    private static let entities: [(name: [UInt8], byte: UInt8)] = [
        (Array("&amp;".utf8), UInt8(ascii: "&")), (Array("&lt;".utf8), UInt8(ascii: "<")),
        (Array("&gt;".utf8), UInt8(ascii: ">")), (Array("&quot;".utf8), UInt8(ascii: "\"")),
        (Array("&apos;".utf8), UInt8(ascii: "'")),
    ]

    /// The character that a text begins with in an escape of a URL, of JSON or of HTML.
    private static func escape(in text: ArraySlice<UInt8>) -> (byte: UInt8, length: Int)? {
        func number(_ digits: ArraySlice<UInt8>, radix: Int) -> UInt8? {
            UInt8(String(decoding: digits, as: UTF8.self), radix: radix)
        }
        let rest = text.dropFirst()
        switch text.first {
        case UInt8(ascii: "%"):
            return rest.count < 2 ? nil : number(rest.prefix(2), radix: 16).map { ($0, 3) }
        case UInt8(ascii: "\\"):
            guard rest.first == UInt8(ascii: "u") else {
                return rest.first.flatMap { "\"\\/".utf8.contains($0) ? ($0, 2) : nil }
            }
            return rest.count < 5 ? nil : number(rest.dropFirst().prefix(4), radix: 16).map { ($0, 6) }
        case UInt8(ascii: "&"):
            if let entity = entities.first(where: { text.starts(with: $0.name) }) {
                return (entity.byte, entity.name.count)
            }
            guard rest.first == UInt8(ascii: "#"), let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let digits = rest.dropFirst()[..<end]
            let isHexadecimal = digits.first == UInt8(ascii: "x") || digits.first == UInt8(ascii: "X")
            return number(isHexadecimal ? digits.dropFirst() : digits, radix: isHexadecimal ? 16 : 10)
                .map { ($0, end + 1 - text.startIndex) }
        default: return nil
        }
    }

    /// Whether a text's end is nothing, or an escape that was cut.
    private static func isCutEscape(_ end: ArraySlice<UInt8>) -> Bool {
        end.isEmpty || (end.count < maximumEscapeLength && end.first.map { "%\\&".utf8.contains($0) } == true)
    }

    /// Replaces each word that looks like a token.
    private static func removingTokens(from bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var offset = 0
        while offset < bytes.count {
            let word = bytes[offset...].prefix(while: isTokenByte)
            output += looksLikeToken(word) ? replacement[...] : word
            offset = word.endIndex
            if offset < bytes.count {
                output.append(bytes[offset])
                offset += 1
            }
        }
        return output
    }

    /// Whether a secret is removed also by a redaction that does not know it: all of it looks like a token.
    static func looksLikeToken(_ secret: Secret) -> Bool {
        let left = Redaction().hiding(in: secret.reveal()).replacing("(secret)", with: "")
        return !left.utf8.contains(where: isTokenByte)
    }

    /// Letters, digits and `-_~+=`: what the usual token alphabets have in common.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x7E, 0x2B, 0x3D: true
        default: false
        }
    }

    /// Whether a word has at least 20 characters with a digit among them. Identifiers of the form 8-4-4-4-12, which
    /// support teams ask for, are no tokens.
    private static func looksLikeToken(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count >= shortestToken, word.contains(where: { (0x30...0x39).contains($0) }) else { return false }
        return word.split(separator: 0x2D, omittingEmptySubsequences: false).map(\.count) != [8, 4, 4, 4, 12]
    }
}

/// A server's text, cut to 4096 bytes, without these secrets and without words that look like a token.
package func hidingTokens(in text: String, and secrets: [Secret] = []) -> String {
    Redaction(secrets).hiding(in: text)
}

/// A server's text, cut to 4096 bytes, without these secrets.
package func hidingSecrets(_ secrets: [Secret], in text: String) -> String {
    Redaction(secrets).hidingSecrets(in: text)
}

extension Secret {
    /// Whether errors hide this secret also where they do not know it, by its form.
    package var looksLikeToken: Bool { Redaction.looksLikeToken(self) }
}

/// Text from outside, made fit for a message: cut, without control, format or bidirectional characters.
package func quoted(_ text: String, limit: Int = 500) -> String {
    // Most texts are short and of printable ASCII, of which no category has to be looked up.
    if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
    var scalars = String.UnicodeScalarView()
    var count = 0
    for scalar in text.unicodeScalars {
        guard count < limit else {
            scalars.append("…")
            break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
            scalars.append("\u{FFFD}")
        default:
            scalars.append(scalar)
        }
        count += 1
    }
    return String(scalars)
}
