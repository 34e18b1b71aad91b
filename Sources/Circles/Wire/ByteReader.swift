/// Reads numbers, most significant byte first, and runs of bytes. What is missing is nil, never a trap.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var rest: Int { bytes.count - offset }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= rest else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_ type: Number.Type = Number.self) -> Number? {
        bytes(Number.bitWidth / 8)?.reduce(0) { $0 << 8 | Number($1) }
    }

    /// Reads these bytes; false when there are others.
    mutating func expect(_ expected: [UInt8]) -> Bool { bytes(expected.count) == expected }

    /// Reads so many zero bytes; false when there are others.
    mutating func zeros(_ count: Int) -> Bool { bytes(count)?.allSatisfy { $0 == 0 } ?? false }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// The bytes, most significant first.
    var bytes: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
    }
}

extension StaticString {
    /// A label of the dossier.
    var label: [UInt8] { withUTF8Buffer { Array($0) } }
}
