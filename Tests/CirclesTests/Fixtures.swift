import Circles
import Testing

/// Bytes of digits, with spaces anywhere.
func bytes(_ digits: String) -> [UInt8] {
    let digits = Array(digits.filter { !$0.isWhitespace })
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// The members of the dossier's vectors (chapter 3).
enum Members {
    static let scope = CircleScope(circleAt: "https://circle.example/rc")
    static let issued: UInt64 = 1_767_225_600
    static let a = keys(0x20...0x3F, 0x40...0x5F)
    static let b = keys(0xA0...0xBF, 0xC0...0xDF)

    private static func keys(_ signing: ClosedRange<UInt8>, _ agreement: ClosedRange<UInt8>) -> MemberKeys {
        guard let keys = MemberKeys(revealed: Array(signing) + Array(agreement)) else {
            preconditionFailure("the vectors are 64 bytes")
        }
        return keys
    }

    /// The keys of days 20454 to 20456 of seed A; the last one is not printed in the dossier.
    static let dayKeysA = [
        bytes("5f666545439d19fef66deb906e499b54d179ecb0c0a1a7c1ac7a818958fed882"),
        bytes("0c27f2d42be9498cb66fff339acbf2b17bbe7c8d64d78a9677977ad4ac2eac90"),
    ]
    static let dayKeyB = bytes("685631e3bd2ece3e7dc7cc5f84ba441fbdf431a712545d4792282ce008739143")

    static let recordA = bytes(
        """
        53484d31 b6cd47672dc8aca23777020c613bcf2d 000002f7 00000001 000000006955b900
        29acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7
        79a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51a
        940174308d7800aff1fb97f2039d9fd2f2867ab0fc74369c1ac80a7c41c4412b
        c88d16694abdfa3437c7418102cb0c98a31dda8d58e305dc019c29b36a959d05
        """)

    static func record(
        _ keys: MemberKeys = a, number: UInt32 = 759, at time: UInt64 = issued,
        replacing previous: (keys: MemberKeys, generation: UInt32)? = nil, in scope: CircleScope = scope
    ) throws -> MemberRecord {
        try MemberRecord(signedBy: keys, in: scope, number: number, at: time, replacing: previous)
    }

    static func keyRecord(
        _ keys: MemberKeys = a, number: UInt32 = 759, generation: UInt32 = 1, sequence: UInt32 = 1, epoch: UInt32 = 1,
        firstDay: UInt32 = 20_454, issued: UInt64 = issued, days: Int = 3, isPair: Bool = false,
        in scope: CircleScope = scope
    ) throws -> KeyRecord {
        try KeyRecord(
            signedBy: keys,
            KeyRecord.Terms(
                scope: scope, number: number, generation: generation, sequence: sequence, epoch: isPair ? 0 : epoch,
                firstDay: firstDay, issued: issued, isPair: isPair),
            dayKeys: (0..<days).map { [UInt8](repeating: UInt8($0 + 1), count: 32) })
    }
}
