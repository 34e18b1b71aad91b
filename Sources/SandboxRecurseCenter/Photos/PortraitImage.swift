import SandboxCore

/// A picture of 150 by 150 pixels that nobody could take for a person: grey squares, another pattern for each number.
///
/// A PNG file (RFC 2083) whose pixels are stored without compression (RFC 1950 and 1951).
enum PortraitImage {
    private static let side = 150

    /// The bytes of the file.
    static func png(pattern: Int) -> [UInt8] {
        let dimension = bigEndian(UInt32(side))
        // Eight bits of grey a pixel, no interlacing.
        let header = dimension + dimension + [8, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", header) + chunk("IDAT", stored(pixels(pattern))) + chunk("IEND", [])
    }

    /// Rows of pixels, each behind the byte that says that it is not filtered: five by five squares, mirrored.
    private static func pixels(_ pattern: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(side * (side + 1))
        for row in 0..<side {
            bytes.append(0)
            for column in 0..<side {
                let half = min(column / 30, 4 - column / 30)
                let isDark = pattern >> (row / 30 * 3 + half) & 1 == 1
                bytes.append(isDark ? 0x50 : 0xE0)
            }
        }
        return bytes
    }

    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let length = UInt16(bytes.count)
        let lengths = [length, ~length].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        return [0x78, 0x01, 0x01] + lengths + bytes + bigEndian(adler32(bytes))
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(type.utf8) + content
        return bigEndian(UInt32(content.count)) + named + bigEndian(crc32(named))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var remainder = UInt32.max
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~remainder
    }
}
