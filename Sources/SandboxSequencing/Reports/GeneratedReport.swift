#if Sandbox
import SandboxCore

/// A report file of any size, of which only one piece is ever in memory.
///
/// It begins as a PDF does, goes on in comment lines of 4 KiB that begin with their own offset in twelve digits, and
/// ends in `%%EOF`. Every byte is a pure function of its offset and the size.
enum GeneratedReport {
    private static let lineSize = 4 << 10
    private static let head = Array("%PDF-1.4\n".utf8)
    private static let tail = Array("\n%%EOF\n".utf8)

    static func body(bytes count: Int) -> AnswerBody {
        AnswerBody(count: count) { piece(at: $0, of: count) }
    }

    private static func piece(at offset: Int, of count: Int) -> [UInt8] {
        var piece = lines
        for start in stride(from: 0, to: piece.count, by: lineSize) {
            let digits = Array(String(offset + start).utf8)
            piece.replaceSubrange((start + 14 - digits.count)..<(start + 14), with: digits)
        }
        if offset == 0 { piece.replaceSubrange(0..<head.count, with: head) }
        let end = count - offset
        if end <= piece.count, end >= tail.count { piece.replaceSubrange((end - tail.count)..<end, with: tail) }
        return piece
    }

    /// One piece of lines `% 000000000000 ....`, still without their offsets.
    private static let lines: [UInt8] = {
        let line = Array("% 000000000000 ".utf8)
        let filler = [UInt8](repeating: UInt8(ascii: "."), count: lineSize - line.count - 1)
        let whole = line + filler + [UInt8(ascii: "\n")]
        return Array(repeatElement(whole, count: AnswerBody.pieceSize / lineSize).joined())
    }()
}
#endif
