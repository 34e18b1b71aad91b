import Foundation

/// Texts folded for case and accents and stored contiguously, so that searching and comparing are
/// fast.
struct FoldedTexts: Sendable {
    private let bytes: [UInt8]
    /// The start of each text, and the end of the last.
    private let starts: [Int]

    init(_ texts: [String]) {
        var bytes: [UInt8] = []
        var starts = [0]
        starts.reserveCapacity(texts.count + 1)
        for text in texts {
            Self.fold(text, into: &bytes)
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

    private static func fold(_ text: String, into bytes: inout [UInt8]) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            for byte in text.utf8 { bytes.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) }
        } else {
            let options: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive, .widthInsensitive]
            bytes += text.folding(options: options, locale: nil).utf8
        }
    }

    /// A text whose bytes sort numbers by value: the number of digits precedes each number.
    static func sortable(_ text: String) -> String {
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
        for byte in text.utf8 {
            if (0x30...0x39).contains(byte) {
                digits.append(byte)
            } else {
                flush()
                output.append(byte)
            }
        }
        flush()
        return String(decoding: output, as: UTF8.self)
    }

    /// The texts that contain every word.
    func indices(among members: [Int], containing words: [[UInt8]]) -> [Int] {
        bytes.withUnsafeBytes { all in
            members.filter { index in
                let text = UnsafeRawBufferPointer(rebasing: all[starts[index]..<starts[index + 1]])
                return words.allSatisfy { word in word.withUnsafeBytes { Self.contains($0, in: text) } }
            }
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
