extension FixedWidthInteger where Self: UnsignedInteger {
    /// Reads `bytes`, most significant first; of too many, the last ones count.
    init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }

    /// The bytes, most significant first.
    var bigEndianBytes: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
    }

    /// The bytes, least significant first.
    var littleEndianBytes: [UInt8] { bigEndianBytes.reversed() }
}

extension Span where Element == UInt8 {
    /// `count` bytes from `offset`, most significant first.
    func bigEndian<Number: FixedWidthInteger & UnsignedInteger>(
        at offset: Int, count: Int = Number.bitWidth / 8, as type: Number.Type = Number.self
    ) -> Number {
        var number: Number = 0
        for index in offset..<(offset + count) { number = number << 8 | Number(self[index]) }
        return number
    }

    /// Two bytes from `offset`, least significant first.
    func littleEndian16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }
}
