#if Sandbox
/// A picture of up to 256 colours as PNG (ISO/IEC 15948), written without compression.
package struct PNGImage: Sendable {
    /// A colour and its opacity, each from 0 to 255.
    package struct Color: Sendable, Hashable {
        let red, green, blue, alpha: UInt8

        package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, alpha: UInt8 = 255) {
            (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
        }
    }

    let width: Int
    let height: Int
    /// 1 or 8 bits a pixel.
    private let depth: UInt8
    private let palette: [Color]
    /// The place in the palette of the pixel of that column and row.
    private let color: @Sendable (Int, Int) -> UInt8

    /// A picture of two colours.
    ///
    /// - Parameters:
    ///   - ink: red, green, blue of a pixel that is set.
    ///   - ground: of the others; nil when they are transparent.
    package init(
        width: Int, height: Int, ink: [UInt8], ground: [UInt8]?, isSet: @escaping @Sendable (Int, Int) -> Bool
    ) {
        let ground = ground.map { Color($0[0], $0[1], $0[2]) } ?? Color(0, 0, 0, alpha: 0)
        self.init(width: width, height: height, depth: 1, palette: [ground, Color(ink[0], ink[1], ink[2])]) {
            isSet($0, $1) ? 1 : 0
        }
    }

    /// A drawing in one ink with smooth edges; its ground is transparent.
    ///
    /// - Parameter coverage: how much of a pixel the ink covers, from 0 to 1.
    package init(width: Int, height: Int, ink: [UInt8], coverage: @escaping @Sendable (Int, Int) -> Double) {
        let palette = (0...255).map { Color(ink[0], ink[1], ink[2], alpha: UInt8($0)) }
        self.init(width: width, height: height, depth: 8, palette: palette) { x, y in
            UInt8(min(max(coverage(x, y), 0), 1) * 255)
        }
    }

    /// A picture in the colours of a palette, of which there are at most 256.
    package init(width: Int, height: Int, palette: [Color], color: @escaping @Sendable (Int, Int) -> UInt8) {
        self.init(width: width, height: height, depth: 8, palette: palette, color: color)
    }

    private init(
        width: Int, height: Int, depth: UInt8, palette: [Color], color: @escaping @Sendable (Int, Int) -> UInt8
    ) {
        (self.width, self.height, self.depth, self.palette, self.color) = (width, height, depth, palette, color)
    }

    /// The bytes of the file.
    package var bytes: [UInt8] {
        let isOpaque = palette.allSatisfy { $0.alpha == 255 }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + Self.chunk("IHDR", Self.bigEndian(width) + Self.bigEndian(height) + [depth, 3, 0, 0, 0])
            + Self.chunk("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
            + (isOpaque ? [] : Self.chunk("tRNS", palette.map(\.alpha)))
            + Self.chunk("IDAT", Self.stored(rows)) + Self.chunk("IEND", [])
    }

    /// Each row after a filter byte.
    private var rows: [UInt8] {
        var rows: [UInt8] = []
        let perByte = 8 / Int(depth)
        let rowBytes = (width + perByte - 1) / perByte
        rows.reserveCapacity((rowBytes + 1) * height)
        for y in 0..<height {
            rows.append(0)
            for byte in 0..<rowBytes {
                var bits: UInt8 = 0
                for place in 0..<perByte where byte * perByte + place < width {
                    bits |= color(byte * perByte + place, y) << UInt8(8 - Int(depth) * (place + 1))
                }
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
