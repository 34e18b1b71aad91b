#if Sandbox
import Hummingbird

/// The body of an answer: bytes in memory, or so many that are made while they are sent.
package struct AnswerBody: Sendable {
    /// How many bytes there are.
    package let count: Int
    private let piece: @Sendable (Int) -> [UInt8]

    /// How many bytes each piece but the last has.
    package static let pieceSize = 64 << 10

    /// A body in memory.
    package init(_ bytes: [UInt8]) {
        count = bytes.count
        piece = { Array(bytes[$0..<min($0 + Self.pieceSize, bytes.count)]) }
    }

    /// A body of `count` bytes of which only one piece is in memory at a time.
    ///
    /// - Parameter piece: the bytes from an offset on, which is a multiple of ``pieceSize``; beyond what is needed they
    ///   are cut off.
    package init(count: Int, piece: @escaping @Sendable (Int) -> [UInt8]) {
        self.count = count
        self.piece = piece
    }

    /// The body as it is sent; `limit` ends it early, and then the connection.
    func response(cutAfter limit: Int? = nil) -> ResponseBody {
        ResponseBody(contentLength: count) { writer in
            let end = min(limit ?? count, count)
            for offset in stride(from: 0, to: end, by: Self.pieceSize) {
                try await writer.write(ByteBuffer(bytes: piece(offset).prefix(end - offset)))
            }
            if limit != nil { throw CutHere() }
            try await writer.finish(nil)
        }
    }

    /// Thrown in the middle of a body: the server then closes the connection.
    private struct CutHere: Error {}
}
#endif
