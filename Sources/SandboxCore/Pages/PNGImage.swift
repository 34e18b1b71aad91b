#if Sandbox
/// A picture of two colours as PNG (ISO/IEC 15948), written without compression.
package struct PNGImage: Sendable {
    let width: Int
    let height: Int
    /// Red, green, blue of a pixel that is set; the others are transparent, or `ground`.
    let ink: [UInt8]
    let ground: [UInt8]?
    /// Whether the pixel of that column and row is set.
    let isSet: @Sendable (Int, Int) -> Bool

    package init(
        width: Int, height: Int, ink: [UInt8], ground: [UInt8]?, isSet: @escaping @Sendable (Int, Int) -> Bool
    ) {
        self.width = width
        self.height = height
        self.ink = ink
        self.ground = ground
        self.isSet = isSet
    }

    /// The bytes of the file.
    package var bytes: [UInt8] {
        let transparency: [UInt8] = ground == nil ? Self.chunk("tRNS", [0, 255]) : []
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + Self.chunk("IHDR", Self.bigEndian(width) + Self.bigEndian(height) + [1, 3, 0, 0, 0])
            + Self.chunk("PLTE", (ground ?? [0, 0, 0]) + ink) + transparency
            + Self.chunk("IDAT", Self.stored(rows)) + Self.chunk("IEND", [])
    }

    /// One bit a pixel, each row after a filter byte.
    private var rows: [UInt8] {
        var rows: [UInt8] = []
        let rowBytes = (width + 7) / 8
        rows.reserveCapacity((rowBytes + 1) * height)
        for y in 0..<height {
            rows.append(0)
            for byte in 0..<rowBytes {
                var bits: UInt8 = 0
                for bit in 0..<8 where byte * 8 + bit < width && isSet(byte * 8 + bit, y) { bits |= 0x80 >> bit }
                rows.append(bits)
            }
        }
        return rows
    }

    /// The zlib format (RFC 1950) around stored blocks (RFC 1951 section 3.2.4).
    private static func stored(_ data: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let count = min(0xFFFF, data.count - start)
            let isLast: UInt8 = start + count == data.count ? 1 : 0
            let low = UInt8(count & 0xFF)
            let high = UInt8(count >> 8)
            stream += [isLast, low, high, ~low, ~high]
            stream += data[start..<start + count]
            start += count
        } while start < data.count
        return stream + adler(data)
    }

    private static func adler(_ data: [UInt8]) -> [UInt8] {
        var a = 1
        var b = 0
        for byte in data {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return bigEndian(b << 16 | a)
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(type.utf8) + data
        return bigEndian(data.count) + named + bigEndian(Int(checksum(named)))
    }

    /// The CRC of ISO/IEC 15948, annex D.
    private static func checksum(_ data: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in data { sum = table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8) }
        return ~sum
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
#endif
