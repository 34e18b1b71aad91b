#if Sandbox
import SandboxCore

/// Where the ids of the IFTTT stand-in come from: the system's secure generator, or a row that a seed determines.
struct Identifiers: Sendable {
    private var row: SplitMix64?

    /// - Parameter seed: nil for unguessable ids; with a seed, equal requests give equal ids, which can be guessed.
    init(seed: UInt64? = nil) {
        row = seed.map(SplitMix64.init)
    }

    /// A UUID of version 4 (RFC 9562 section 5.4) in lower case.
    mutating func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Self.hex(bytes)
        var parts: [Substring] = []
        var rest = Substring(digits)
        for count in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return parts.joined(separator: "-")
    }

    /// A secret or one-time word: the prefix and 128 bits in hexadecimal digits.
    mutating func word(_ prefix: String) -> String {
        "\(prefix)_\(Self.hex(bytes(16)))"
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in
            guard row != nil else { return UInt8.random(in: .min ... .max) }
            return UInt8(truncatingIfNeeded: (row?.next() ?? 0) >> 32)
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    private struct SplitMix64: RandomNumberGenerator {
        private var state: UInt64

        init(_ seed: UInt64) {
            state = seed
        }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
#endif
