extension Sequencing {
    /// A syntactically valid email address (dossier 2.1; RFC 5322, section 3.4.1).
    ///
    /// The local part is a dot-atom or quoted, the domain has at least two labels or is an address literal in brackets.
    public struct EmailAddress: Sendable, Hashable {
        public let string: String

        /// Validates an address.
        ///
        /// - Throws: ``SequencingError/input(member:problem:)`` for an empty or invalid address.
        public init(_ text: String) throws(SequencingError) {
            guard !text.isEmpty else { throw .input(member: "email", problem: "it is empty") }
            guard text.utf8.count <= 254, let mark = text.utf8.lastIndex(of: UInt8(ascii: "@")),
                Self.isLocalPart(Array(text.utf8[..<mark])),
                Self.isDomain(Array(text.utf8[text.utf8.index(after: mark)...]))
            else { throw .input(member: "email", problem: "not a valid email address") }
            string = text
        }

        private static func isLocalPart(_ bytes: [UInt8]) -> Bool {
            guard (1...64).contains(bytes.count) else { return false }
            let quote = UInt8(ascii: "\"")
            if bytes.count >= 2, bytes.first == quote, bytes.last == quote {
                return isQuotedText(bytes.dropFirst().dropLast())
            }
            return bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty && $0.allSatisfy(isAtomByte) }
        }

        /// Printable ASCII and spaces; a quotation mark or backslash only after a backslash.
        private static func isQuotedText(_ bytes: ArraySlice<UInt8>) -> Bool {
            var isEscaped = false
            for byte in bytes {
                guard (0x20...0x7E).contains(byte) else { return false }
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    return false
                }
            }
            return !isEscaped && !bytes.isEmpty
        }

        private static func isDomain(_ bytes: [UInt8]) -> Bool {
            if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") {
                return isLiteral(bytes.dropFirst().dropLast())
            }
            let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            return labels.count >= 2
                && labels.allSatisfy { label in
                    (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                        && label.last != UInt8(ascii: "-")
                        && label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
                }
        }

        /// Four numbers from 0 to 255, or a tagged IPv6 address.
        private static func isLiteral(_ bytes: ArraySlice<UInt8>) -> Bool {
            let text = String(decoding: bytes, as: UTF8.self)
            if text.lowercased().hasPrefix("ipv6:") {
                let address = text.dropFirst(5)
                return (2...45).contains(address.utf8.count) && address.utf8.contains(UInt8(ascii: ":"))
                    && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            }
            let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
            return numbers.count == 4
                && numbers.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8($0) != nil }
        }

        private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: false
            }
        }

        private static func isAtomByte(_ byte: UInt8) -> Bool {
            isLetterOrDigit(byte) || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }
    }
}

extension Sequencing.EmailAddress: CustomStringConvertible {
    public var description: String { string }
}
