#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where unguessable bytes come from; injected, so that a test can choose them.
public struct RandomSource: Sendable {
    private let generate: @Sendable (Int) -> [UInt8]

    /// A source that answers with as many bytes as it is asked for.
    public init(_ generate: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.generate = generate
    }

    /// The operating system's cryptographically secure generator.
    public static let system = RandomSource { count in
        #if canImport(Glibc) || canImport(Musl)
        // One call for all of them: the generator below makes one for each eight.
        if (1...256).contains(count) {
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = buffer.baseAddress.map { getentropy($0, count) } == 0 ? count : 0
            }
            if bytes.count == count { return bytes }
        }
        #endif
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// `count` bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        generate(count)
    }

    /// 256 bits as 43 characters of the Base64URL alphabet: one state, nonce or code verifier.
    ///
    /// RFC 7636, section 4.1 recommends exactly this for a verifier; RFC 6749, section 10.10 asks for less.
    func unguessable() -> Secret {
        Secret(Base64URL.encode(bytes(32)))
    }
}
