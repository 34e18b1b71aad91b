#if Sandbox
import SandboxCore

/// A picture of 150 by 150 pixels in place of a portrait: grey squares in another pattern for each number.
enum PortraitImage {
    private static let side = 150

    /// The bytes of a PNG file: five by five squares, mirrored.
    static func png(pattern: Int) -> [UInt8] {
        let ink = [UInt8](repeating: 0x50, count: 3)
        let ground = [UInt8](repeating: 0xE0, count: 3)
        return PNGImage(width: side, height: side, ink: ink, ground: ground) { x, y in
            let half = min(x / 30, 4 - x / 30)
            return pattern >> (y / 30 * 3 + half) & 1 == 1
        }.bytes
    }
}
#endif
