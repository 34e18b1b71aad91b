package import HTTPTypes

/// A challenge of a `WWW-Authenticate` field (RFC 9110, section 11.6.1; RFC 6750, section 3).
package struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, as in `bearer`.
    package let scheme: String
    /// The parameters, with their names in lower case.
    package let parameters: [String: String]

    /// The most that is read of a response's fields, in bytes.
    package static let maximumLength = 8192

    /// Reads every challenge in a response's `WWW-Authenticate` fields.
    ///
    /// - Returns: the challenges, or nil when the fields are too long, break the grammar or repeat a parameter.
    package static func challenges(in fields: HTTPFields) -> [AuthenticationChallenge]? {
        var all: [AuthenticationChallenge] = []
        let values = fields[values: .wwwAuthenticate]
        guard values.reduce(0, { $0 + $1.utf8.count }) <= maximumLength else { return nil }
        for value in values {
            var reader = ChallengeReader(bytes: Array(value.utf8))
            guard let challenges = reader.challenges() else { return nil }
            all += challenges
        }
        return all
    }
}

private struct ChallengeReader {
    let bytes: [UInt8]
    var offset = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func challenges() -> [AuthenticationChallenge]? {
        var found: [AuthenticationChallenge] = []
        skip(while: Self.isSeparator)
        while offset < bytes.count {
            guard let scheme = token(), let parameters = parameters() else { return nil }
            found.append(AuthenticationChallenge(scheme: scheme.lowercased(), parameters: parameters))
            guard skipsComma() || offset == bytes.count else { return nil }
        }
        return found
    }

    /// What follows a scheme: nothing, a `token68`, which is skipped, or parameters. Ends before the comma that ends
    /// the challenge.
    private mutating func parameters() -> [String: String]? {
        var parameters: [String: String] = [:]
        guard offset < bytes.count, bytes[offset] == 0x20 else { return parameters }
        skipSpace()
        if skipsToken68() { return parameters }
        while offset < bytes.count, bytes[offset] != 0x2C {
            guard let (name, value) = parameter(), parameters.updateValue(value, forKey: name) == nil else {
                return nil
            }
            skipSpace()
            let end = offset
            // After a comma stands the next parameter or the next challenge: only a parameter has an equals sign behind
            // its name.
            guard skipsComma(), isParameter else {
                offset = end
                return parameters
            }
        }
        return parameters
    }

    /// `token BWS "=" BWS ( token / quoted-string )` (RFC 9110, section 11.2).
    private mutating func parameter() -> (name: String, value: String)? {
        guard let name = token() else { return nil }
        skipSpace()
        guard offset < bytes.count, bytes[offset] == 0x3D else { return nil }
        offset += 1
        skipSpace()
        guard let value = value() else { return nil }
        return (name.lowercased(), value)
    }

    private var isParameter: Bool {
        var ahead = self
        guard ahead.token() != nil else { return false }
        ahead.skipSpace()
        return ahead.offset < ahead.bytes.count && ahead.bytes[ahead.offset] == 0x3D
    }

    /// Steps over a `token68` that fills the whole challenge (RFC 9110, section 11.2).
    private mutating func skipsToken68() -> Bool {
        var ahead = self
        let start = offset
        ahead.skip { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x2B, 0x2F: true
            default: false
            }
        }
        guard ahead.offset > start else { return false }
        ahead.skip { $0 == 0x3D }
        ahead.skipSpace()
        guard ahead.offset == ahead.bytes.count || ahead.bytes[ahead.offset] == 0x2C else { return false }
        self = ahead
        return true
    }

    /// Steps over a comma with white space and empty list elements around it (RFC 9110, section 5.6.1.2).
    private mutating func skipsComma() -> Bool {
        let start = offset
        skip(while: Self.isSeparator)
        return bytes[start..<offset].contains(0x2C)
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x2C
    }

    private mutating func value() -> String? {
        guard offset < bytes.count, bytes[offset] == 0x22 else { return token() }
        offset += 1
        var text: [UInt8] = []
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x22:
                offset += 1
                return String(validating: text, as: UTF8.self)?.streamSafe
            case 0x5C:
                guard offset + 1 < bytes.count, Self.isText(bytes[offset + 1]) else { return nil }
                text.append(bytes[offset + 1])
                offset += 2
            case let byte where Self.isText(byte):
                text.append(byte)
                offset += 1
            default: return nil
            }
        }
        return nil
    }

    private static func isText(_ byte: UInt8) -> Bool {
        byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
    }

    private mutating func token() -> String? {
        let start = offset
        skip { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
            default: false
            }
        }
        return offset > start ? String(decoding: bytes[start..<offset], as: UTF8.self) : nil
    }

    private mutating func skipSpace() {
        skip { $0 == 0x20 || $0 == 0x09 }
    }

    private mutating func skip(while isSkipped: (UInt8) -> Bool) {
        while offset < bytes.count, isSkipped(bytes[offset]) { offset += 1 }
    }
}
