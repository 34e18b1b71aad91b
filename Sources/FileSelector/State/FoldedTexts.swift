import Foundation

/// Texts folded for case and accents and stored contiguously, so that searching and comparing are
/// fast.
///
/// The web component folds and orders in the same way; both are held to one table of cases.
struct FoldedTexts: Sendable {
    private let bytes: [UInt8]
    /// The start of each text, and the end of the last.
    private let starts: [Int]

    /// - Parameter sortable: whether numbers are put in order of their value.
    init(_ texts: some Sequence<String>, sortable: Bool = false) {
        var bytes: [UInt8] = []
        var starts = [0]
        for text in texts {
            if sortable { bytes += Self.sortable(text) } else { Self.fold(text, into: &bytes) }
            starts.append(bytes.count)
        }
        self.bytes = bytes
        self.starts = starts
    }

    /// - Parameter tails: bytes behind each text that are folded already.
    init(_ texts: some Sequence<String>, followedBy tails: some Sequence<[UInt8]>) {
        var bytes: [UInt8] = []
        var starts = [0]
        for (text, tail) in zip(texts, tails) {
            Self.fold(text, into: &bytes)
            bytes += tail
            starts.append(bytes.count)
        }
        self.bytes = bytes
        self.starts = starts
    }

    /// Texts that are compared as they are, in UTF-8.
    init<Texts: Sequence>(unfolded texts: Texts) where Texts.Element: Sequence, Texts.Element.Element == UInt8 {
        var bytes: [UInt8] = []
        var starts = [0]
        for text in texts {
            bytes += text
            starts.append(bytes.count)
        }
        self.bytes = bytes
        self.starts = starts
    }

    /// The bytes of a folded text.
    static func folded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        fold(text, into: &bytes)
        return bytes
    }

    /// The folded words of a text.
    static func words(of text: String) -> [[UInt8]] {
        // Folding makes a space of every other blank.
        folded(text).split { (0x09...0x0D).contains($0) || $0 == 0x20 }.map(Array.init)
    }

    private static func fold(_ text: String, into bytes: inout [UInt8]) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            for byte in text.utf8 { bytes.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) }
        } else {
            // Marks go first as well: to put a long run of them in order would take quadratic time.
            let plain = withoutMarks(withoutMarks(text).decomposedStringWithCompatibilityMapping)
            for scalar in plain.unicodeScalars {
                bytes += (scalar == "\u{3C2}" ? "\u{3C3}" : scalar.properties.lowercaseMapping).utf8
            }
        }
    }

    private static func withoutMarks(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text.unicodeScalars.filter { !$0.isMark })
        return String(scalars)
    }

    /// A folded text whose bytes sort numbers by value: the number of digits precedes each number.
    static func sortable(_ text: String) -> [UInt8] {
        var output: [UInt8] = []
        var digits: [UInt8] = []
        func flush() {
            guard !digits.isEmpty else { return }
            let number = digits.drop { $0 == 0x30 }
            // Up to sixteen digits, the prefix still sorts before any letter.
            output.append(0x30 + UInt8(min(number.count, 16)))
            output += number
            digits.removeAll(keepingCapacity: true)
        }
        for byte in folded(text) {
            if (0x30...0x39).contains(byte) {
                digits.append(byte)
            } else {
                flush()
                output.append(byte)
            }
        }
        flush()
        return output
    }

    /// Whether a text contains a word.
    func contains(_ word: [UInt8], at index: Int) -> Bool {
        bytes.withUnsafeBytes { all in
            let text = UnsafeRawBufferPointer(rebasing: all[starts[index]..<starts[index + 1]])
            return word.withUnsafeBytes { Self.contains($0, in: text) }
        }
    }

    /// The members sorted by their texts' bytes; ties keep their order.
    func sorted(_ members: [Int], descending: Bool = false) -> [Int] {
        bytes.withUnsafeBytes { all in
            func text(_ index: Int) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(rebasing: all[starts[index]..<starts[index + 1]])
            }
            return members.sorted { one, other in
                let order = Self.compare(text(one), text(other))
                return order == 0 ? one < other : (order < 0) != descending
            }
        }
    }

    private static func compare(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
        let length = min(one.count, other.count)
        if length > 0, let left = one.baseAddress, let right = other.baseAddress {
            let order = memcmp(left, right, length)
            if order != 0 { return Int(order) }
        }
        return one.count - other.count
    }

    private static func contains(_ word: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        guard let first = word.first else { return true }
        guard text.count >= word.count, let base = text.baseAddress, let wanted = word.baseAddress else { return false }
        var offset = 0
        let last = text.count - word.count
        while offset <= last {
            guard let hit = memchr(base + offset, CInt(first), last - offset + 1) else { return false }
            offset = UnsafeRawPointer(hit) - base
            if memcmp(base + offset, wanted, word.count) == 0 { return true }
            offset += 1
        }
        return false
    }
}

extension Unicode.Scalar {
    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
