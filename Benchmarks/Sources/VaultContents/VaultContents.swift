public import Handshake

/// What the file vault's benchmarks share: the same keys and contents in every process.
public enum VaultContents {
    /// The vault in a benchmark's folder.
    public static func vault(in folder: String) throws -> FileVault {
        try FileVault(directory: folder + "/vault", keyFile: folder + "/key")
    }

    public static func key(_ number: Int) -> VaultKey {
        VaultKey(
            .account,
            ["recurse-center", "https://www.recurse.com", "client-1234567890", "user-\(number)@example.org"])
    }

    /// The length of every record, in bytes.
    public static let length = 600

    /// The contents that a record has after its update with this sequence number, every part of which tells of both numbers.
    public static func bytes(_ number: Int, sequence: Int) -> [UInt8] {
        var state = UInt64(bitPattern: Int64(number &* 1_000_003 &+ sequence))
        return (0..<(length / 8)).flatMap { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return withUnsafeBytes(of: state) { Array($0) }
        }
    }
}
