#if Sandbox
import SandboxCore

/// Bytes in the gzip format (RFC 1952), whose blocks are stored and not compressed (RFC 1951, section 3.2.4): any reader of
/// the format takes them, and the fixtures are small.
enum Gzip {
    /// Deflate, no flags, no time, an unknown operating system.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    private static let maximumBlockLength = 0xFFFF

    static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var packed = header
        var start = 0
        repeat {
            let end = min(start + maximumBlockLength, bytes.count)
            let length = UInt16(end - start)
            packed.append(end == bytes.count ? 1 : 0)
            packed += littleEndian(length) + littleEndian(~length) + bytes[start..<end]
            start = end
        } while start < bytes.count
        return packed + littleEndian(checksum(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
    }

    /// CRC-32 as in RFC 1952, section 8.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var checksum = ~UInt32(0)
        for byte in bytes {
            checksum ^= UInt32(byte)
            for _ in 0..<8 { checksum = checksum & 1 == 1 ? checksum >> 1 ^ 0xEDB8_8320 : checksum >> 1 }
        }
        return ~checksum
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        stride(from: 0, to: Number.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: number >> Number($0)) }
    }
}
#endif
