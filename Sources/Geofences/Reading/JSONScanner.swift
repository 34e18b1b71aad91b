/// Reads JSON (RFC 8259) from bytes, value by value, in one pass and without a tree.
///
/// Depth is bounded, so hostile nesting ends in an error. A caller reads or skips each value once.
package struct JSONScanner {
    /// Text that is not JSON, or a value of another type than asked for.
    package enum Failure: Error {
        case notJSON(line: Int)
        case type(expected: String)
    }

    private let bytes: [UInt8]
    /// The offset of the next byte; a caller may return to a value's start.
    package var offset = 0 {
        didSet { visited += max(offset - oldValue, 0) }
    }
    /// How many bytes were passed, those that were read again more than once.
    package private(set) var visited = 0
    private var depth = 0
    private static let maximumDepth = 64

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    /// What is wrong at the next byte. A text that ends too early is wrong in its last line that is not blank.
    package var failure: Failure {
        var end = min(offset, bytes.count)
        if end == bytes.count { while end > 0, bytes[end - 1] <= 0x20 { end -= 1 } }
        return .notJSON(line: 1 + bytes[..<end].reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) })
    }

    /// The first byte of the next value; 0 at the end.
    package mutating func peek() -> UInt8 {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            case let byte: return byte
            }
        }
        return 0
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Failure) {
        guard peek() == UInt8(ascii: character) else { throw failure }
        offset += 1
    }

    /// Throws unless nothing but space follows.
    package mutating func end() throws(Failure) {
        guard peek() == 0, offset == bytes.count else { throw failure }
    }

    /// Reads an object; `member` must read or skip each value. A name that is too long for ``word()`` is empty.
    package mutating func object(
        _ member: (inout JSONScanner, String) throws(GeofencesError) -> Void
    ) throws(GeofencesError) {
        guard peek() == UInt8(ascii: "{") else { throw GeofencesError(expecting("an object")) }
        try sequence(closing: "}") { scanner throws(GeofencesError) in
            guard scanner.peek() == UInt8(ascii: "\"") else { throw GeofencesError(scanner.failure) }
            let name = try mapped { () throws(Failure) in try scanner.word() }
            try mapped { () throws(Failure) in try scanner.expect(":") }
            try member(&scanner, name)
        }
    }

    /// Reads an array; `element` must read or skip each value.
    package mutating func array(
        _ element: (inout JSONScanner) throws(GeofencesError) -> Void
    ) throws(GeofencesError) {
        guard peek() == UInt8(ascii: "[") else { throw GeofencesError(expecting("an array")) }
        try sequence(closing: "]", element)
    }

    private mutating func sequence(
        closing: Unicode.Scalar, _ element: (inout JSONScanner) throws(GeofencesError) -> Void
    ) throws(GeofencesError) {
        offset += 1
        depth += 1
        guard depth <= Self.maximumDepth else { throw GeofencesError(failure) }
        defer { depth -= 1 }
        if peek() == UInt8(ascii: closing) {
            offset += 1
            return
        }
        while true {
            try element(&self)
            let next = peek()
            guard next == UInt8(ascii: closing) || next == UInt8(ascii: ",") else { throw GeofencesError(failure) }
            offset += 1
            if next == UInt8(ascii: closing) { return }
        }
    }

    private func expecting(_ what: String) -> Failure {
        offset < bytes.count ? .type(expected: what) : failure
    }

    /// Reads a string that is compared with known words; an empty one in place of a string above 64 bytes. Comparing
    /// text normalizes it, which takes quadratic time on combining marks.
    package mutating func word() throws(Failure) -> String {
        let text = try string()
        return text.utf8.count <= 64 ? text : ""
    }

    /// Reads a string. Unpaired surrogates become U+FFFD.
    package mutating func string() throws(Failure) -> String {
        guard peek() == UInt8(ascii: "\"") else { throw expecting("a string") }
        offset += 1
        let start = offset
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\""), bytes[offset] != UInt8(ascii: "\\") {
            guard bytes[offset] >= 0x20 else { throw failure }
            offset += 1
        }
        guard offset < bytes.count else { throw failure }
        if bytes[offset] == UInt8(ascii: "\"") {
            defer { offset += 1 }
            return String(decoding: bytes[start..<offset], as: UTF8.self)
        }
        return try escapedString(Array(bytes[start..<offset]))
    }

    private mutating func escapedString(_ beginning: [UInt8]) throws(Failure) -> String {
        var units = Array(String(decoding: beginning, as: UTF8.self).utf16)
        var plain: [UInt8] = []
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                units += String(decoding: plain, as: UTF8.self).utf16
                return String(decoding: units, as: UTF16.self)
            case UInt8(ascii: "\\"):
                units += String(decoding: plain, as: UTF8.self).utf16
                plain = []
                units.append(try escape())
            case 0..<0x20: throw failure
            default: plain.append(byte)
            }
        }
        throw failure
    }

    private mutating func escape() throws(Failure) -> UInt16 {
        guard offset < bytes.count else { throw failure }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(byte)
        case UInt8(ascii: "b"): return 8
        case UInt8(ascii: "f"): return 12
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "u"):
            guard offset + 4 <= bytes.count, bytes[offset] != UInt8(ascii: "+"),
                let unit = UInt16(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
            else { throw failure }
            offset += 4
            return unit
        default: throw failure
        }
    }

    /// Reads a number; one beyond a Double's range is an error.
    package mutating func number() throws(Failure) -> Double {
        let first = peek()
        guard first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else { throw expecting("a number") }
        let start = offset
        try skipNumber()
        guard let value = Double(decimal: bytes[start..<offset]), value.isFinite else {
            throw .type(expected: "a finite number")
        }
        return value
    }

    private mutating func skipNumber() throws(Failure) {
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        let start = offset
        guard skipDigits() else { throw failure }
        if bytes[start] == 0x30, offset - start > 1 { throw failure }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            guard skipDigits() else { throw failure }
        }
        guard offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") else { return }
        offset += 1
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") {
            offset += 1
        }
        guard skipDigits() else { throw failure }
    }

    private mutating func skipDigits() -> Bool {
        let start = offset
        while offset < bytes.count, (0x30...0x39).contains(bytes[offset]) { offset += 1 }
        return offset > start
    }

    /// Reads a value of any type and forgets it.
    package mutating func skip() throws(GeofencesError) {
        switch peek() {
        case UInt8(ascii: "{"): try object { scanner, _ throws(GeofencesError) in try scanner.skip() }
        case UInt8(ascii: "["): try array { scanner throws(GeofencesError) in try scanner.skip() }
        case UInt8(ascii: "\""): _ = try mapped { () throws(Failure) in try string() }
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        case UInt8(ascii: "-"), 0x30...0x39: try mapped { () throws(Failure) in try skipNumber() }
        default: throw GeofencesError(failure)
        }
    }

    private mutating func literal(_ word: StaticString) throws(GeofencesError) {
        let matches = word.withUTF8Buffer { bytes.dropFirst(offset).starts(with: $0) }
        guard matches else { throw GeofencesError(failure) }
        offset += word.utf8CodeUnitCount
    }
}

/// Runs a step of the scanner within a function that throws this module's error.
package func mapped<Value>(_ step: () throws(JSONScanner.Failure) -> Value) throws(GeofencesError) -> Value {
    do { return try step() } catch { throw GeofencesError(error) }
}

extension GeofencesError {
    init(_ failure: JSONScanner.Failure) {
        switch failure {
        case .notJSON(let line): self = .notJSON(line: line)
        case .type(let expected): self = .value(expected: expected)
        }
    }
}

extension Double {
    /// A decimal number: exact where mantissa and power of ten are, else by the standard library. Nil without a digit.
    package init?(decimal text: ArraySlice<UInt8>) {
        guard text.contains(where: { (0x30...0x39).contains($0) }) else { return nil }
        var mantissa: UInt64 = 0
        var power = 0
        var isFraction = false
        var digits = text
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits = digits.dropFirst() }
        for byte in digits {
            if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else if (0x30...0x39).contains(byte), mantissa < 900_000_000_000_000 {
                mantissa = mantissa * 10 + UInt64(byte - 0x30)
                if isFraction { power += 1 }
            } else {
                self.init(String(decoding: text, as: UTF8.self))
                return
            }
        }
        let value = Double(mantissa) / Self.powersOfTen[min(power, 22)]
        guard power <= 22 else {
            self.init(String(decoding: text, as: UTF8.self))
            return
        }
        self = isNegative ? -value : value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]
}
