/// What the fuzzer passes: a byte that selects the reader, and the bytes that it reads.
public struct Input {
    public let kind: UInt8
    public let content: [UInt8]

    /// Nil without a byte.
    public init?(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        let bytes = UnsafeBufferPointer(start: start, count: count)
        guard let kind = bytes.first else { return nil }
        self.kind = kind
        content = Array(bytes.dropFirst())
    }
}
