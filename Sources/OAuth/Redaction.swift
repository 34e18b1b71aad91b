/// Removes the secrets of an exchange from text that came from outside, in linear time.
///
/// Every error of an exchange passes its text through here. Some servers quote in their explanations what they
/// received or what they meant to send.
struct Redaction: Sendable {
    /// The secrets as bytes, in each spelling in which a server could repeat them; the longest first.
    private let spellings: [[UInt8]]

    /// The most that is read of one text, in bytes.
    static let maximumLength = 4096
    /// The bytes of a secret that are recognized: its whole, or this many from its beginning.
    private static let signature = 32
    /// Shorter secrets are not removed: they would take ordinary words with them.
    private static let minimumLength = 4

    /// A redaction of these secrets. Without any it still removes what looks like a token.
    init(_ secrets: [Secret] = []) {
        spellings =
            secrets.map { $0.reveal() }.filter { $0.utf8.count >= Self.minimumLength }
            .flatMap {
                Set([Array($0.utf8), Array(PercentEncoding.query($0).utf8), Array(PercentEncoding.form($0).utf8)])
            }
            .sorted { $0.count > $1.count }
    }

    /// The text, cut, without secrets, without words that look like a token, and fit for a message.
    func callAsFunction(_ text: String, limit: Int = 500) -> String {
        quoted(hiding(in: text), limit: limit)
    }

    /// The text, cut to ``maximumLength``, without secrets and without words that look like a token.
    func hiding(in text: String) -> String {
        var bytes = Array(text.utf8.prefix(Self.maximumLength))
        let isCut = text.utf8.count > bytes.count
        for spelling in spellings { bytes = Self.removing(spelling, from: bytes) }
        if isCut { removeCutWord(of: &bytes) }
        return String(decoding: Self.removingTokens(from: bytes), as: UTF8.self)
    }

    /// The text, cut to ``maximumLength``, without secrets.
    func hidingSecrets(in text: String) -> String {
        let bytes = Array(text.utf8.prefix(Self.maximumLength))
        return String(decoding: spellings.reduce(bytes) { Self.removing($1, from: $0) }, as: UTF8.self)
    }

    /// The length from which a word can look like a token.
    private static let shortestToken = 20
    private static let replacement = Array("(secret)".utf8)

    /// Removes the end of a text that was cut, when a piece of a secret, a token or a character may stand there.
    private func removeCutWord(of bytes: inout [UInt8]) {
        for spelling in spellings {
            let longest = min(spelling.count, bytes.count, Self.signature)
            let length = stride(from: longest, to: 0, by: -1).first {
                bytes.suffix($0).elementsEqual(spelling.prefix($0))
            }
            bytes.removeLast(length ?? 0)
        }
        while let last = bytes.last, last >= 0x80 { bytes.removeLast() }
        let word = bytes.reversed().prefix(Self.shortestToken).prefix(while: Self.isTokenByte)
        if word.count < Self.shortestToken { bytes.removeLast(word.count) }
    }

    /// Replaces each occurrence of a secret, or of its beginning and all that follows as in the secret.
    private static func removing(_ secret: [UInt8], from bytes: [UInt8]) -> [UInt8] {
        let beginning = secret.prefix(signature)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var offset = 0
        while offset < bytes.count {
            guard bytes[offset] == beginning.first, bytes[offset...].starts(with: beginning) else {
                output.append(bytes[offset])
                offset += 1
                continue
            }
            let length = zip(bytes[offset...], secret).prefix { $0 == $1 }.count
            output += replacement
            offset += length
        }
        return output
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

/// Text from outside, made fit for a message: cut, without control, format or bidirectional characters.
package func quoted(_ text: String, limit: Int = 500) -> String {
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
