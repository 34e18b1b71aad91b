extension Span<UInt8> {
    /// The index of the first flagged byte from `start` on; at least the count when there is none.
    ///
    /// Eight bytes are tested together in a `UInt64` (SIMD within a register).
    ///
    /// - Parameter flags: sets the highest bit of each wanted byte among eight, the first of which is the least significant. It may
    ///   also set that of a byte above a wanted one.
    @inline(__always)
    func firstIndex(from start: Int, _ flags: (UInt64) -> UInt64) -> Int {
        precondition(start >= 0)
        var index = start
        // Below, `index` is not negative, and eight bytes are loaded only where eight are left.
        while index <= count &- 8 {
            let found = flags(
                UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)))
            guard found == 0 else { return index &+ found.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count, flags(UInt64(self[unchecked: index])) & 0x80 == 0 { index &+= 1 }
        return index
    }

    /// The eight bytes from `index` on, the first of which is the least significant.
    @inline(__always)
    func eight(at index: Int) -> UInt64 {
        // The load checks its bounds, and any eight bytes are a number.
        UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }
}

extension UInt64 {
    /// Flags of the bytes that are less than `limit`, which is at most 128. Above the first of them, flags may be wrong.
    @inline(__always)
    func flags(below limit: UInt8) -> UInt64 {
        (self &- Self(eightTimes: limit)) & ~self & Self(eightTimes: 0x80)
    }

    /// Flags of the bytes that are equal to `byte`. Above the first of them, flags may be wrong.
    @inline(__always)
    func flags(of byte: UInt8) -> UInt64 { (self ^ Self(eightTimes: byte)).flags(below: 1) }

    /// Flags of the bytes that are not ASCII.
    @inline(__always)
    var flagsOutsideASCII: UInt64 { self & Self(eightTimes: 0x80) }

    /// A byte eight times.
    @inline(__always)
    init(eightTimes byte: UInt8) { self = 0x0101_0101_0101_0101 &* UInt64(byte) }
}
